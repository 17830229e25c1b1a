// Copied beside an installed package `svc` and run there: the library on a bare Node, against a server of this script's own.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as svc from "svc";

assert.deepEqual(Object.keys(svc).sort(), ["BUILD_DIR_CANDIDATES", "collectDist", "deploySite", "resolveDeployDir"]);

const asked = [];
const server = createServer(async (request, response) => {
  let body = Buffer.alloc(0);
  for await (const chunk of request) body = Buffer.concat([body, chunk]);
  asked.push({ method: request.method, url: request.url, type: request.headers["content-type"], body });
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ url: "http://calm-fjord-0000.localhost", site_id: "site_1", slug: "calm-fjord-0000" }));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const folder = await mkdtemp(join(tmpdir(), "svc-library-"));
try {
  await writeFile(join(folder, "index.html"), "<title>Hi</title>");
  const files = await svc.collectDist(folder);
  assert.deepEqual([...files.keys()], ["index.html"]);
  const result = await svc.deploySite({ files, baseUrl: `http://127.0.0.1:${server.address().port}` });
  assert.equal(result.slug, "calm-fjord-0000");
  const deploy = asked.find(({ url }) => url === "/sites");
  assert.equal(deploy.method, "POST");
  assert.equal(deploy.type, "application/zip");
  assert.equal(deploy.body.subarray(0, 2).toString(), "PK");
} finally {
  await rm(folder, { recursive: true });
  server.close();
}
console.log(`ok: the library on Node ${process.versions.node}`);
