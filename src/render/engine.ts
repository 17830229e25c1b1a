/** Looks at what waits, one page after the other. Where there is no browser, or none that runs, each is told so. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../errors.ts";
import type { RenderOutcome, Renders, RenderSeen, RenderTask } from "../store/renders.ts";
import type { Bytes, Site } from "../types.ts";
import { findChromium } from "./find.ts";
import {
  type Chromium,
  type FromRender,
  MOST_PICTURE_BYTES,
  type Pictures,
  type RenderJob,
  type ToRender,
} from "./job.ts";
import { judge } from "./judge.ts";
import { type PageProcess, startPageProcess } from "./page-process.ts";

export interface Looked {
  site_id: string;
  slug: string;
  version_id: string;
  status: RenderOutcome["status"];
  reason: string | null;
  warnings: string[];
  ms: number;
}

interface Options {
  data_dir: string;
  /** SVC_CHROME. */
  chrome: string | null;
  renders: Renders;
  siteOf(site_id: string): Promise<Site | null>;
  /** Of the version's addresses. */
  addressOf(task: RenderTask): Pick<RenderJob, "url" | "version_host" | "server">;
  hasRoom(): boolean;
  /** What whoever runs the server should know of the browser, once. */
  say(sentence: string): void;
  clock(): number;
}

export interface Engine {
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

/** What the browser hands over is served from the API's host: a WebP (RFC 9649) of bounded size, or nothing. */
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

export function createEngine(options: Options): Engine {
  const { data_dir, chrome, renders, siteOf, addressOf, hasRoom, say, clock } = options;
  let running: PageProcess | null = null;
  let browser: Promise<Chromium> | undefined;

  async function run(make: (folder: string) => ToRender): Promise<FromRender> {
    const folder = mkdtempSync(join(data_dir, "tmp", "render-"));
    try {
      running = startPageProcess(make(folder));
      return await running.done;
    } finally {
      running = null;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  }
  async function troubleWith(chromium: Chromium): Promise<string | null> {
    const said = await run((folder) => ({ try: { ...chromium, folder } })).catch((error: Error) => ({
      trouble: error.message,
    }));
    return "trouble" in said ? said.trouble : "it gave no answer";
  }
  /** Once a start: with its sandbox, else without. */
  async function findBrowser(): Promise<Chromium> {
    const program = findChromium(chrome);
    const safe = { program, sandbox: true };
    const why = await troubleWith(safe);
    if (why === null) return safe;
    const trouble = await troubleWith({ program, sandbox: false });
    if (trouble !== null) throw new Error(`${program} does not run: ${lastLine(trouble)}`);
    say(
      `${program} runs without its sandbox, which this kernel or user does not allow it: see docs/self-hosting.md (${lastLine(why)})`,
    );
    return { program, sandbox: false };
  }
  const theBrowser = (): Promise<Chromium> =>
    (browser ??= findBrowser().catch((error: Error) => {
      say(`there are no receipts of a browser: ${error.message}`);
      throw error;
    }));

  async function lookAt(task: RenderTask): Promise<RenderOutcome> {
    if (task.tries > MOST_TRIES) return failed("The page was given up: the engine ended on it twice.");
    const site = await siteOf(task.site_id);
    if (site === null || site.disabled_reason !== null) return failed("The site is not served.");
    try {
      const chromium = await theBrowser();
      const said = await run((folder) => ({ look: { ...chromium, folder, ...addressOf(task) } }));
      return outcomeOf(said, task, hasRoom());
    } catch (error) {
      return failed((error as Error).message);
    }
  }
  return {
    async turn() {
      void theBrowser().catch(() => {}); // what is wrong with it is told at the start
      const task = await renders.take();
      if (task === null) return null;
      const began = clock();
      const outcome = await lookAt(task);
      await settled(renders, task, outcome);
      const { site_id, slug, version_id } = task;
      const { status, reason, warnings } = outcome;
      const codes = warnings.map(({ code }) => code);
      return { site_id, slug, version_id, status, reason, warnings: codes, ms: clock() - began };
    },
    stop: () => running?.kill(),
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

const lastLine = (text: string): string =>
  text
    .split("\n")
    .at(-1)!
    .replace(/^\[[^\]]*\] ?/, "")
    .slice(0, 300);
