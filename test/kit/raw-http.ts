/** HTTP as bytes on a socket: clients normalise paths, merge headers and hide framing, which is what these tests look at. */
import { connect } from "node:net";

export interface RawAnswer {
  status: number;
  /** Repeated fields are joined with a comma, as HTTP allows. */
  headers: Headers;
  body: Uint8Array;
  text: string;
}

const HEAD_END = "\r\n\r\n";
/** Longer than any answer takes; an open connection that says nothing more is then taken for finished. */
const QUIET_MS = 4_000;

/** Everything the server sends until it closes the connection or falls silent, and which of the two it was. */
export function rawExchange(
  port: number,
  sent: string | Uint8Array,
  quiet_ms = QUIET_MS,
): Promise<{ bytes: Buffer; closed: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(sent));
    const done = (closed: boolean) => () => {
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closed });
    };
    socket.setTimeout(quiet_ms, done(false));
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", done(true));
    socket.on("close", done(true));
  });
}

export const rawBytes = async (port: number, sent: string | Uint8Array, quiet_ms?: number): Promise<Buffer> =>
  (await rawExchange(port, sent, quiet_ms)).bytes;

/** A chunked body as it was before. */
function unchunk(text: string): { body: string; length: number } {
  let body = "";
  let at = 0;
  for (;;) {
    const line = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (line === -1 || Number.isNaN(size)) throw new Error(`bad chunk at ${at}: ${text.slice(at, at + 40)}`);
    if (size === 0) return { body, length: text.indexOf("\r\n", line + 2) + 2 };
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

function parseOne(text: string, head_only: boolean): { answer: RawAnswer; length: number } {
  const end = text.indexOf(HEAD_END);
  const [status_line = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(status_line)?.[1]);
  if (end === -1 || !status) throw new Error(`not an HTTP answer: ${text.slice(0, 80)}`);
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
  const rest = text.slice(end + HEAD_END.length);
  const length = Number(headers.get("content-length") ?? rest.length);
  const framed =
    head_only || status === 304
      ? { body: "", length: 0 }
      : headers.get("transfer-encoding") === "chunked"
        ? unchunk(rest)
        : { body: rest.slice(0, length), length };
  const body = Buffer.from(framed.body, "latin1");
  return {
    answer: { status, headers, body: new Uint8Array(body), text: body.toString() },
    length: end + HEAD_END.length + framed.length,
  };
}

/** All answers on one connection. `methods` tells which of them have no body. */
export async function rawAnswers(
  port: number,
  sent: string | Uint8Array,
  methods: string[] = [],
  quiet_ms?: number,
): Promise<RawAnswer[]> {
  let text = (await rawBytes(port, sent, quiet_ms)).toString("latin1");
  const answers: RawAnswer[] = [];
  while (text !== "") {
    const { answer, length } = parseOne(text, methods[answers.length] === "HEAD");
    answers.push(answer);
    text = text.slice(length);
  }
  return answers;
}

/** One request with these header lines, and its one answer. The target goes out as it is. */
export async function rawRequest(
  port: number,
  host: string,
  method: string,
  target: string | Uint8Array,
  headers: string[] = [],
): Promise<RawAnswer> {
  const lines = ["", ` HTTP/1.1`, `Host: ${host}`, ...headers, "Connection: close", "", ""];
  const sent = Buffer.concat([
    Buffer.from(`${method} `),
    Buffer.from(target),
    Buffer.from(lines.slice(1).join("\r\n")),
  ]);
  const [answer, ...others] = await rawAnswers(port, new Uint8Array(sent), [method]);
  if (answer === undefined) throw new Error(`${method} was not answered`);
  if (others.length > 0) throw new Error(`${method} was answered ${others.length + 1} times`);
  return answer;
}

/** The same of a site, by its slug (or `<version_id>--<slug>`). */
export const rawSite = (
  port: number,
  slug: string,
  target: string | Uint8Array,
  headers: string[] = [],
  method = "GET",
): Promise<RawAnswer> => rawRequest(port, `${slug}.localhost:${port}`, method, target, headers);
