/** RELIABILITY 2, "Verify": what is done to a backup's files is never done to the server's, and a file that
 *  only cannot be read is never taken for a damaged one. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmod, chown, readdir, readFile, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { blobFile, operate, operator } from "../kit/operator.ts";
import { run, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";

setDefaultTimeout(60_000);

const TEXT = "bytes that a backup has too";
const isRoot = process.getuid?.() === 0;

test.each([[[]], [["--link"]]])("backup %p: the same bytes, and a whole backup", async (flags) => {
  await using server = await startServer();
  await using home = await temporaryFolder();
  await server.deploy({ "index.html": TEXT });
  const folder = join(home.path, "backup");
  await operate(server.data_dir, "backup", folder, ...flags);
  expect(await readFile(blobFile(folder, TEXT), "utf8")).toBe(TEXT);
  const checked = await run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], { cwd: folder });
  expect([checked.code, checked.stdout]).toEqual([0, ""]);
});

test("a backup on the same disk has files of its own: chown, chmod and writes in it leave the server's alone", async () => {
  await using server = await startServer();
  const site = await server.deploy({ "index.html": TEXT });
  await using home = await temporaryFolder();
  const folder = join(home.path, "backup");
  await operate(server.data_dir, "backup", folder);
  const [live, copy] = [blobFile(server.data_dir, TEXT), blobFile(folder, TEXT)];
  const before = await stat(live);
  if (isRoot) await chown(copy, 65534, 65534);
  await writeFile(copy, "something else");
  await chmod(copy, 0o444);
  const after = await stat(live);
  expect([after.uid, after.mode, after.nlink, after.ino]).toEqual([before.uid, before.mode, 1, before.ino]);
  expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  expect(await (await server.site(site.slug)).text()).toContain(TEXT);
});

test("--link makes second names where blocks cannot be shared, and the help says what that means", async () => {
  await using server = await startServer();
  await server.deploy({ "index.html": TEXT });
  await using home = await temporaryFolder();
  const folder = join(home.path, "linked"); // on the disk of the data directory
  await operate(server.data_dir, "backup", folder, "--link");
  const [live, copy] = [await stat(blobFile(server.data_dir, TEXT)), await stat(blobFile(folder, TEXT))];
  expect(copy.ino === live.ino || copy.nlink === 1).toBeTrue(); // a file system that shares blocks does that
  const help = await run([...SVC_SERVER, "backup", "--help"]);
  expect(help.stdout).toContain("a chown, chmod or write in the backup hits the server's own");
});

/** Makes the file at `path` one that cannot be read, and says under which command that is so. */
type Hinder = (path: string) => Promise<string[]>;
const HINDRANCES: [code: string, Hinder][] = [
  [
    "EACCES",
    async (path) => {
      await chmod(path, 0);
      return isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
    },
  ],
];
// A process has no memory at address 0: reading it is EIO.
if (process.platform === "linux") {
  HINDRANCES.push(["EIO", async (path) => (await unlink(path), await symlink("/proc/self/mem", path), [])]);
}
// Nothing on a bare machine says EPERM to root.
if (Bun.which("strace") !== null) {
  const inject = ["-e", "trace=openat", "-e", "inject=openat:error=EPERM"];
  HINDRANCES.push(["EPERM", async (path) => ["strace", "-f", "-qq", "-o", "/dev/null", "-P", path, ...inject]]);
}

for (const [code, hinder] of HINDRANCES) {
  test(`${code}: verify reports the file, exit code 1, and leaves it where it is`, async () => {
    await using server = await startServer();
    const site = await server.deploy({ "index.html": "another", "a.txt": TEXT });
    const path = blobFile(server.data_dir, TEXT);
    const before = await hinder(path);
    const found = await run([...before, ...SVC_SERVER, "verify", "--data-dir", server.data_dir]);
    expect([found.code, found.stdout]).toEqual([
      1,
      expect.stringContaining("cannot be read, and was left where it is"),
    ]);
    expect(found.stdout).toContain(`${site.slug} (${site.site_id}) ${site.version_id} [live] a.txt`);
    expect(await readdir(join(server.data_dir, "quarantine")).catch(() => [])).toEqual([]);
    await rm(path);
    await writeFile(path, TEXT, { mode: 0o600 });
    expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
    expect(await (await server.site(site.slug, "/a.txt")).text()).toBe(TEXT);
  });
}
