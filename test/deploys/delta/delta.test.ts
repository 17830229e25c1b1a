/** BEYOND 6: a deploy of what the site lacks. The server joins it with what the site has, and goes on as with all. */
import { describe, expect, test } from "bun:test";
import { DELTA, deltaOf, LIST, planOf, rawDelta, refusal, sendDelta, sha256, updateByDelta } from "../../kit/delta.ts";
import { type DeployResult } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { buildZip } from "../../kit/zip.ts";

const server = await sharedServer();

const ONE = { "index.html": "<title>1</title>", "a.txt": "a", "b.txt": "bee", "same.txt": "a" };
const TWO = { "index.html": "<title>2</title>", "a.txt": "a", "moved/b.txt": "bee", "twin.txt": "<title>2</title>" };

const answered = async (response: Response): Promise<DeployResult> => {
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as DeployResult;
};

describe("a delta", () => {
  test("goes live with every file of its list, sent or not", async () => {
    const site = await server.deploy(ONE);
    const { version_id, need } = await planOf(server, site, TWO);
    expect(need).toEqual([sha256("<title>2</title>")]);
    const result = await answered(await sendDelta(server, site, deltaOf(TWO, need)));
    expect(result.version_id).toBe(version_id);
    expect(await (await server.site(site.slug, "/moved/b.txt")).text()).toBe("bee");
    expect(await (await server.site(site.slug, "/")).text()).toContain("<title>2</title>");
    expect((await server.site(site.slug, "/b.txt")).status).toBe(404);
  });

  test("is answered with the members of any deploy, the same manage_token back", async () => {
    const [a, b] = [await server.deploy(ONE), await server.deploy(ONE)];
    const whole = await server.redeploy(a, TWO);
    const delta = await answered(await updateByDelta(server, b, TWO));
    expect(Object.keys(delta)).toEqual(Object.keys(whole));
    expect(delta.manage_token).toBe(b.manage_token);
  });

  test("repeated is a no-op, also as the bytes that were sent first", async () => {
    const site = await server.deploy(ONE);
    const delta = deltaOf(TWO, [sha256("<title>2</title>")]);
    const first = await answered(await sendDelta(server, site, delta));
    const rows = ["versions", "files", "blobs"].map((table) => server.rows(table));
    const again = await answered(await sendDelta(server, site, delta));
    expect(again).toEqual(first);
    expect(["versions", "files", "blobs"].map((table) => server.rows(table))).toEqual(rows);
  });

  test("may send what the site has already, and may send all", async () => {
    const site = await server.deploy(ONE);
    const all = Object.values(TWO).map(sha256);
    expect((await answered(await sendDelta(server, site, deltaOf(TWO, all)))).version_id).toBe(
      (await planOf(server, site, TWO)).version_id,
    );
  });

  test("may send nothing at all: a file that went, or one under another name", async () => {
    const site = await server.deploy(ONE);
    const files = { "index.html": "<title>1</title>", "renamed.txt": "bee" };
    const { need } = await planOf(server, site, files);
    expect(need).toEqual([]);
    const result = await answered(await sendDelta(server, site, deltaOf(files, [])));
    expect(await (await server.site(site.slug, "/renamed.txt")).text()).toBe("bee");
    expect((await server.redeploy(site, files)).version_id).toBe(result.version_id);
  });

  test("an older version comes back by a delta without a file", async () => {
    const site = await server.deploy(ONE);
    await server.redeploy(site, TWO);
    expect((await answered(await sendDelta(server, site, deltaOf(ONE, [])))).version_id).toBe(site.version_id);
  });

  test("a list may say more of a file, and stand there compressed or not", async () => {
    const site = await server.deploy(ONE);
    const list = {
      made_by: "x",
      files: [{ path: "index.html", sha256: sha256("<title>1</title>"), bytes: 1e9, x: {} }],
    };
    for (const method of [0, 8]) {
      const delta = buildZip([{ name: LIST, data: JSON.stringify(list), method }]);
      expect((await sendDelta(server, site, delta)).status).toBe(200);
    }
  });

  test("?spa goes with it", async () => {
    const site = await server.deploy(ONE);
    await answered(await updateByDelta(server, site, TWO, "?spa=on"));
    const shell = await server.site(site.slug, "/deep/link");
    expect([shell.status, await shell.text()]).toEqual([200, expect.stringContaining("<title>2</title>")]);
    expect(await refusal(await updateByDelta(server, site, TWO, "?spa=maybe"))).toMatchObject({
      code: "invalid_input",
    });
  });

  test("?dry_run=1 says what it would change, and stores nothing", async () => {
    const site = await server.deploy(ONE);
    const rows = ["versions", "files", "blobs"].map((table) => server.rows(table));
    const dry = (await (await updateByDelta(server, site, TWO, "?dry_run=1")).json()) as { files: object };
    expect(dry.files).toEqual({
      added: ["moved/b.txt", "twin.txt"],
      changed: ["index.html"],
      removed: ["b.txt", "same.txt"],
    });
    expect(["versions", "files", "blobs"].map((table) => server.rows(table))).toEqual(rows);
  });

  test("parameters of the media type and its letter case do not count", async () => {
    const site = await server.deploy(ONE);
    for (const type of ["APPLICATION/VND.SVC.DELTA+ZIP", "application/vnd.svc.delta+zip; v=1"]) {
      const headers = { "content-type": type, authorization: `Bearer ${site.manage_token}` };
      const init = { method: "POST", headers, body: deltaOf(ONE, []) };
      expect((await server.api(`/sites/${site.site_id}/deploys`, init)).status).toBe(200);
    }
  });

  test("with Content-Encoding: 415, as a zip", async () => {
    const site = await server.deploy(ONE);
    const headers = { ...DELTA, "content-encoding": "gzip", authorization: `Bearer ${site.manage_token}` };
    const init = { method: "POST", headers, body: deltaOf(ONE, []) };
    expect((await server.api(`/sites/${site.site_id}/deploys`, init)).status).toBe(415);
  });

  test("POST /sites takes none: a new site has nothing. 415, and what to send", async () => {
    const response = await server.post(deltaOf(ONE, Object.values(ONE).map(sha256)), DELTA);
    expect([response.status, await refusal(response)]).toEqual([
      415,
      expect.objectContaining({
        code: "unsupported_media_type",
        error: expect.stringContaining("send the whole zip, with Content-Type: application/zip"),
      }),
    ]);
  });
});

describe("possession", () => {
  test("what another site holds has to be sent: 409 missing_blobs with need, and nothing stored", async () => {
    const other = await server.deploy({ "index.html": "<title>theirs</title>", "secret.txt": "theirs alone" });
    const site = await server.deploy(ONE);
    const files = { ...ONE, "stolen.txt": "theirs alone", "new.txt": "new" };
    const rows = ["versions", "files", "blobs"].map((table) => server.rows(table));
    const response = await sendDelta(server, site, deltaOf(files, []));
    expect([response.status, await refusal(response)]).toEqual([
      409,
      {
        error: "The site does not have 2 files that the delta leaves out. Send the delta again with them.",
        code: "missing_blobs",
        request_id: expect.any(String),
        need: [sha256("theirs alone"), sha256("new")],
      },
    ]);
    expect(["versions", "files", "blobs"].map((table) => server.rows(table))).toEqual(rows);
    expect((await server.site(site.slug, "/stolen.txt")).status).toBe(404);
    expect(await (await server.site(other.slug, "/secret.txt")).text()).toBe("theirs alone");
    const need = [sha256("theirs alone"), sha256("new")];
    expect((await sendDelta(server, site, deltaOf(files, need))).status).toBe(200);
  });

  test("a page that the service made cannot be left out", async () => {
    const site = await server.deploy({ "only.bin": "o" });
    const listing = await server.running.store.versions.manifest(site.site_id, site.version_id);
    const made = listing!.get("index.html")!;
    expect(made.made).toBe(true);
    const list = { files: [{ path: "index.html", sha256: made.sha256 }] };
    expect(await refusal(await sendDelta(server, site, rawDelta(list, [])))).toMatchObject({ need: [made.sha256] });
  });

  test("need is in the order of the list, each hash once, without what is dropped", async () => {
    const site = await server.deploy(ONE);
    const files = { "z.txt": "z", ".DS_Store": "junk", "a.txt": "a", "y.txt": "y", "zz.txt": "z", ".env": "secret" };
    const told = await refusal(await sendDelta(server, site, deltaOf(files, [])));
    expect(told["need"]).toEqual([sha256("z"), sha256("y")]);
  });
});
