/** RELIABILITY 2, "Doubtful folders": a start says which file is not as it should be, and what to do; nothing is swept by a
 *  server that has lost its database. `bun run torture data-folder` does the same to servers that run. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { blobFile, operator } from "../kit/operator.ts";
import {
  deployProcesses,
  ended,
  local,
  run,
  type ServerProcess,
  SVC_SERVER,
  startProcess,
  temporaryFolder,
} from "../kit/process.ts";
import { startServer, TestServer } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { blobsIn, CASES, harmedCopy, makeFolder, type Site, worksOn } from "./data-folder.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";
import { partOf } from "../kit/whole.ts";

setDefaultTimeout(60_000);

const made = () => join(home.path, "made");
const home = shared(await temporaryFolder());
const site = await makeFolder(made());

describe("a start where", () => {
  // One folder stands for all of them: the long form tries each.
  const short = CASES.filter(({ file, harm }) => harm !== "a folder" || file === "db");
  test.each(partOf(short, 24).map((one) => [`${one.file.slice(0, 20)} is ${one.harm}`, one] as const))(
    "%s",
    async (_, one) => {
      await using dir = await temporaryFolder();
      const data_dir = join(dir.path, "data");
      harmedCopy(made(), data_dir, one);
      const blobs = blobsIn(data_dir);
      const server = new TestServer(data_dir);
      if (typeof one.outcome !== "number") {
        await expect(server.start([])).rejects.toThrow(one.outcome);
        expect(blobsIn(data_dir)).toBe(blobs);
        return;
      }
      await server.start([]);
      await worksOn(server, site, one.outcome);
      await server.stop();
    },
  );

  test("the database is lost: an operator's command is refused too, and the process says it in one line", async () => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    for (const harm of ["missing", "empty"]) {
      harmedCopy(made(), data_dir, { file: "db", harm });
      for (const name of ["db-wal", "db-shm"]) rmSync(join(data_dir, name), { force: true });
      const results = [
        await run([...SVC_SERVER, "--port", "0", "--data-dir", data_dir]),
        await operator(data_dir, ["gc", "--force"]),
        await operator(data_dir, ["sites"]),
      ];
      for (const { code, stderr } of results) {
        expect(code).toBe(1);
        expect(stderr).toMatch(/^svc-server: The database .* restore a backup .*\n$/);
      }
      expect(blobsIn(data_dir)).toBe(2);
      rmSync(data_dir, { recursive: true });
    }
  });

  test.each(["secrets", "blobs"])("only %s tell of an earlier server: refused", async (left) => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    mkdirSync(data_dir, { mode: 0o700 });
    cpSync(join(made(), left), join(data_dir, left), { recursive: true });
    if (left === "secrets") writeFileSync(join(data_dir, "lock.db"), "");
    await expect(new TestServer(data_dir).start([])).rejects.toThrow(/restore a backup/);
  });
});

const deploy = (server: ServerProcess, text: string): Promise<Response> =>
  fetch(`${local(server)}/sites`, {
    method: "POST",
    body: zipOf({ "index.html": text }),
    headers: { "content-type": "application/zip" },
  });

describe("a database that is lost while the server runs", () => {
  test.each([
    ["deleted", (path: string) => rmSync(path)],
    ["moved away", (path: string) => renameSync(path, `${path}-away`)],
    [
      "replaced by another",
      (path: string) => {
        rmSync(path);
        cpSync(join(made(), "db"), path);
      },
    ],
  ])("%s: deploys are refused at once, pages go on, and the operator is told", async (_, lose) => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const { slug } = (await (await deploy(server, "kept")).json()) as Site;
    const page = () => fetch(`${local(server)}/`, { headers: { host: `${slug}.localhost` } });
    lose(join(dir.path, "db"));
    const refused = await deploy(server, "late");
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: "unavailable", error: expect.stringContaining("database is gone") }),
    ]);
    expect(await (await page()).text()).toContain("kept");
    await until(() => /error database: The database .* while the server runs: put it back/.test(server.stderr()));
    expect(await (await fetch(`${local(server)}/metrics`)).text()).toContain("\nsvc_database_missing 1\n");
    expect((await page()).status).toBe(200);
    await server.end();
  });
});

test("the log db-wal is deleted while the server runs: the same, and a restart finds all that was answered", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path]);
  const { slug } = (await (await deploy(server, "kept")).json()) as Site;
  rmSync(join(dir.path, "db-wal"));
  for (const pid of deployProcesses(server.pid)) process.kill(pid, "SIGKILL"); // a new one would begin a log of its own
  await until(() => deployProcesses(server.pid).length === 0);
  expect((await deploy(server, "late")).status).toBe(503);
  await until(() => /error database: The log .*db-wal was deleted under .*: restart it/.test(server.stderr()));
  expect(existsSync(join(dir.path, "db-wal"))).toBeFalse();
  expect(await ended(server, "SIGTERM")).toBe(0);
  const again = await startProcess(["--data-dir", dir.path]);
  const page = await fetch(`${local(again)}/`, { headers: { host: `${slug}.localhost` } });
  expect(await page.text()).toContain("kept");
  await again.end();
});

test("a start between the two files that the last process to end removes waits for the second", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path]);
  await deploy(server, "kept");
  await server.end();
  const shm = join(dir.path, "db-shm");
  await until(() => {
    openDataDir(dir.path, Date.now).close(); // it is the last one as soon as the kernel has ended the deploy's process too
    return !existsSync(shm) && !existsSync(join(dir.path, "db-wal"));
  });
  writeFileSync(shm, "");
  const removing = Bun.spawn(["sh", "-c", `sleep 0.02; rm '${shm}'`]);
  openDataDir(dir.path, Date.now).close();
  expect(await removing.exited).toBe(0);
});

describe("tmp/ and the folders of blobs", () => {
  test.each(["tmp", "blobs"])("%s that is gone is made again at the next deploy", async (folder) => {
    await using server = await startServer();
    await server.deploy({ "index.html": "before" });
    rmSync(join(server.data_dir, folder), { recursive: true });
    const later = await server.deploy({ "index.html": "after" });
    expect(await (await server.site(later.slug)).text()).toContain("after");
    expect(readdirSync(join(server.data_dir, folder)).length).toBe(folder === "tmp" ? 0 : 1);
  });
});

test("G3 the orphans of one deploy that was cut short are swept, but not when they are most of twenty or more", async () => {
  await using server = await startServer();
  const stray = (n: number) => {
    const path = blobFile(server.data_dir, `stray ${n}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `stray ${n}`);
    utimesSync(path, 1, 1);
  };
  for (let n = 0; n < 19; n++) stray(n);
  expect((await operator(server.data_dir, ["gc"])).stderr).toContain("19 orphaned files");
  for (let n = 0; n < 20; n++) stray(n);
  const refused = await operator(server.data_dir, ["gc"]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("svc-server gc --force removes them")]);
  expect((await operator(server.data_dir, ["gc", "--force"])).stderr).toContain("20 orphaned files");
});
