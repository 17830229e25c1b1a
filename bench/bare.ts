/** A Bun.serve that knows nothing: the least that an answer of these bytes and headers costs on Bun. Bodies are Blobs, and
 *  files from 1 MiB on, which Bun sends by `sendfile`: both are what costs least (bench/bodies.ts). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [port, folder] = process.argv.slice(2) as [string, string];
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

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", 8));
    if (path === "/page.html") return request.headers.has("if-none-match") ? new Response(null, unchanged) : page();
    return answers.get(path)?.() ?? new Response(gone, missing);
  },
});
