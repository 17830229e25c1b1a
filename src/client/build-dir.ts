/** Finds the folder to deploy if none is named. */
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { droppedAs } from "../base/reserved-paths.ts";
import { BUILD_DIR_CANDIDATES } from "./build-dir-candidates.ts";
import { manifestOf, packageManagerOf, runScript } from "./package-manager.ts";

/** Other places of a built site: Angular, React Router, Flutter, MkDocs, Sphinx. */
const KNOWN_PLACES = [/^dist\/[^/]+\/browser$/, /^build\/(client|web)$/, /^site$/, /^_build\/html$/];

/** A build folder somewhere below, as in a monorepo: more likely the site than the source next to it. */
const BUILT = /\/(dist|build|out|_site)$/;

/** Test reports and fixtures have an index.html and are no site. */
const NEVER_A_SITE = new Set(["coverage", "playwright-report", "test", "tests", "fixtures"]);

/** Deep enough for the known places. No project has as many folders; in a home folder the search ends soon. */
const DEEPEST = 3;
const MOST_FOLDERS = 2_000;

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isFile() ?? false;

const subfolders = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.filter((name) => droppedAs(name) === null && !NEVER_A_SITE.has(name)).sort();
};

/** Folders one to three levels down that have an index, nearest first. */
async function foldersWithIndex(cwd: string): Promise<string[]> {
  const found: string[] = [];
  let level = [cwd];
  let seen = 0;
  for (let depth = 1; depth <= DEEPEST && seen < MOST_FOLDERS; depth++) {
    const below: string[] = [];
    for (const folder of level.slice(0, MOST_FOLDERS - seen)) {
      for (const name of await subfolders(folder)) below.push(join(folder, name));
    }
    for (const folder of below) if (await isFile(join(folder, "index.html"))) found.push(folder);
    seen += below.length;
    level = below;
  }
  return found.map((folder) => relative(cwd, folder).split(sep).join("/"));
}

const isBuilt = (folder: string): boolean => KNOWN_PLACES.some((place) => place.test(folder)) || BUILT.test(folder);

/** A word in quotes if a shell needs them. */
export const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const hasBuildScript = async (cwd: string): Promise<boolean> =>
  typeof (await manifestOf(cwd))?.scripts?.build === "string";

/** A sentence with the exact command to run instead; `svc` is the command without the path. */
async function wayOut(cwd: string, svc: string): Promise<string> {
  const folders = await foldersWithIndex(cwd);
  const built = folders.find(isBuilt);
  if (built !== undefined) return `There is one in ${built}. Run: ${svc} ${quoted(built)}`;
  if (await hasBuildScript(cwd)) {
    const build = runScript(await packageManagerOf(cwd), "build");
    return `This project has a build script. Run: ${build} && ${svc}`;
  }
  if (await isFile(join(cwd, "index.html"))) return `There is an index.html right here. Run: ${svc} .`;
  if (folders[0] !== undefined) return `There is one in ${folders[0]}. Run: ${svc} ${quoted(folders[0])}`;
  return `Name the folder or file to deploy. Run: ${svc} <path>`;
}

/** The first candidate below `cwd` that has an index. */
export async function findBuildDir(cwd: string, svc = "svc"): Promise<string> {
  for (const candidate of BUILD_DIR_CANDIDATES) {
    const folder = join(cwd, candidate);
    if (await isFile(join(folder, "index.html"))) return folder;
  }
  const tried = BUILD_DIR_CANDIDATES.map((candidate) => `${candidate}/`).join(", ");
  throw new Error(`No build directory found: none of ${tried} has an index.html. ${await wayOut(cwd, svc)}`);
}

/**
 * The folder to deploy: `explicit` as it is when set, else the first of `BUILD_DIR_CANDIDATES` below `cwd` (default:
 * the current directory) that contains an `index.html`. Throws if there is none, with the command to run instead.
 */
export const resolveDeployDir = async (options: { cwd?: string; explicit?: string } = {}): Promise<string> =>
  options.explicit ?? findBuildDir(options.cwd ?? process.cwd());
