/** Uploads that a test holds in its hand: it decides when the rest of the body comes, if at all. */
import { connect } from "node:net";

export interface HalfUpload {
  /** Answers of the server so far. */
  answer(): string;
  /** Sends the rest; resolves to the whole answer. */
  finish(): Promise<string>;
  abandon(): void;
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Resolves when the server has the head of the request and asks for the body: from then on it is under way. */
export function beginUpload(
  port: number,
  body: Uint8Array,
  headers: Record<string, string> = {},
  path = "/sites",
): Promise<HalfUpload> {
  const half = body.length >> 1;
  const fields = {
    Host: "localhost",
    Expect: "100-continue",
    Connection: "close",
    "Content-Type": "application/zip",
    "Content-Length": String(body.length),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const begun = Promise.withResolvers<HalfUpload>();
  const closed = Promise.withResolvers<void>();
  let received = "";
  const answer = () => received.replace(CONTINUE, "");
  const socket = connect(port, "127.0.0.1", () =>
    socket.write(`${[`POST ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`),
  );
  const upload: HalfUpload = {
    answer,
    async finish() {
      socket.write(body.subarray(half));
      await closed.promise;
      return answer();
    },
    abandon: () => void socket.destroy(),
  };
  const begin = () => {
    if (!received.startsWith(CONTINUE)) return begun.reject(new Error(`the upload was answered ${received}`));
    socket.write(body.subarray(0, half), () => begun.resolve(upload));
  };
  socket.once("data", () => queueMicrotask(begin));
  socket.on("data", (chunk) => void (received += chunk.toString("latin1")));
  socket.on("error", (error) => begun.reject(error));
  socket.on("close", () => closed.resolve());
  return begun.promise;
}
