/** Programs of Debian's packages, for tests that hold svc against them: fetched by apt without root, and unpacked beside the other test tools. */
import { existsSync, realpathSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

/** Its real path: copies have links in them that lead there, also for users who may not go through a link of this process's own. */
const PLACE = join(realpathSync(join(ROOT, "test/tools")), "node_modules/.debian");

async function run(cwd: string, ...words: string[]): Promise<string> {
  const child = Bun.spawn(words, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return out;
  throw new Error(`${words.join(" ")} failed: ${err.trim().split("\n").slice(-3).join(" ")}`);
}

let lists: Promise<string[]> | undefined;

/** Options for lists of packages of one's own, which this process fetches once: a fresh system has none, and only root may write the
 *  system's. */
const ownLists = (): Promise<string[]> => (lists ??= fetchLists());

async function fetchLists(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "svc-lists-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["lists/partial", "cache/archives/partial"]) await mkdir(join(folder, part), { recursive: true });
  const own = [
    "-o",
    `Dir::State::Lists=${folder}/lists`,
    "-o",
    `Dir::Cache=${folder}/cache`,
    "-o",
    "APT::Sandbox::User=root",
  ];
  await run(folder, "apt-get", ...own, "update");
  return own;
}

/** The package, and what it needs that this system has not. */
async function withNeeds(folder: string, name: string, own: readonly string[]): Promise<string[]> {
  const told = await run(folder, "apt-get", ...own, "install", "--simulate", "--no-install-recommends", name);
  return [...new Set([name, ...[...told.matchAll(/^Inst (\S+)/gm)].map((found) => found[1]!)])];
}

interface Fetched {
  /** Its needs come with it, for a program with libraries that a small system has not. */
  whole?: boolean;
  /** Packages among these that no test needs. */
  without?: RegExp;
}

/** The folder of an unpacked package; it is fetched once. Throws a sentence where there is no apt. */
export async function debianPackage(name: string, { whole = false, without }: Fetched = {}): Promise<string> {
  const place = join(PLACE, name);
  if (existsSync(place)) return place;
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null) {
    throw new Error(`This test holds svc against Debian's package ${name}: it runs where apt-get and dpkg-deb are.`);
  }
  await mkdir(PLACE, { recursive: true });
  const fresh = await mkdtemp(join(PLACE, "fresh-"));
  const download = async (...own: string[]) => {
    const names = whole ? await withNeeds(fresh, name, own) : [name];
    await run(fresh, "apt-get", ...own, "download", ...names.filter((one) => without?.test(one) !== true));
  };
  try {
    await download().catch(async () => download(...(await ownLists())));
    for (const archive of (await readdir(fresh)).filter((file) => file.endsWith(".deb"))) {
      await run(fresh, "dpkg-deb", "--extract", archive, "whole");
    }
    await rename(join(fresh, "whole"), place).catch((error: unknown) => {
      if (!existsSync(place)) throw error; // another test was first
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return place;
}

/** Tells a program of an unpacked package where its libraries are. */
export async function librariesOf(place: string): Promise<Record<string, string>> {
  const folders = ["lib", "usr/lib"].map((name) => join(place, name)).filter((folder) => existsSync(folder));
  const found = await Promise.all(
    folders.map(async (folder) => (await readdir(folder)).map((name) => join(folder, name))),
  );
  return {
    LD_LIBRARY_PATH: found
      .flat()
      .filter((path) => path.endsWith("-linux-gnu"))
      .join(":"),
  };
}

/** The path of a program of the package. */
export async function debianProgram(name: string, program = name, fetched: Fetched = {}): Promise<string> {
  const place = await debianPackage(name, fetched);
  const path = ["usr/bin", "usr/sbin"].map((folder) => join(place, folder, program)).find((one) => existsSync(one));
  if (path === undefined) throw new Error(`Debian's package ${name} has no program ${program}.`);
  return path;
}
