/** Backup and restore (RELIABILITY 2, P8, K27 to K29): taken while the server works, restored to a state that
 *  existed, and refused where it is not whole. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp, mkdir, readdir, readFile, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { count } from "../kit/database.ts";
import { type AuditLine, blobFile, listed, operate, operator } from "../kit/operator.ts";
import { temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { backupsIn, exists, serverOn } from "./backups.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const home = shared(await temporaryFolder());

const { fresh, backedUp, restored } = backupsIn(() => home.path);

describe("a restored server", () => {
  test("has every site, version, token, tombstone, report and audit line, and serves the same bytes", async () => {
    const site = await server.deploy({ "index.html": "<title>One</title>first", "a/b.bin": new Uint8Array(300_000) });
    const second = await server.redeploy(site, { "index.html": "<title>Two</title>second" });
    const frozen = await server.deploy({ "index.html": "frozen" });
    const disabled = await server.deploy({ "index.html": "disabled" });
    const deleted = await server.deploy({ "index.html": "deleted" });
    await operate(server.data_dir, "freeze", frozen.slug);
    await operate(server.data_dir, "disable", disabled.slug, "--reason", "the reason");
    await operate(server.data_dir, "delete", deleted.slug);
    const before = await server.site(site.slug);
    const audit = await listed<AuditLine>(server.data_dir, "audit");
    const data_dir = await restored(await backedUp(server));
    await using other = await serverOn(data_dir);

    const after = await other.site(site.slug);
    expect([after.status, after.headers.get("etag")]).toEqual([200, before.headers.get("etag")]);
    expect(await after.text()).toBe(await before.text());
    expect((await other.site(`${site.version_id}--${site.slug}`, "/a/b.bin")).headers.get("content-length")).toBe(
      "300000",
    );
    expect((await other.site(frozen.slug)).status).toBe(200);
    expect((await other.site(disabled.slug)).status).toBe(451);
    expect((await other.site(deleted.slug)).status).toBe(404);
    const third = await other.redeploy(site, { "index.html": "third" });
    expect(third.version_id).not.toBe(second.version_id);
    const gone = { authorization: `Bearer ${deleted.manage_token}` };
    expect((await other.api(`/sites/${deleted.site_id}`, { headers: gone })).status).toBe(404);
    const history = await listed<AuditLine>(data_dir, "audit");
    expect(history.slice(0, audit.length)).toEqual(audit);
    expect(history.slice(audit.length).map((row) => row.action)).toEqual(["restore", "verify"]);
  });

  test("has the secrets and the operator's brands.txt, readable for its user alone", async () => {
    await using source = await startServer();
    await writeFile(join(source.data_dir, "brands.txt"), "Example Bank\n");
    const data_dir = await restored(await backedUp(source));
    for (const name of ["secrets", "brands.txt"]) {
      const [was, is] = await Promise.all([source.data_dir, data_dir].map((folder) => readFile(join(folder, name))));
      expect(is).toEqual(was!);
      expect((await stat(join(data_dir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(data_dir)).mode & 0o777).toBe(0o700);
  });

  test("is no longer tied to its backup: what happens to one does not happen to the other", async () => {
    await using source = await startServer();
    const site = await source.deploy({ "index.html": "shared bytes" });
    const folder = await backedUp(source);
    const data_dir = await restored(folder);
    await rm(folder, { recursive: true });
    await using other = await serverOn(data_dir);
    expect((await other.site(site.slug)).status).toBe(200);
  });

  test("sweeps at once: the hold of the backup is not in it", async () => {
    await using source = await startServer();
    await source.deploy({ "index.html": "x" });
    const data_dir = await restored(await backedUp(source));
    expect(count(data_dir, "holds")).toBe(0);
  });
});

describe("a backup", () => {
  test("lists its files with their hashes as sha256sum -c reads them, and holds no token", async () => {
    const site = await server.deploy({ "index.html": "a page of its own" });
    const folder = await backedUp(server);
    const lines = (await readFile(join(folder, "SHA256SUMS"), "utf8")).trimEnd().split("\n");
    expect([lines.at(0), lines.at(-1)]).toEqual([
      expect.stringMatching(/^# svc backup 1, schema \d+, taken \d{4}-/),
      `# complete, ${lines.length - 2} files`,
    ]);
    for (const line of lines.slice(1, -1)) {
      const [sha256, path] = line.split("  ");
      const bytes = await readFile(join(folder, path!));
      expect(new Bun.CryptoHasher("sha256").update(bytes).digest("hex")).toBe(sha256!);
    }
    const database = await readFile(join(folder, "db"), "latin1");
    expect(database).toContain(site.slug);
    expect(database).not.toContain(site.manage_token);
  });

  test("copies what stored versions name, and no orphan", async () => {
    await using source = await startServer();
    const site = await source.deploy({ "index.html": "kept" });
    const gone = await source.deploy({ "index.html": "an orphan soon" });
    await operate(source.data_dir, "delete", gone.slug);
    const folder = await backedUp(source);
    expect(await Bun.file(blobFile(folder, "kept")).text()).toBe("kept");
    expect(await Bun.file(blobFile(folder, "an orphan soon")).exists()).toBe(false);
    expect(site.slug).not.toBe(gone.slug);
  });

  test("wants a folder that is new or empty, and not in the data directory", async () => {
    const used = fresh();
    await mkdir(used);
    await writeFile(join(used, "x"), "");
    const refused = await operator(server.data_dir, ["backup", used]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is not empty")]);
    for (const name of ["backup", "..backup"]) {
      const inside = await operator(server.data_dir, ["backup", join(server.data_dir, name)]);
      expect([inside.code, inside.stderr]).toEqual([1, expect.stringContaining("cannot lie in the data directory")]);
      expect(await exists(join(server.data_dir, name))).toBe(false);
    }
    const link = fresh();
    await symlink(server.data_dir, link);
    expect((await operator(server.data_dir, ["backup", join(link, "backup")])).code).toBe(1);
  });

  test("with a damaged blob: everything else is in it, exit code 1 names the blob, and verify its site", async () => {
    await using source = await startServer();
    const whole = await source.deploy({ "index.html": "whole" });
    const damaged = await source.deploy({ "index.html": "damaged" });
    await writeFile(blobFile(source.data_dir, "damaged"), "dam4ged");
    const folder = fresh();
    const taken = await operator(source.data_dir, ["backup", folder]);
    const sha256 = blobFile("", "damaged").slice(-64);
    expect([taken.code, taken.stdout]).toEqual([1, expect.stringContaining(sha256)]);
    const data_dir = fresh();
    const back = await operator(data_dir, ["restore", folder]);
    expect([back.code, back.stdout]).toEqual([1, expect.stringContaining(`blob ${sha256} is missing`)]);
    expect(back.stdout).toContain(damaged.slug);
    await using other = await serverOn(data_dir);
    expect((await other.site(whole.slug)).status).toBe(200);
    expect((await other.site(damaged.slug)).status).toBe(500);
    await other.redeploy(damaged, { "index.html": "damaged" });
    expect((await other.site(damaged.slug)).status).toBe(200);
  });
});

describe("restore", () => {
  test("refuses a data directory that is not empty, above all one with a server on it", async () => {
    const folder = await backedUp(server);
    const refused = await operator(server.data_dir, ["restore", folder]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is not empty")]);
    const other = fresh();
    await mkdir(other);
    await writeFile(join(other, "x"), "");
    expect((await operator(other, ["restore", folder])).code).toBe(1);
    expect(await readdir(other)).toEqual(["x"]);
  });

  test("takes a folder that is empty, and a backup that was copied elsewhere", async () => {
    const site = await server.deploy({ "index.html": "copied" });
    const copy = fresh();
    await cp(await backedUp(server), copy, { recursive: true });
    const data_dir = fresh();
    await mkdir(data_dir);
    await operate(data_dir, "restore", copy);
    await using other = await serverOn(data_dir);
    expect((await other.site(site.slug)).status).toBe(200);
  });

  test("ends with verify: a blob that rotted in the backup is named with its site, exit code 1", async () => {
    const site = await server.deploy({ "index.html": "will rot" });
    const folder = await backedUp(server);
    await unlink(blobFile(folder, "will rot")); // it may be the very file of the data directory
    await writeFile(blobFile(folder, "will rot"), "will r0t");
    const back = await operator(fresh(), ["restore", folder]);
    expect([back.code, back.stdout]).toEqual([1, expect.stringContaining("is damaged and was moved to quarantine")]);
    expect(back.stdout).toContain(site.slug);
  });
});
