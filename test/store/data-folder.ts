/** Each file of the data folder missing, empty, garbage, or of another kind, before a start and while a server runs. A start
 *  either comes up, serves right bytes or an error, and takes deploys; or it is refused with a sentence that names the
 *  file and says what to do, and has removed nothing. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blobFile } from "../kit/operator.ts";
import { deployProcesses, local, type ServerProcess, sharedPages, startProcess } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";

const TEXT = "what the page says";
const OTHER = "what another file says";
const BLOB = blobFile("", OTHER);

type Harm = (path: string) => void;
const remove: Harm = (path) => rmSync(path, { recursive: true, force: true });

/** In its place: whoever has the file open or mapped meets it. */
function overwrite(path: string, bytes: string | Uint8Array): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) remove(path);
  writeFileSync(path, bytes);
}

const HARMS: Readonly<Record<string, Harm>> = {
  missing: remove,
  empty(path) {
    overwrite(path, "");
  },
  garbage(path) {
    overwrite(path, Buffer.alloc(20_000, "no such thing "));
  },
  "a folder"(path) {
    remove(path);
    mkdirSync(path);
  },
};

/** What is to come of it: the status of the file that was deployed before, or what the start says. */
type Outcome = 200 | 404 | 500 | RegExp;

const LOST = /database .*db is (gone|empty).*Put db and db-wal back, or restore a backup/;
const NO_FILE = /is no file where svc-server keeps one: move it away/;
const NO_FOLDER = /is no folder where svc-server keeps one: move it away/;
const KEYS = /secrets is damaged: restore it from a backup, or remove it/;

/** Below the data folder → what becomes of a start after each harm, in the order of `HARMS`. The newest deploys stand in `db-wal` alone:
 *  whoever loses it loses them. */
const FILES: Readonly<Record<string, readonly Outcome[]>> = {
  db: [LOST, LOST, /db is damaged .*restore a backup/, NO_FILE],
  "db-wal": [404, 404, 404, NO_FILE],
  "db-shm": [200, 200, 200, NO_FILE],
  "lock.db": [200, 200, /lock\.db is damaged .*remove that file/, NO_FILE],
  "rates.db": [200, 200, 200, NO_FILE],
  secrets: [200, KEYS, KEYS, NO_FILE],
  "brands.txt": [200, 200, 200, NO_FILE],
  ballast: [200, 200, 200, NO_FILE],
  tmp: [200, NO_FOLDER, NO_FOLDER, 200],
  "tmp/left": [200, 200, 200, /tmp\/left is a folder where svc-server keeps files: move it away/],
  blobs: [500, NO_FOLDER, NO_FOLDER, 500],
  [BLOB]: [500, 500, 500],
  [BLOB.slice(0, 8)]: [500, NO_FOLDER, NO_FOLDER, 500],
  generation: [200, 200, 200, 200],
  metrics: [200, 200, 200, 200],
};

export const CASES = Object.entries(FILES).flatMap(([file, outcomes]) =>
  Object.keys(HARMS)
    .slice(0, outcomes.length)
    .map((harm, n) => ({ file, harm, outcome: outcomes[n]! })),
);

export interface Site {
  slug: string;
}

async function deploy(server: Pick<ServerProcess, "port">, text: string): Promise<{ status: number; site: Site }> {
  const answer = await fetch(`${local(server)}/sites`, {
    method: "POST",
    body: zipOf({ "index.html": text, "other.txt": OTHER }),
    headers: { "content-type": "application/zip" },
  });
  return { status: answer.status, site: (await answer.json()) as Site };
}

async function get(server: Pick<ServerProcess, "port">, { slug }: Site, path: string): Promise<[number, string]> {
  const headers = { host: `${slug}.localhost`, connection: "close" };
  const answer = await fetch(`${local(server)}${path}`, { headers });
  return [answer.status, await answer.text()];
}

/** A data folder as kill -9 leaves it, with a site in it whose rows stand in the write-ahead log. */
export async function makeFolder(data_dir: string, command?: string[]): Promise<Site> {
  await (await startProcess(["--data-dir", data_dir, "--log", "off"], { command })).end();
  const server = await startProcess(["--data-dir", data_dir, "--log", "off"], { command });
  const { site } = await deploy(server, TEXT);
  // One that hears of its server's end before the kernel ends it closes the database, and the log goes into it.
  for (const pid of deployProcesses(server.pid)) process.kill(pid, "SIGKILL");
  await server.end();
  rmSync(join(data_dir, "ballast")); // each copy would take its time
  writeFileSync(join(data_dir, "tmp", "left"), "of a deploy that was cut short");
  return site;
}

const PAGES = ["generation", "metrics"];
const pathOf = (data_dir: string, file: string): string =>
  PAGES.includes(file) ? sharedPages(data_dir)[PAGES.indexOf(file)]! : join(data_dir, file);

export function harmedCopy(made: string, data_dir: string, { file, harm }: { file: string; harm: string }): void {
  cpSync(made, data_dir, { recursive: true });
  HARMS[harm]!(pathOf(data_dir, file));
}

function same(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

/** How many blobs there are; a start that is refused has removed none. */
export const blobsIn = (data_dir: string): number =>
  existsSync(join(data_dir, "blobs")) && statSync(join(data_dir, "blobs")).isDirectory()
    ? readdirSync(join(data_dir, "blobs"), { recursive: true }).filter((name) => String(name).length > 60).length
    : 0;

/** Never wrong bytes; what is deployed now is served, and heals what a deploy can heal. */
export async function worksOn(server: Pick<ServerProcess, "port">, site: Site, status: 200 | 404 | 500): Promise<void> {
  const [found, text] = await get(server, site, "/other.txt");
  same("the file of before", found, status);
  if (found === 200) same("its bytes", text, OTHER);
  const made = await deploy(server, "deployed after it");
  same("a deploy", made.status, 200);
  const [page, other] = [await get(server, made.site, "/"), await get(server, made.site, "/other.txt")];
  same("its page", [page[0], page[1].includes("deployed after it")], [200, true]);
  same("its file", other, [200, OTHER]);
}

/** What a running server answered, and whether it is still there. */
interface Seen {
  before: number;
  deploy: number | null;
  ended: number | null;
}

const orNull = <T>(promise: Promise<T>): Promise<T | null> => promise.catch(() => null);

/** Harms a file of a server that runs. Each answer is right or an error; the server may end (a page that SQLite maps was
 *  cut: SIGBUS), and must come up again where a start is not refused. */
export async function harmRunning(data_dir: string, site: Site, one: { file: string; harm: string }): Promise<Seen> {
  const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
  try {
    await get(server, site, "/");
    HARMS[one.harm]!(pathOf(data_dir, one.file));
    // A page that was cut is whole again some milliseconds later; who asks in between ends the process.
    if (PAGES.includes(one.file)) await Bun.sleep(50);
    const before = await orNull(get(server, site, "/other.txt"));
    if (before?.[0] === 200) same("bytes of a running server", before[1], OTHER);
    const made = await orNull(deploy(server, "while it runs"));
    const ended = await Promise.race([server.exited, Bun.sleep(300).then(() => null)]);
    return { before: before?.[0] ?? 0, deploy: made?.status ?? null, ended };
  } finally {
    await server.end();
  }
}
