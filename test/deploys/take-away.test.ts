/** BEYOND 9: what was published is taken away again, byte for byte: the list of a version's files, a zip of them that is the same
 *  version wherever it is deployed, and how two versions differ. */
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { contentHash } from "../../src/base/version-id.ts";
import { bearer, call } from "../kit/people.ts";
import { type Contents, type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";

// Thirteen megabytes are packed, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();
const NOBODYS = "0".repeat(16);

const ask = (path: string, site: DeployResult) =>
  server.api(`/sites/${site.site_id}/${path}`, { headers: bearer(site.manage_token) });
const read = async (path: string, site: DeployResult) => {
  const answer = await ask(path, site);
  return { status: answer.status, body: (await answer.json()) as Record<string, any> };
};
const zipOf = async (site: DeployResult, version = site.version_id): Promise<Uint8Array<ArrayBuffer>> => {
  const answer = await ask(`versions/${version}/zip`, site);
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
};
const temporary = (data_dir = server.data_dir): string[] =>
  readdirSync(join(data_dir, "tmp")).filter((name) => name.startsWith("zip-"));

/** Asks, sees that the answer begins, and reads no further. */
const reader = (port: number, path: string, token: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    );
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      if (chunk.toString("latin1").startsWith("HTTP/1.1 200 ")) resolve(socket);
      else reject(new Error(chunk.toString("latin1")));
    });
    socket.on("error", reject);
  });

describe("BEYOND 9: GET /sites/:id/versions/:v/files", () => {
  test("the uploaded files in the byte order of their paths, without what svc made or dropped", async () => {
    const files = { "README.md": "# Hi", "z.txt": "z", "é.txt": "é", "Z.txt": "ZZ", ".env": "A=1", "a/b.css": "b{}" };
    const site = await server.deploy(files);
    const { status, body } = await read("versions/live/files", site);
    expect(status).toBe(200);
    expect(body).toEqual({
      version_id: site.version_id,
      live: true,
      files: ["README.md", "Z.txt", "a/b.css", "z.txt", "é.txt"].map((path) => ({
        path,
        sha256: contentHash(new TextEncoder().encode(files[path as keyof typeof files])),
        bytes: Buffer.byteLength(files[path as keyof typeof files]),
        media_type: expect.any(String),
      })),
    });
  });

  test("of a former version by its id; of none that the site has, and of another site's, 404", async () => {
    const site = await server.deploy({ "index.html": "one" });
    const other = await server.deploy({ "index.html": "other" });
    await server.redeploy(site, { "index.html": "two" });
    expect((await read(`versions/${site.version_id}/files`, site)).body).toMatchObject({ live: false });
    for (const version of [other.version_id, NOBODYS, "LIVE", site.version_id.slice(0, 8), "x"]) {
      for (const what of ["files", "zip"]) {
        const { status, body } = await read(`versions/${version}/${what}`, site);
        expect([version, status, body["code"]]).toEqual([version, 404, "unknown_version"]);
      }
    }
  });
});

describe("BEYOND 9: GET /sites/:id/versions/:v/zip", () => {
  const noise = crypto.getRandomValues(new Uint8Array(60_000));
  test.each<[string, Contents]>([
    ["a site", { "index.html": "<title>Site</title>", "img/é.bin": noise, "empty.txt": "", "a b.txt": "spaces" }],
    ["Markdown, whose pages svc makes", { "README.md": "# Docs", "guide/start.md": "# Start" }],
    ["a list of files, which svc makes", { "a.txt": "a", "b.txt": "b" }],
    ["files in one folder, which a deploy would take away", { "x.txt": "x", "only/index.html": "<title>x</title>" }],
    ["a file named __proto__", { "index.html": "x", __proto__x: "y", "constructor/__proto__": "z" }],
  ])("of %s is the same at every call, and the same version wherever it is deployed", async (_, files) => {
    const site = await server.deploy(files);
    const zip = await zipOf(site);
    expect(await zipOf(site, "live")).toEqual(zip);
    const again = await server.post(zip);
    expect(again.status).toBe(200);
    expect(((await again.json()) as DeployResult).version_id).toBe(site.version_id);
    expect(temporary()).toEqual([]);
  });

  test("of files that all lie in one folder has a folder of its own around it", async () => {
    const first = await server.deploy({ "wrap/only/index.html": "<title>x</title>", "wrap/only/a.txt": "a" });
    const { body } = await read("versions/live/files", first);
    expect(body["files"].map(({ path }: { path: string }) => path)).toEqual(["only/a.txt", "only/index.html"]);
    const again = await server.post(await zipOf(first));
    expect(((await again.json()) as DeployResult).version_id).toBe(first.version_id);
  });

  test("is named by site and version, has its length, and no cache keeps it", async () => {
    const site = await server.deploy({ "index.html": "named" });
    const { headers } = await ask("versions/live/zip", site);
    expect(headers.get("content-type")).toBe("application/zip");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="${site.slug}-${site.version_id}.zip"`);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("of a version in which a secret was seen is its keepers' all the same", async () => {
    const key = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;
    const site = await server.deploy({ "index.html": "x", "k.js": key });
    await server.redeploy(site, { "index.html": "y" });
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(404);
    expect((await zipOf(site)).length).toBeGreaterThan(100);
  });

  test("readers who read nothing hold four of one customer at most, whose places come back when they leave", async () => {
    await using large = await startServer("--max-bytes", "40MB", "--max-zip-bytes", "40MB");
    const noise = new Uint8Array(
      await new Blob(Array(192).fill(crypto.getRandomValues(new Uint8Array(65_536)))).arrayBuffer(),
    );
    const site = await large.deploy({ "index.html": "x", "a.bin": noise });
    const path = `/sites/${site.site_id}/versions/live/zip`;
    const readers: Socket[] = [];
    while (readers.length < 4) readers.push(await reader(large.port, path, site.manage_token));
    const fifth = await large.api(path, { headers: bearer(site.manage_token) });
    expect([fifth.status, fifth.headers.get("retry-after")]).toEqual([503, "5"]);
    await fifth.body?.cancel();
    expect(temporary(large.data_dir)).toEqual([]); // a name that is gone leaves nothing behind, whatever ends the server
    for (const socket of readers) socket.destroy();
    await until(async () => {
      const next = await large.api(path, { headers: bearer(site.manage_token) });
      await next.body?.cancel();
      return next.status === 200;
    }, 100);
  });
});

describe("BEYOND 9: GET /sites/:id/diff", () => {
  test("tells the uploaded files that came, went and changed, with their sizes", async () => {
    const site = await server.deploy({ "README.md": "# One", "b.txt": "b", "same.txt": "s" });
    const { version_id } = await server.redeploy(site, { "README.md": "# Twoo", "c.txt": "cc", "same.txt": "s" });
    const [from, to] = [site.version_id, version_id];
    const changes = {
      added: [{ path: "c.txt", bytes: 2 }],
      changed: [{ path: "README.md", from_bytes: 5, to_bytes: 6 }],
      removed: [{ path: "b.txt", bytes: 1 }],
    };
    for (const query of [`from=${from}&to=${to}`, `from=${from}&to=live`, `from=${from}`])
      expect(await read(`diff?${query}`, site)).toEqual({ status: 200, body: { from, to, ...changes } });
    expect((await read(`diff?from=live&to=${to}`, site)).body).toMatchObject({ added: [], changed: [], removed: [] });
    for (const query of ["", `from=${NOBODYS}`, `from=live&to=${NOBODYS}`, "from=", "from=x&from=live"])
      expect([query, (await read(`diff?${query}`, site)).body["code"]]).toEqual([query, "unknown_version"]);
  });
});

test("BEYOND 9: zips are counted as deploys are, in a window of their own", async () => {
  await using strict = await startServer({ SVC_RATE_REDEPLOY: "2/1m" });
  const site = await strict.deploy({ "index.html": "x" });
  const path = `/sites/${site.site_id}/versions/live/zip`;
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) {
    const answer = await strict.api(path, { headers: bearer(site.manage_token) });
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 200, 429]);
  expect((await strict.redeploy(site, { "index.html": "y" })).version_id).not.toBe(site.version_id);
});
