/** From what was dropped, picked or pasted to the files that will be sent: their paths (WEB 4.1) and what stays behind
 *  (WEB 4.2). The same list and the same rules as the command line, so the same folder is the same version. */
import { droppedAs } from "../../../base/reserved-paths.ts";
import { IGNORE_FILE, type Ignored, parseIgnore } from "../../../client/ignore.ts";

/** A file or a folder as the browser gives it. */
export type GivenEntry = GivenFile | GivenFolder;
interface GivenFile {
  name: string;
  file(): Promise<File>;
}
interface GivenFolder {
  name: string;
  list(): Promise<GivenEntry[]>;
}

export interface Found {
  /** Relative to the root of the site, `/` separators, NFC. */
  path: string;
  file: File;
  /** Asked of the file once: of a picked one the browser must ask the disk, and the page's thread waits for it. */
  bytes: number;
}

export interface Collected {
  /** The files, in the order of their paths. */
  files: Found[];
  /** Paths that are never published, which may surprise. A folder, with its slash, means everything below it. */
  secrets: string[];
  /** The text of each `.svcignore`, by the folder that holds it. */
  rules: Map<string, File>;
  /** Whether there was anything at all. */
  empty: boolean;
  /** The walk ended at `MOST_FOUND`. */
  more: boolean;
}

/** The most files of a walk: fifty times what a server takes by default. More means a wrong folder, whose walk might
 *  never end. */
export const MOST_FOUND = 10_000;

/** A problem that a person can solve, in a sentence. */
export class Unusable extends Error {
  override readonly name = "Unusable";
}

export const unreadable = (path: string): Unusable =>
  new Unusable(`${path} could not be read, so nothing was published.`);

const isFolder = (given: GivenEntry): given is GivenFolder => "list" in given;
const keepsAll: Ignored = () => false;
const joined = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`).normalize("NFC");

/** A folder is judged by its own name and as the folder that files lie in: what is left out is never opened. */
function fateOf(path: string, folder: boolean, ignored: Ignored): "kept" | "secret" | "left" {
  const dropped = droppedAs(path) ?? (folder ? droppedAs(`${path}/`) : null);
  if (dropped === "secret") return "secret";
  const name = path.slice(path.lastIndexOf("/") + 1);
  return dropped !== null || name === IGNORE_FILE || ignored(path, folder) ? "left" : "kept";
}

async function opened<T>(path: string, open: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await open();
  } catch {
    signal.throwIfAborted();
    throw unreadable(path);
  }
}

interface Walk extends Collected {
  ignored: Ignored;
  signal: AbortSignal;
  breathe(): Promise<void>;
}

async function addFiles(walk: Walk, folder: string, given: readonly GivenFile[]): Promise<void> {
  const room = MOST_FOUND - walk.files.length;
  if (given.length > room) walk.more = true;
  const taken = given.slice(0, room).map(async ({ name, file }) => {
    const path = joined(folder, name);
    return { path, file: await opened(path, file, walk.signal) };
  });
  for (const { path, file } of await Promise.all(taken)) {
    walk.files.push({ path, file, bytes: file.size });
    await walk.breathe();
  }
}

async function readRules(walk: Walk, folder: string, entries: readonly GivenEntry[]): Promise<void> {
  const entry = entries.find((one): one is GivenFile => one.name === IGNORE_FILE && !isFolder(one));
  if (entry) walk.rules.set(folder, await opened(joined(folder, IGNORE_FILE), entry.file, walk.signal));
}

async function walkFolder(walk: Walk, folder: string, entries: readonly GivenEntry[]): Promise<void> {
  walk.signal.throwIfAborted();
  await readRules(walk, folder, entries);
  if (folder === "") walk.ignored = await rulesOf(walk, "");
  const kept: GivenEntry[] = [];
  for (const entry of entries) {
    const path = joined(folder, entry.name);
    const fate = fateOf(path, isFolder(entry), walk.ignored);
    if (fate === "secret") walk.secrets.push(isFolder(entry) ? `${path}/` : path);
    if (fate === "kept") kept.push(entry);
    await walk.breathe();
  }
  await addFiles(
    walk,
    folder,
    kept.filter((entry): entry is GivenFile => !isFolder(entry)),
  );
  for (const entry of kept.filter(isFolder)) {
    if (walk.more) return;
    const path = joined(folder, entry.name);
    await walkFolder(walk, path, await opened(path, entry.list, walk.signal));
  }
}

async function rulesOf({ rules }: Pick<Collected, "rules">, folder: string): Promise<Ignored> {
  const file = rules.get(folder);
  return file === undefined ? keepsAll : parseIgnore(await file.text());
}

/** Refuses names in composed and decomposed letters: a disk can have both, and they would be one address. */
function refuseTwins(files: readonly Found[]): void {
  const twin = files.find(({ path }, i) => path === files[i - 1]?.path);
  if (twin) {
    throw new Unusable(
      `${twin.path} is there twice, in two Unicode spellings, so nothing was published. Rename one of them.`,
    );
  }
}

/** Collects the files of a drop. One folder is the site itself and loses its name; several things keep their names at
 *  the root. */
export async function collect(given: readonly GivenEntry[], signal: AbortSignal): Promise<Collected> {
  const [first] = given;
  const alone = given.length === 1 && first !== undefined && isFolder(first);
  const roots = alone ? await opened(first.name, first.list, signal) : given;
  const walk: Walk = {
    files: [],
    secrets: [],
    rules: new Map(),
    empty: roots.length === 0,
    more: false,
    ignored: keepsAll,
    signal,
    breathe: breather(signal),
  };
  await walkFolder(walk, "", roots);
  walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  walk.secrets.sort();
  refuseTwins(walk.files);
  return walk;
}

/** The files inside one folder, as if that folder had been given: its own `.svcignore` counts, too. */
export async function within(collected: Collected, folder: string): Promise<Collected> {
  const inside = `${folder}/`;
  const ignored = await rulesOf(collected, folder);
  const files = collected.files
    .filter(({ path }) => path.startsWith(inside))
    .map((found) => ({ ...found, path: found.path.slice(inside.length) }))
    .filter(({ path }) => !ignored(path, false));
  const secrets = collected.secrets.flatMap((path) => (path.startsWith(inside) ? path.slice(inside.length) : []));
  return { ...collected, files, secrets };
}

/** Milliseconds of work before the page's thread is free for other tasks (WEB 4.4): half of what a task may take. */
const STRETCH_MS = 40;

/** Awaited after each step: gives the thread back if it was kept for long, and throws if `signal` ended. */
function breather(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < STRETCH_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    since = performance.now();
  };
}
