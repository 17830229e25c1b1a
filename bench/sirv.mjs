/** `sirv` (pinned in test/tools) on Node: what a small static server of the npm registry costs. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import sirv from "../test/tools/node_modules/sirv/build.mjs";

const [port, folder] = process.argv.slice(2);
const missing = readFileSync(join(folder, "404.html"));
const serve = sirv(folder, { etag: true, gzip: true, maxAge: 60 });
createServer((request, response) => {
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("x-robots-tag", "noindex");
  serve(request, response, () => {
    response.writeHead(404, { "content-type": "text/html; charset=utf-8" });
    response.end(missing);
  });
}).listen(Number(port), "127.0.0.1");
