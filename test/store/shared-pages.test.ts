/** ARCHITECTURE, idea 2: the pages that a server shares with its children and with operators' commands. They lie on tmpfs,
 *  where a full disk does not reach them, and are made anew whatever happens to them. */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { openFigures } from "../../src/store/index.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import { operate } from "../kit/operator.ts";
import {
  ended,
  local,
  removeFolder,
  type ServerProcess,
  sharedPages,
  startProcess,
  temporaryFolder,
} from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { partOf } from "../kit/whole.ts";

setDefaultTimeout(60_000);
const onLinux = test.skipIf(process.platform !== "linux");

const start = (data_dir: string, ...flags: string[]) =>
  startProcess(["--data-dir", data_dir, "--log", "off", ...flags]);

async function deploy(server: ServerProcess, text: string, site?: DeployResult): Promise<DeployResult> {
  const answer = await fetch(`${local(server)}/sites${site ? `/${site.site_id}/deploys` : ""}`, {
    method: "POST",
    body: zipOf({ "index.html": text }),
    headers: { "content-type": "application/zip", ...(site && { authorization: `Bearer ${site.manage_token}` }) },
  });
  expect(answer.status).toBe(200);
  return { ...site, ...((await answer.json()) as DeployResult) };
}
const get = (server: ServerProcess, { slug }: DeployResult): Promise<Response> =>
  fetch(`${local(server)}/`, { headers: { host: `${slug}.localhost`, connection: "close" } });

/** Deploys and operators' commands are seen at the next request, as ever. */
async function worksAsEver(server: ServerProcess, data_dir: string): Promise<void> {
  let site = await deploy(server, "first");
  for (const text of ["second", "third", "fourth"]) {
    expect(await (await get(server, site)).text()).not.toContain(text);
    site = await deploy(server, text, site);
    expect(await (await get(server, site)).text()).toContain(text);
  }
  await operate(data_dir, "disable", site.slug, "--reason", "seen at once");
  expect((await get(server, site)).status).toBe(451);
  const figures = async () => (await fetch(`${local(server)}/metrics`)).text();
  await until(async () => /^svc_deploys_total -?[1-9]/m.test(await figures())); // another worker's count comes a second later
}

const another = (path: string): void => {
  rmSync(path);
  writeFileSync(path, "somebody else's", { mode: 0o644 });
};
const HARMS: [string, (path: string) => void][] = [
  ["emptied", (path) => truncateSync(path, 0)],
  ["cut", (path) => truncateSync(path, 100)],
  ["removed", (path) => rmSync(path)],
  ["overwritten", (path) => writeFileSync(path, new Uint8Array(8192).fill(0xa5))],
  ["replaced by a file that others may read", another],
];

onLinux.each(partOf(HARMS, 2))(
  "pages that are %s while a server runs are made anew, and it goes on",
  async (_, harm) => {
    await using dir = await temporaryFolder();
    const server = await start(dir.path);
    const site = await deploy(server, "before");
    for (const page of sharedPages(dir.path)) harm(page);
    const isWhole = (page: string) => existsSync(page) && statSync(page).size >= 4096;
    const inside = (page: string) => join(dir.path, page.split("-").at(-1)!);
    await until(() => sharedPages(dir.path).every((page) => isWhole(page) || isWhole(inside(page))));
    expect(await (await get(server, site)).text()).toContain("before");
    await worksAsEver(server, dir.path);
    expect(await ended(server, "SIGTERM")).toBe(0);
  },
);

const link = (path: string): void => {
  symlinkSync(join(path, "..", "nowhere"), path);
};
const BEFORE: [string, (path: string, aside: string) => void][] = [
  ["empty", (path) => writeFileSync(path, "", { mode: 0o600 })],
  ["cut", (path) => writeFileSync(path, "x", { mode: 0o600 })],
  ["garbage", (path) => writeFileSync(path, new Uint8Array(8192).fill(0xa5), { mode: 0o600 })],
  ["links to nowhere", link],
  [
    "links to a file of this user's",
    (path, aside) => {
      writeFileSync(aside, "mine", { mode: 0o600 });
      symlinkSync(aside, path);
    },
  ],
  [
    "second names of a file of this user's",
    (path) => {
      if (!existsSync("/dev/shm/svc-test-mine")) writeFileSync("/dev/shm/svc-test-mine", "mine", { mode: 0o600 });
      linkSync("/dev/shm/svc-test-mine", path);
    },
  ],
  ["folders", (path) => mkdirSync(path)],
];

onLinux.each(partOf(BEFORE, 2))("pages that are %s before a start: it makes its own", async (_, harm) => {
  await using dir = await temporaryFolder();
  const data_dir = join(dir.path, "data");
  mkdirSync(data_dir, { mode: 0o700 });
  const pages = sharedPages(data_dir);
  pages.forEach((page, n) => harm(page, join(dir.path, `aside-${n}`)));
  try {
    const server = await start(data_dir);
    await worksAsEver(server, data_dir);
    expect(await ended(server, "SIGTERM")).toBe(0);
    for (const name of readdirSync(dir.path).filter((one) => one.startsWith("aside"))) {
      expect(readFileSync(join(dir.path, name), "utf8")).toBe("mine");
    }
    if (existsSync("/dev/shm/svc-test-mine")) expect(readFileSync("/dev/shm/svc-test-mine", "utf8")).toBe("mine");
  } finally {
    for (const path of [...pages, "/dev/shm/svc-test-mine"]) rmSync(path, { force: true, recursive: true });
  }
});

onLinux("pages are on tmpfs, for this user alone, gone after a clean end and reused after kill -9", async () => {
  await using dir = await temporaryFolder();
  const pages = sharedPages(dir.path);
  for (const workers of ["1", "2"]) {
    const server = await start(dir.path, "--workers", workers);
    for (const page of pages) expect(lstatSync(page).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir.path)).not.toContain("generation");
    await server.end();
    expect(pages.every(existsSync)).toBeTrue();
    const again = await start(dir.path, "--workers", workers);
    await worksAsEver(again, dir.path);
    expect(await ended(again, "SIGTERM")).toBe(0);
    expect(pages.some(existsSync)).toBeFalse();
  }
});

onLinux("a copy of a data directory that is served at the same time has pages of its own", async () => {
  await using dir = await temporaryFolder();
  const [one, two] = [join(dir.path, "one"), join(dir.path, "two")];
  await ended(await start(one), "SIGTERM");
  cpSync(one, two, { recursive: true });
  chmodSync(two, 0o700);
  const servers = [await start(one), await start(two)] as const;
  const names = [one, two].flatMap(sharedPages).map((path) => basename(path));
  expect(new Set(names).size).toBe(4);
  await worksAsEver(servers[0], one);
  await worksAsEver(servers[1], two);
  for (const server of servers) await ended(server, "SIGTERM");
});

onLinux("a data directory that moves while it is served keeps its pages", async () => {
  await using dir = await temporaryFolder();
  const [here, there] = [join(dir.path, "here"), join(dir.path, "there")];
  const server = await start(here);
  const site = await deploy(server, "moved");
  renameSync(here, there);
  await operate(there, "disable", site.slug, "--reason", "seen from its new name");
  expect((await get(server, site)).status).toBe(451);
  await server.end();
  await removeFolder(there);
});

const withOwn = (access: "ro" | "rw", ...command: string[]): string[] => [
  process.execPath,
  join(import.meta.dir, "../kit/own-mounts.ts"),
  access,
  ...command,
];
const mayUnshare = (): boolean =>
  process.platform === "linux" && Bun.spawnSync(withOwn("rw", process.execPath, "-e", "0")).success;

test.skipIf(!mayUnshare())(
  "a command that sees another /dev/shm is done when the server has seen what it did",
  async () => {
    await using dir = await temporaryFolder();
    const server = await start(dir.path);
    const site = await deploy(server, "seen");
    expect((await get(server, site)).status).toBe(200);
    for (const [act, ...rest] of [["disable", "--reason", "x"], ["enable"], ["disable", "--reason", "y"]] as const) {
      const words = [process.execPath, join(import.meta.dir, "../../server.ts"), act!, site.slug, ...rest];
      const child = Bun.spawn(withOwn("rw", ...words, "--data-dir", dir.path));
      expect(await child.exited).toBe(0);
      expect((await get(server, site)).status).toBe(act === "enable" ? 200 : 451);
    }
    await ended(server, "SIGTERM");
  },
);

test.skipIf(!mayUnshare())("where /dev/shm takes no file, the pages lie in the data directory", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path, "--log", "off"], {
    command: withOwn("ro", process.execPath, join(import.meta.dir, "../../server.ts")),
  });
  expect(readdirSync(dir.path)).toContain("generation");
  await worksAsEver(server, dir.path);
  truncateSync(join(dir.path, "generation"), 0);
  await until(() => statSync(join(dir.path, "generation")).size === 4096);
  await worksAsEver(server, dir.path);
  expect(await ended(server, "SIGTERM")).toBe(0);
  expect(readdirSync(dir.path)).not.toContain("generation");
});

test("CONTRACT 7: what a process could not count about itself is 0, and ends neither a turn nor the drain", async () => {
  await using dir = await temporaryFolder();
  const prepared = prepareDataDir(join(dir.path, "data"));
  const figures = openFigures(join(dir.path, "data"));
  figures.putProcess([1.6, NaN, Infinity]);
  expect(figures.processes()[0]!.slice(0, 3)).toEqual([2, 0, 0]);
  prepared.close();
});
