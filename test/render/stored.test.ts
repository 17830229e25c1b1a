/** CONTRACT 9, RELIABILITY 2: what was seen is stored like all else: swept with its version, in backups, verified, counted. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp } from "node:fs/promises";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "../../scripts/chromium.ts";
import { read } from "../kit/database.ts";
import { operate, operator } from "../kit/operator.ts";
import { removeFolder } from "../kit/process.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { visitorOf } from "../kit/visitor.ts";
import { authorized, look, page, PATIENCE_MS, seen, startRenderer } from "./rendering.ts";

setDefaultTimeout(2 * PATIENCE_MS);

const HOUR_MS = 60 * 60_000;
const blobsOf = ({ data_dir }: Pick<TestServer, "data_dir">): string[] =>
  readdirSync(join(data_dir, "blobs")).flatMap((folder) =>
    readdirSync(join(data_dir, "blobs", folder)).map((name) => join(data_dir, "blobs", folder, name)),
  );
/** As if an hour had passed: only then a file that nobody names is an orphan. */
const growOld = (server: TestServer): void => {
  const then = new Date(Date.now() - 2 * HOUR_MS);
  for (const path of blobsOf(server)) utimesSync(path, then, then);
};

describe("the sweep", () => {
  test("keeps the pictures of a version that is there, and removes those of a site that is gone", async () => {
    await using server = await startRenderer();
    const kept = await look(server, page("<h1>Kept</h1>"));
    const gone = await look(server, page("<h1>Gone</h1>"));
    const before = blobsOf(server).length;
    expect(before).toBe(6); // a page and two pictures each
    server.expire(gone.site);
    growOld(server);
    await operate(server.data_dir, "gc");
    expect(blobsOf(server).length).toBe(3);
    expect([server.rows("renders"), server.rows("pictures")]).toEqual([1, 2]);
    const { site_id, version_id } = kept.site;
    const picture = await server.api(`/sites/${site_id}/screenshots/${version_id}`, authorized(kept.site));
    expect(picture.status).toBe(200);
  });

  test("takes along those of a version that a site no longer keeps", async () => {
    await using server = await startRenderer({ SVC_KEEP_VERSIONS: "1" });
    const { site } = await look(server, page("<h1>One</h1>"));
    await server.redeploy(site, { "index.html": page("<h1>Two</h1>") });
    await seen(server, site);
    growOld(server);
    await operate(server.data_dir, "gc");
    expect([blobsOf(server).length, server.rows("renders")]).toEqual([3, 1]);
    expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  });
});

test("verify: the figures of a site count its pictures, and a damaged one is found", async () => {
  await using server = await startRenderer();
  const { site } = await look(server, page("<h1>Counted</h1>"));
  expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  const disk = () => read<{ stored_disk: number }>(server.data_dir, "select stored_disk from sites")[0]!.stored_disk;
  expect(disk()).toBeGreaterThan(3 * 4096);

  const [picture] = read<{ sha256: string }>(
    server.data_dir,
    "select sha256 from pictures join blobs using (blob_no) where size = 'desktop'",
  );
  const { sha256 } = picture!;
  writeFileSync(join(server.data_dir, "blobs", sha256.slice(0, 2), sha256), "no longer a picture");
  const { code, stdout } = await operator(server.data_dir, ["verify"]);
  expect([code, stdout]).toEqual([1, expect.stringContaining(`blob ${sha256} is damaged`)]);
  expect(stdout).toContain(`${site.slug} (${site.site_id}) ${site.version_id} [live] screenshot desktop`);
});

test("a backup holds the pictures, and a restored server shows them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-render-"));
  try {
    await using server = await startRenderer();
    const { site } = await look(server, page("<h1>Backed up</h1>"));
    const path = `/sites/${site.site_id}/screenshots/${site.version_id}`;
    const before = await (await server.api(path, authorized(site))).bytes();
    await operate(server.data_dir, "backup", join(folder, "backup"));
    await using restored = await startServer();
    await restored.stop();
    await removeFolder(restored.data_dir);
    await operate(restored.data_dir, "restore", join(folder, "backup"));
    await restored.start([{ SVC_RENDER: "chrome", SVC_CHROME: "/nowhere" }]);
    const after = await (await restored.api(path, authorized(site))).bytes();
    expect(Buffer.compare(before, after)).toBe(0);
  } finally {
    await removeFolder(folder);
  }
});

test("BEYOND 9: an account's quota counts them on the disk and not as uploaded bytes", async () => {
  await using server = await startRenderer();
  const ann = await visitorOf(server);
  const site = await ann.deploy({ "index.html": page("<h1>Mine</h1>") });
  await until(() => read(server.data_dir, "select 1 from pictures").length === 2);
  const [row] = read<{ stored_bytes: number; stored_disk: number }>(
    server.data_dir,
    "select stored_bytes, stored_disk from sites where site_id = ?",
    site.site_id,
  );
  expect(row!.stored_bytes).toBe(page("<h1>Mine</h1>").length);
  expect(row!.stored_disk).toBeGreaterThan(3 * 4096);
});

test("CONTRACT 9: a version of before the engine was on is told so, and a deploy of it again is looked at", async () => {
  const files = { "index.html": page("<h1>Early</h1>") };
  await using server = await startServer();
  const site = await server.deploy(files);
  await server.stop();
  await server.start([{ SVC_RENDER: "chrome", SVC_CHROME: await chromiumPath() }]);
  expect(await seen(server, site)).toMatchObject({
    status: "failed",
    reason: "The version was deployed while no render engine was on.",
    warnings: [],
  });
  await server.redeploy(site, files);
  await until(async () => (await seen(server, site)).status === "done");
});
