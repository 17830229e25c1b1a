/** A Bun.serve that knows nothing: the least that an answer of these bytes and headers costs on Bun. Bodies are Blobs, and
 *  files from 1 MiB on, which Bun sends by `sendfile`: both are what costs least (bench/bodies.ts). With `looks` it reads of
 *  each request what decides about an answer by the rules (Host, method, conditions, coding, range, the clock), and still
 *  knows nothing: the least that an answer costs whoever serves many sites on Bun. */
import { readdirSync, readFileSync } from "node:fs";
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

function answerWhoLooked(request: Request): Response {
  const { method, url, headers } = request;
  const host = headers.get("host");
  if (host === null || !url.startsWith(host, 7) || method !== "GET" || Date.now() > end) unusual++;
  for (const name of CONDITIONS) if (headers.get(name) !== null) unusual++;
  return answer(request);
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch: mode === "looks" ? answerWhoLooked : answer,
});
