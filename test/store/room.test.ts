/** W0 and BEYOND 9: how much room there must be on the disk, and from which use on deploys need an account. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { roomIn, useOf } from "../../src/store/disk/room.ts";
import { signUp } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const MIB = 1024 * 1024;
const UPLOAD = { bytes: 10 * MIB, files: 200, beside: 0 };
/** 1,000 MiB, of which the system keeps 50 for itself, and 10,000 inodes. */
const disk = (free_mib: number, free_files: number, files = 10_000) => ({
  bsize: 4096,
  blocks: 1000 * 256,
  bfree: (free_mib + 50) * 256,
  bavail: free_mib * 256,
  files,
  ffree: free_files,
});

test.each<[string, ReturnType<typeof disk>, boolean]>([
  ["64 MiB and three times the upload", disk(94, 5000), true],
  ["less", disk(93, 5000), false],
  ["256 inodes and two for each file", disk(500, 656), true],
  ["fewer", disk(500, 655), false],
  ["a file system that counts no inodes has no floor of them", disk(94, 0, 0), true],
  ["nor does it need no bytes", disk(93, 0, 0), false],
])("room for a deploy: %s", (_, free, expected) => {
  expect(roomIn(free, UPLOAD)).toBe(expected);
});

test("room for a deploy: beside what others are uploading", () => {
  expect(roomIn(disk(114, 5000), { ...UPLOAD, beside: 20 * MIB })).toBe(true);
  expect(roomIn(disk(113, 5000), { ...UPLOAD, beside: 20 * MIB })).toBe(false);
});

test.each<[string, ReturnType<typeof disk>, number]>([
  ["bytes, of those that anybody may have, as df reckons", disk(475, 9000), 50],
  ["inodes where they are more", disk(855, 500), 95],
  ["none counted", disk(95, 0, 0), 90],
  ["empty", { ...disk(1000, 10_000), bfree: 256_000 }, 0],
  ["full", { ...disk(0, 10_000), bfree: 0 }, 100],
])("use of a disk: %s", (_, free, expected) => {
  expect(useOf(free)).toBeCloseTo(expected, 6);
});

describe("SVC_DISK_HIGH", () => {
  const use = Math.floor(useOf(statfsSync(tmpdir())));
  const body = () => zipOf({ "index.html": "x" });

  test("from this use on deploys without an account are 507, owned ones go on", async () => {
    await using server = await startServer({ SVC_DISK_HIGH: "off" });
    const [person, site] = [await signUp(server), await server.deploy({ "index.html": "before" })];
    await server.stop();
    // A disk that is as good as empty has no such use.
    const expected = use === 0 ? 200 : 507;
    await server.start([{ SVC_DISK_HIGH: `${Math.max(1, use)}%` }]);
    const refused = await server.post(body());
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([expected, expected === 507 ? "60" : null]);
    const by = { "content-type": "application/zip", authorization: `Bearer ${site.manage_token}` };
    const again = () => server.api(`/sites/${site.site_id}/deploys`, { method: "POST", headers: by, body: body() });
    expect((await again()).status).toBe(expected);
    expect((await server.post(body(), {}, "?dry_run=1")).status).toBe(expected);
    expect((await server.post(body(), person.bearer)).status).toBe(200);
    expect(await (await server.site(site.slug)).text()).toContain("before");
    server.giveAway(site);
    expect((await again()).status).toBe(200);
  });

  test("below it nobody is refused", async () => {
    await using server = await startServer({ SVC_DISK_HIGH: `${Math.min(100, use + 3)}%` });
    expect((await server.post(body())).status).toBe(200);
  });
});
