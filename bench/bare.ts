/** A Bun.serve that knows nothing: the least that an answer of these bytes and headers costs on Bun. Bodies are Blobs, and
 *  files from 1 MiB on, which Bun sends by `sendfile`: both are what costs least (bench/bodies.ts). With `looks` it reads of
 *  each request what decides about an answer by the rules (Host, method, conditions, coding, range, the clock), and still
 *  knows nothing; its 404 has a request id, in a header and, where it is JSON, in the body (CONTRACT 3): the least that an answer costs whoever serves many sites on Bun. With `logs` it writes a line of each answer
 *  besides, of the same values as svc's, to a file beside the folder, 64 KiB at a time. */
import { openSync, readdirSync, readFileSync, write } from "node:fs";
import { join } from "node:path";

const [port, folder, mode] = process.argv.slice(2) as [string, string, string?];
const SENDFILE = 1024 * 1024;
const common = {
  "cache-control": "public, max-age=60, must-revalidate",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};
const TYPES: Record<string, string> = { html: "text/html; charset=utf-8", css: "text/css; charset=utf-8" };

const answers = new Map<string, () => Response>();
for (const name of readdirSync(folder)) {
  const path = `/${name.replace(/\.gz$/, "")}`;
  const headers = new Headers({ ...common, etag: `"bare:${path}"`, "accept-ranges": "bytes" });
  headers.set("content-type", TYPES[path.split(".").pop()!] ?? "application/octet-stream");
  if (name.endsWith(".gz")) headers.set("content-encoding", "gzip");
  if (name.endsWith(".bin")) headers.set("content-disposition", "inline");
  else headers.set("vary", "Accept-Encoding");
  const bytes = new Uint8Array(readFileSync(join(folder, name)));
  const init = { headers };
  if (bytes.length >= SENDFILE) answers.set(path, () => new Response(Bun.file(join(folder, name)), init));
  else if (!answers.has(path) || name.endsWith(".gz")) {
    const blob = new Blob([bytes]);
    answers.set(path, () => new Response(blob, init));
  }
}
const unchanged = { status: 304, headers: new Headers({ ...common, etag: '"bare"', vary: "Accept-Encoding" }) };
const page = answers.get("/page.html")!;
const gone = new Blob([readFileSync(join(folder, "404.html"))]);
const missing = {
  status: 404,
  headers: new Headers({ ...common, "cache-control": "no-store", "content-type": TYPES.html! }),
};

function answer(request: Request): Response {
  const path = request.url.slice(request.url.indexOf("/", 8));
  if (path === "/page.html") return request.headers.has("if-none-match") ? new Response(null, unchanged) : page();
  return answers.get(path)?.() ?? new Response(gone, missing);
}

const CONDITIONS = ["if-match", "if-none-match", "accept-encoding", "range"];
const end = Date.now() + 24 * 60 * 60 * 1000;
let unusual = 0;

const eight = new Uint8Array(8);
const idOf = (): string => `req_${crypto.getRandomValues(eight).toHex()}`;
const json = new Headers({
  ...common,
  "cache-control": "no-store",
  "content-type": "application/json",
  "content-security-policy": "default-src 'none'",
  "svc-version": "2026-11-21",
});
const explained = { status: 404, headers: json };
const SENTENCE = "The site has no page at this address. Check the spelling: letter case counts.";
const before = JSON.stringify({ error: SENTENCE, code: "not_found", request_id: "" }).slice(0, -2);

/** `/nowhere` is the row of a site without a 404.html. */
function nothingAt(path: string, request: Request): Response {
  const request_id = idOf();
  const { headers } = path === "/nowhere" ? explained : missing;
  headers.set("x-request-id", request_id);
  if (path !== "/nowhere") return new Response(gone, missing);
  if (request.headers.get("accept")?.includes("text/html")) unusual++;
  return new Response(`${before}${request_id}"}`, explained);
}

function answerWhoLooked(request: Request): Response {
  const { method, url, headers } = request;
  const host = headers.get("host");
  if (host === null || !url.startsWith(host, 7) || method !== "GET" || Date.now() > end) unusual++;
  const path = url.slice(url.indexOf("/", 8));
  if (!answers.has(path)) return nothingAt(path, request);
  for (const name of CONDITIONS) if (headers.get(name) !== null) unusual++;
  return answer(request);
}

const CHUNK_BYTES = 64 * 1024;
const log = mode === "logs" ? openSync(join(folder, "..", "bare.log"), "w") : -1;
let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
let used = 0;
let id = 0;

function answerWhoLogs(request: Request, server: Bun.Server<unknown>): Response {
  const started = performance.now();
  const response = answerWhoLooked(request);
  const { method, url } = request;
  const time = new Date().toISOString();
  const ms = Math.round((performance.now() - started) * 10) / 10;
  const [host, path] = [request.headers.get("host"), url.slice(url.indexOf("/", 8))];
  const address = server.requestIP(request)?.address;
  const line = `${time} ${method} ${host} ${path} ${response.status} 5000 ${ms}ms ${address} - req_${(id++).toString(16)}\n`;
  if (line.length > CHUNK_BYTES - used) {
    write(log, chunk, 0, used, null, () => {});
    chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    used = 0;
  }
  used += chunk.write(line, used);
  return response;
}

const MODES = { "": answer, looks: answerWhoLooked, logs: answerWhoLogs };
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch: MODES[(mode ?? "") as keyof typeof MODES],
});
