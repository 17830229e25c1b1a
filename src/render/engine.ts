/** The render engine: a browser looks at versions, bounded and behind a gate of its own. Looks at versions that wait,
 *  one page after the other. Without a browser that runs, each gets an outcome that says so. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../base/errors.ts";
import type { Bytes, Site } from "../base/types.ts";
import type { RenderOutcome, Renders, RenderSeen, RenderTask } from "../store/renders.ts";
import {
  type Chromium,
  type FromRender,
  MOST_PICTURE_BYTES,
  type PageSeen,
  type Pictures,
  type RenderJob,
  type ToRender,
} from "./job.ts";
import { judge } from "./judge.ts";
import { type ProcessDied, startJobChild } from "../run/child.ts";
import { every } from "../run/every.ts";
import { ownCommand, RENDER_COMMAND } from "../run/program.ts";

export interface Looked {
  site_id: string;
  slug: string;
  version_id: string;
  status: RenderOutcome["status"];
  reason: string | null;
  warnings: string[];
  ms: number;
}

interface EngineOptions {
  data_dir: string;
  /** SVC_CHROME. */
  chrome: string | null;
  renders: Renders;
  siteOf(site_id: string): Promise<Site | null>;
  /** The version's addresses. */
  addressOf(task: RenderTask): Pick<RenderJob, "url" | "version_host" | "server">;
  hasRoom(): boolean;
  /** Tells the operator something about the browser, once. */
  say(sentence: string): void;
  clock(): number;
}

interface Engine {
  /** Looks at the next one; null where none waits. `again`: that one waits once more. */
  turn(): Promise<Looked | "again" | null>;
  stop(): void;
}

/** A page that ended the engine itself so often is not tried again. */
const MOST_TRIES = 2;
const NOTHING: RenderSeen = { console: [], failed_requests: [], dom_summary: null };
const NO_PICTURES: Pictures = { desktop: null, phone: null };

const failed = (reason: string): RenderOutcome => ({
  status: "failed",
  reason,
  seen: NOTHING,
  warnings: [],
  pictures: NO_PICTURES,
});

/** A picture of the browser's is served from the API's host: it must be a WebP (RFC 9649) of bounded size. */
function soundPicture(bytes: Bytes | null): Bytes | null {
  if (bytes === null || bytes.length > MOST_PICTURE_BYTES) return null;
  const text = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString("latin1");
  return text(0, 4) === "RIFF" && text(8, 12) === "WEBP" ? bytes : null;
}

function outcomeOf(seen: PageSeen, { receipt }: RenderTask, hasRoom: boolean): RenderOutcome {
  const { console, dom_summary, reason, pictures } = seen;
  const failed_requests = seen.failed_requests.map(({ url, method, status, reason }) => ({
    url,
    method,
    status,
    reason,
  }));
  const desktop = hasRoom ? soundPicture(pictures.desktop) : null;
  const phone = hasRoom ? soundPicture(pictures.phone) : null;
  return {
    status: reason === null ? "done" : "failed",
    reason,
    seen: { console, failed_requests, dom_summary },
    warnings: judge(seen, receipt),
    pictures: { desktop, phone },
  };
}

/** A killed browser may still write for a moment, so removing is tried again; what is left goes with the next start. */
async function remove(folder: string): Promise<void> {
  for (let left = 20; left > 0; left--) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch {
      await Bun.sleep(50);
    }
  }
}

/** Runs one process after the other, each with a folder of its own. */
function running(data_dir: string, start: typeof startPageProcess) {
  let last: PageProcess | null = null;
  const tmp = join(data_dir, "tmp");
  return {
    async run(make: (folder: string) => ToRender, most_ms = MOST_MS): Promise<FromRender> {
      mkdirSync(tmp, { recursive: true, mode: 0o700 }); // where somebody took it away
      const folder = mkdtempSync(join(tmp, "render-"));
      try {
        last = start(make(folder), most_ms);
        return await last.done;
      } finally {
        last = null;
        await remove(folder);
      }
    },
    kill: () => last?.kill(),
  };
}

const lookedOf = (task: RenderTask, outcome: RenderOutcome, ms: number): Looked => {
  const { site_id, slug, version_id } = task;
  const { status, reason, warnings } = outcome;
  return { site_id, slug, version_id, status, reason, warnings: warnings.map(({ code }) => code), ms };
};

/** Twice what the quickest of the last pages took that came to rest, for a machine on which each takes long: at least SHORT_MS. */
function shortTurn() {
  const rested: number[] = [];
  return {
    ms: (): number => (rested.length === 0 ? SHORT_MS : Math.min(MOST_MS, Math.max(SHORT_MS, 2 * Math.min(...rested)))),
    note: (ms: number): void => void (rested.push(ms) > RESTED_KEPT && rested.shift()),
  };
}

/** Sources whose last page ran into the deadline; the oldest are forgotten. Their next page has a short turn, or one account of
 *  endless pages would have nearly all of the time (RELIABILITY A29). */
function lateSources() {
  const late = new Set<string>();
  const short = shortTurn();
  return {
    turnOf: ({ from }: Pick<RenderTask, "from">): number =>
      from.some((name) => late.has(name)) ? short.ms() : MOST_MS,
    note({ from }: Pick<RenderTask, "from">, { outcome, cut_off }: LookedAt, ms: number): void {
      if (outcome.status === "done") short.note(ms);
      for (const name of from) {
        late.delete(name);
        if (cut_off === "late") late.add(name);
      }
      for (const name of late) if (late.size > MOST_LATE) late.delete(name);
    },
  };
}

type LookedAt = Pick<PageSeen, "cut_off"> & { outcome: RenderOutcome };

const notSeen = (reason: string, cut_off: PageSeen["cut_off"] = null): LookedAt => ({
  outcome: failed(reason),
  cut_off,
});

export function createEngine(options: EngineOptions, start = startPageProcess): Engine {
  const { data_dir, chrome, renders, siteOf, addressOf, hasRoom, say, clock } = options;
  const { run, kill } = running(data_dir, start);
  const theBrowser = keepingBrowser({ chrome, run, say });
  const late = lateSources();
  let stopped = false;

  async function lookAt(task: RenderTask): Promise<LookedAt> {
    if (task.tries > MOST_TRIES) return notSeen("The page was given up: the engine ended on it twice.");
    const site = await siteOf(task.site_id);
    if (site === null || site.disabled_reason !== null) return notSeen("The site is not served.");
    if (site.access_hash !== null) return notSeen("The site wants a password, which the browser does not know.");
    const chromium = await theBrowser().catch(() => null);
    if (chromium === null) return notSeen("The server has no browser that runs: its log says why.");
    const most_ms = late.turnOf(task);
    try {
      const said = await run((folder) => ({ look: { ...chromium, folder, most_ms, ...addressOf(task) } }), most_ms);
      if (!("seen" in said)) return notSeen("The browser gave no answer.");
      return { outcome: outcomeOf(said.seen, task, hasRoom()), cut_off: said.seen.cut_off };
    } catch (error) {
      if (error instanceof PageGivenUp) return notSeen(error.message, error.cut_off);
      say(`${task.site_id} ${task.version_id} could not be looked at: ${(error as Error).message}`);
      return notSeen("The browser could not be started: the server's log says why.");
    }
  }
  return {
    async turn() {
      void theBrowser().catch(() => {}); // the log hears what is wrong with it at the start
      const task = await renders.take();
      if (task === null) return null;
      const began = clock();
      const looked_at = await lookAt(task);
      const { outcome, cut_off } = looked_at;
      const ms = clock() - began;
      if (stopped) return null; // it waits for the next start
      late.note(task, looked_at, ms);
      // A kernel without memory, or an operator: that says nothing of the page.
      if (cut_off === "killed" && task.tries < MOST_TRIES) {
        say(`${task.site_id} ${task.version_id} is tried once more: a signal ended the browser that looked at it`);
        return "again";
      }
      await settled(renders, task, outcome);
      return lookedOf(task, outcome, ms);
    },
    stop() {
      stopped = true;
      kill();
    },
  };
}

/** A disk that has no room for pictures may have some for words. */
async function settled(renders: Renders, task: RenderTask, outcome: RenderOutcome): Promise<void> {
  try {
    await renders.settle(task, outcome);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await renders.settle(task, { ...outcome, pictures: NO_PICTURES });
  }
}

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** Throws a sentence for the operator. `named`: SVC_CHROME. */
function findChromium(named: string | null): string {
  const found = named === null ? NAMES.map((name) => Bun.which(name)).find((path) => path !== null) : Bun.which(named);
  if (found) return found;
  throw new Error(
    named === null
      ? `no browser was found: install chromium, or name one in SVC_CHROME (looked for ${NAMES.join(", ")} on PATH)`
      : `there is no program ${named}: SVC_CHROME must be a path to Chromium or Chrome`,
  );
}

/** The line that matters of a browser's complaint: one about the sandbox, else the last. */
function complaintOf(text: string): string {
  const lines = text.trim().split("\n");
  const line = lines.find((one) => /sandbox/i.test(one)) ?? lines.at(-1)!;
  return line.replace(/^\[[^\]]*\] ?/, "").slice(0, 300);
}

interface Trying {
  /** SVC_CHROME. */
  chrome: string | null;
  run(make: (folder: string) => ToRender): Promise<FromRender>;
  /** Once. */
  say(sentence: string): void;
}

/** Looks for a browser once, and tries it with its sandbox, else without. Rejects with a sentence when none runs. */
function keepingBrowser({ chrome, run, say }: Trying): () => Promise<Chromium> {
  async function troubleWith(chromium: Chromium): Promise<string | null> {
    const answer = run((folder) => ({ try: { ...chromium, folder } }));
    const said = await answer.catch((error: Error) => ({ trouble: error.message }));
    return "trouble" in said ? said.trouble : "it gave no answer";
  }
  async function find(): Promise<Chromium> {
    const program = findChromium(chrome);
    const why = await troubleWith({ program, sandbox: true });
    if (why === null) return { program, sandbox: true };
    const trouble = await troubleWith({ program, sandbox: false });
    if (trouble !== null) throw new Error(`${program} does not run: ${complaintOf(trouble)}`);
    const at = 'see "Receipts of a browser" in docs/self-hosting.md';
    say(
      `${program} runs without its sandbox, which this user or kernel does not allow it (${complaintOf(why)}): ${at}`,
    );
    return { program, sandbox: false };
  }
  let found: Promise<Chromium> | undefined;
  return () =>
    (found ??= find().catch((error: Error) => {
      say(`no version is looked at: ${error.message}`);
      throw error;
    }));
}

// The process that looks at one page, as the engine sees it: bounded in time and memory, and ended with all that it started.

const renderCommand = (): string[] => ownCommand(RENDER_COMMAND, new URL("./entry.ts", import.meta.url));

const MOST_MS = 20_000;
/** For whoever ran into the deadline last time. */
const SHORT_MS = 5000;
const RESTED_KEPT = 8;
const MOST_LATE = 1000;
const MOST_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 100;

/** It was ended, or died: a sentence for the site's owner. */
class PageGivenUp extends Error {
  override readonly name = "PageGivenUp";
  constructor(
    message: string,
    readonly cut_off: PageSeen["cut_off"],
  ) {
    super(message);
  }
}

interface PageProcess {
  /** Rejects with `PageGivenUp`. */
  done: Promise<FromRender>;
  kill(): void;
}

const tooLong = (ms: number): string =>
  `The page was given up after ${Math.round(ms / 1000)} seconds: it kept the browser busy${ms < MOST_MS ? ", as the one before it did" : ""}.`;
const tooLarge = "The page was given up: it took more than 512 MB of memory.";
const died = "The browser that looked at the page crashed.";

/** Throws when the machine gives no process. */
export function startPageProcess(message: ToRender, most_ms = MOST_MS, command = renderCommand()): PageProcess {
  const child = startJobChild<ToRender, FromRender>(command, { group: true });
  const given_up = Promise.withResolvers<never>();
  const giveUp = (error: PageGivenUp) => {
    given_up.reject(error);
    child.kill();
  };
  const answer = child.run(message).catch(({ signal }: ProcessDied) => {
    throw new PageGivenUp(died, signal === null ? null : "killed");
  });
  const { folder } = "look" in message ? message.look : message.try;
  const late = setTimeout(giveUp, most_ms, new PageGivenUp(tooLong(most_ms), "late"));
  const watch = every(
    LOOK_MS,
    () => memoryOfGroup(child.pid, folder) > MOST_BYTES && giveUp(new PageGivenUp(tooLarge, null)),
    () => {},
  );
  const done = Promise.race([answer, given_up.promise]).finally(() => {
    clearTimeout(late);
    watch.stop();
    child.kill();
  });
  done.catch(() => {}); // the caller hears of it
  return { done, kill: child.kill };
}

const TMPFS = 0x01021994;
/** Address range, permissions, offset, device, inode, path of a shared mapping of a file. */
const SHARED = /^([\da-f]+)-([\da-f]+) ..[x-]s ([\da-f]+) (\S+ \d+) +(\/.*)$/gm;

/** By file, which several processes map: how far its mappings reach, in bytes. */
type FileSizes = Map<string, number>;

function addFiles(files: FileSizes, pid: string, folder: string): void {
  for (const [, from, to, offset, file, path] of readFileSync(`/proc/${pid}/maps`, "latin1").matchAll(SHARED)) {
    if (!path!.startsWith(folder)) continue;
    const end = parseInt(offset!, 16) + parseInt(to!, 16) - parseInt(from!, 16);
    files.set(file!, Math.max(files.get(file!) ?? 0, end));
  }
}

/** In bytes; 0 for a process of another group, or one that is gone. `folder`: null when its files are counted as shared pages. */
function memoryIfOf(group: number, pid: string, files: FileSizes, folder: string | null): number {
  try {
    // Behind the name, which may hold anything: state, parent, group.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) !== group) return 0;
    if (folder !== null) addFiles(files, pid, folder);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const of = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return (of("RssAnon") + of("RssShmem")) * 1024;
  } catch {
    return 0;
  }
}

/** The folder as mappings name it; null where it is a part of memory, whose pages are shared ones. */
function onDisk(folder: string): string | null {
  return Number(statfsSync(folder).type) === TMPFS ? null : `${realpathSync(folder)}/`;
}

/** Bytes that the processes of a group hold in memory: their own pages, shared ones, and files of `folder` that replace shared
 *  memory when /dev/shm has no room. The browser's program and libraries are not counted. 0 when the platform cannot tell. */
function memoryOfGroup(group: number, folder: string): number {
  let sum = 0;
  const files: FileSizes = new Map();
  try {
    const on_disk = onDisk(folder);
    for (const pid of readdirSync("/proc")) if (/^\d/.test(pid)) sum += memoryIfOf(group, pid, files, on_disk);
  } catch {} // no /proc, or no descriptor: the browser has bounds of its own
  return [...files.values()].reduce((all, bytes) => all + bytes, sum);
}
