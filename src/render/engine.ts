/** The render engine: a browser looks at versions, bounded and behind a gate of its own. Looks at versions that wait,
 *  one page after the other. Without a browser that runs, each gets an outcome that says so. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../base/errors.ts";
import type { Bytes, Site } from "../base/types.ts";
import type { RenderOutcome, Renders, RenderSeen, RenderTask } from "../store/renders.ts";
import {
  type Chromium,
  type FromRender,
  MOST_PICTURE_BYTES,
  type Pictures,
  type RenderJob,
  type ToRender,
} from "./job.ts";
import { judge } from "./judge.ts";
import { PageGivenUp, type PageProcess, startPageProcess } from "./page-process.ts";

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
  /** Looks at the next one; null where none waits. */
  turn(): Promise<Looked | null>;
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

function outcomeOf(said: FromRender, { receipt }: RenderTask, hasRoom: boolean): RenderOutcome {
  if (!("seen" in said)) return failed("The browser gave no answer.");
  const { seen } = said;
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
function running(data_dir: string) {
  let last: PageProcess | null = null;
  const tmp = join(data_dir, "tmp");
  return {
    async run(make: (folder: string) => ToRender): Promise<FromRender> {
      mkdirSync(tmp, { recursive: true, mode: 0o700 }); // where somebody took it away
      const folder = mkdtempSync(join(tmp, "render-"));
      try {
        last = startPageProcess(make(folder));
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

export function createEngine(options: EngineOptions): Engine {
  const { data_dir, chrome, renders, siteOf, addressOf, hasRoom, say, clock } = options;
  const { run, kill } = running(data_dir);
  const theBrowser = keepingBrowser({ chrome, run, say });
  let stopped = false;

  async function lookAt(task: RenderTask): Promise<RenderOutcome> {
    if (task.tries > MOST_TRIES) return failed("The page was given up: the engine ended on it twice.");
    const site = await siteOf(task.site_id);
    if (site === null || site.disabled_reason !== null) return failed("The site is not served.");
    const chromium = await theBrowser().catch(() => null);
    if (chromium === null) return failed("The server has no browser that runs: its log says why.");
    try {
      const said = await run((folder) => ({ look: { ...chromium, folder, ...addressOf(task) } }));
      return outcomeOf(said, task, hasRoom());
    } catch (error) {
      if (error instanceof PageGivenUp) return failed(error.message);
      say(`${task.site_id} ${task.version_id} could not be looked at: ${(error as Error).message}`);
      return failed("The browser could not be started: the server's log says why.");
    }
  }
  return {
    async turn() {
      void theBrowser().catch(() => {}); // the log hears what is wrong with it at the start
      const task = await renders.take();
      if (task === null) return null;
      const began = clock();
      const outcome = await lookAt(task);
      if (stopped) return null; // it waits for the next start
      await settled(renders, task, outcome);
      return lookedOf(task, outcome, clock() - began);
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
