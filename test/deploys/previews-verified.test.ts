/** RELIABILITY 2, Verify: what the database must say of previews (BEYOND 7). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { count, write } from "../kit/database.ts";
import { operate, operator } from "../kit/operator.ts";
import { temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { expectSound } from "../kit/sound.ts";
import { pageOf, previewing } from "./previewing.ts";

/** Each starts a program. */
setDefaultTimeout(60_000);

test.each([
  [
    "a version that nothing shows",
    "delete from previews",
    /^database: nothing shows the version [0-9a-f]{16} of site_/m,
  ],
  [
    "a preview of another site's version",
    "update previews set site_id = (select site_id from sites where site_id <> previews.site_id)",
    /^database: the preview draft of site_\w+ shows another site's version/m,
  ],
  ["a figure that counts a preview among the versions", "update sites set stored_versions = 2", /figures of/],
])("svc-server verify finds %s", async (_, damage, says) => {
  await using server = await startServer();
  const { make } = previewing(() => server);
  await server.deploy(pageOf("other"));
  await make(await server.deploy(pageOf("live")), pageOf("draft"), "draft");
  await expectSound(server);
  write(server.data_dir, damage);
  const { code, stdout, stderr } = await operator(server.data_dir, ["verify"]);
  expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(says)]);
});

test("a backup has the previews of the sites that are there, and none that a deleted one left", async () => {
  await using server = await startServer();
  await using dir = await temporaryFolder();
  const { make } = previewing(() => server);
  const gone = await server.deploy(pageOf("gone"));
  await make(gone, pageOf("gone too"), "draft");
  await make(await server.deploy(pageOf("live")), pageOf("draft"), "draft");
  server.remove(gone);
  const [backup, restored] = [join(dir.path, "backup"), join(dir.path, "restored")];
  await operate(server.data_dir, "backup", backup);
  await operate(restored, "restore", backup);
  expect(count(restored, "previews")).toBe(1);
  await expectSound({ data_dir: restored });
});
