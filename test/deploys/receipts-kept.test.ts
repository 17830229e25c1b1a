/** WEB 6: what a deploy was told, healed and warnings, is kept with the version that it made, and goes with it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { count, read, write } from "../kit/database.ts";
import { operate } from "../kit/operator.ts";
import { bearer, call } from "../kit/people.ts";
import { temporaryFolder } from "../kit/process.ts";
import { type Contents, type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();

const kept = ({ site_id, version_id }: Pick<DeployResult, "site_id" | "version_id">, at = server) =>
  at.running.store.versions.receipt(site_id, version_id);
const said = ({ healed, warnings }: DeployResult) => expect.objectContaining({ healed, warnings, left_out: 0 });
const rows = (at: TestServer) => count(at.data_dir, "receipts");

/** Healed of its folder, and with something missing. */
const ailing = (name = "logo"): Contents => ({
  "site/index.html": `<title>T</title><img src="${name}.png"><a href="/gone.html">x</a>`,
  "site/b.html": "<title>B</title>",
});

test("it is what the answer said, word for word", async () => {
  const site = await server.deploy(ailing());
  expect([site.healed.length > 0, site.warnings.length > 0]).toEqual([true, true]);
  expect(await kept(site)).toEqual(said(site));
});

test("nothing said is kept as nothing said", async () => {
  const site = await server.deploy({ "index.html": "<title>Fine</title><p>x" });
  expect(await kept(site)).toMatchObject({ healed: [], warnings: [], left_out: 0 });
});

test("each version has its own, whichever is live", async () => {
  const first = await server.deploy(ailing("first"));
  const second = await server.redeploy(first, ailing("second"));
  await server.rollback(first, first.version_id);
  expect([await kept(first), await kept(second)]).toEqual([said(first), said(second)]);
});

test("the same content again keeps the first one's, and adds none", async () => {
  const site = await server.deploy(ailing("same"));
  const before = rows(server);
  await server.redeploy(site, ailing("same"));
  expect([rows(server), await kept(site)]).toEqual([before, said(site)]);
});

test("a version without one, and a version that is none, have null", async () => {
  const site = await server.deploy(ailing("old"));
  write(server.data_dir, "delete from receipts"); // as of an older release
  expect([await kept(site), await kept({ ...site, version_id: "f".repeat(16) })]).toEqual([null, null]);
});

test("the site's record has no new key", async () => {
  const site = await server.deploy(ailing("record"));
  const { body } = await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token));
  expect(Object.keys((body.versions as object[])[0]!)).toEqual(["version_id", "title", "created_at", "files", "bytes"]);
  expect(body).not.toHaveProperty("deployed_at");
});

test("a dry run keeps none", async () => {
  const before = rows(server);
  await server.deploy(ailing("rehearsed"), "?dry_run=1");
  expect(rows(server)).toBe(before);
});

describe("it goes", () => {
  test("with a version that is removed", async () => {
    await using few = await startServer({ SVC_KEEP_VERSIONS: "2" });
    const first = await few.deploy(ailing("1"));
    for (const name of ["2", "3", "4"]) await few.redeploy(first, ailing(name));
    expect([rows(few), count(few.data_dir, "versions")]).toEqual([2, 2]);
    await operate(few.data_dir, "verify");
  });

  test("with its site, once that is swept", async () => {
    await using own = await startServer();
    const [gone, stays] = [await own.deploy(ailing("gone")), await own.deploy(ailing("stays"))];
    own.remove(gone);
    await own.running.store.sweep(own.now());
    expect([rows(own), await kept(stays, own)]).toEqual([1, said(stays)]);
    await operate(own.data_dir, "verify");
  });
});

test("a backup has it, but of sites that are gone", async () => {
  await using dir = await temporaryFolder();
  await using own = await startServer();
  const [gone, stays] = [await own.deploy(ailing("gone")), await own.deploy(ailing("stays"))];
  own.remove(gone);
  const [backup, restored] = [join(dir.path, "backup"), join(dir.path, "restored")];
  await operate(own.data_dir, "backup", backup);
  await operate(restored, "restore", backup);
  expect(read(restored, "select version_id from receipts join versions using (version_no)")).toEqual([
    { version_id: stays.version_id },
  ]);
  await operate(restored, "verify");
});

describe("a receipt at its largest", () => {
  /** Two segments of about 230 bytes, of what JSON, HTML and a terminal escape. */
  const odd = (n: number) => `${"‑é'\"<b>& ".repeat(18)}/${"\u0301ä%\u{1f600} ".repeat(18)}${n}`;
  const files = Object.fromEntries(
    Array.from({ length: 199 }, (_, n) => [
      `${odd(n)}.html`,
      `<title>${n}</title>${Array.from({ length: 3 }, (_, m) => `<img src="${"missing-".repeat(60)}${n}-${m}.png">`).join("")}`,
    ]),
  );

  test("takes 64 KB at most: whole entries, warnings first, and how many were left out", async () => {
    const site = await server.deploy({ "index.html": "<title>i</title>", ...files });
    const { healed, warnings, left_out } = (await kept(site))!;
    const told = site.healed.length + site.warnings.length;
    expect(JSON.stringify(site.warnings).length).toBeGreaterThan(64 * 1024);
    expect(left_out).toBe(told - healed.length - warnings.length);
    expect(warnings.length).toBeGreaterThan(20);
    expect(warnings).toEqual(site.warnings.slice(0, warnings.length));
    const [row] = read<{ bytes: number }>(
      server.data_dir,
      `select octet_length(healed) + octet_length(warnings) as bytes from receipts join versions using (version_no)
       where site_id = ?`,
      site.site_id,
    );
    expect(row!.bytes).toBeLessThanOrEqual(64 * 1024);
    expect(row!.bytes).toBeGreaterThan(60 * 1024);
  });

  test("counts for what the site takes of the disk, and no longer when it is gone", async () => {
    await using own = await startServer({ SVC_KEEP_VERSIONS: "1" });
    const disk = () => read<{ stored_disk: number }>(own.data_dir, "select stored_disk from sites")[0]!.stored_disk;
    const site = await own.deploy({ "index.html": "<title>i</title>", "a.html": `<title>a</title>` });
    const before = disk();
    await own.redeploy(site, ailing("other"));
    expect(disk()).not.toBe(before);
    await operate(own.data_dir, "verify");
    await own.redeploy(site, { "index.html": "<title>i</title>", "a.html": `<title>a</title>` });
    expect(disk()).toBe(before);
  });
});
