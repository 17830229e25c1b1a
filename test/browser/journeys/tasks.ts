/** How long the page's own thread was kept busy at a stretch, by Chromium's trace. In processor time: a machine that has
 *  other things to do makes every task longer than it is. */
import type { Browser } from "../chromium.ts";

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Of the thread's processor time, in microseconds. */
  tdur?: number;
  args: { name?: string };
}

export interface Watch {
  /** The longest task of a page's thread since the watch began, in milliseconds of processor time, and how many ran. */
  end(): Promise<{ longest_ms: number; tasks: number }>;
}

const CATEGORIES = ["toplevel", "__metadata"];

export async function watchTasks(browser: Browser): Promise<Watch> {
  const events: TraceEvent[] = [];
  const ended = Promise.withResolvers<void>();
  browser.on<{ value: TraceEvent[] }>("Tracing.dataCollected", ({ value }) => events.push(...value));
  browser.on("Tracing.tracingComplete", () => ended.resolve());
  const traceConfig = { includedCategories: CATEGORIES, recordMode: "recordAsMuchAsPossible" };
  await browser.cdp("Tracing.start", { traceConfig });
  return {
    async end() {
      await browser.cdp("Tracing.end");
      await ended.promise;
      const threads = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
      const own = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
      const tasks = events
        .filter(({ name, ph, pid, tid }) => name.endsWith("RunTask") && ph === "X" && own.has(`${pid} ${tid}`))
        .flatMap(({ tdur }) => (tdur === undefined ? [] : tdur / 1000)); // one that had begun before has none
      return { longest_ms: tasks.reduce((most, one) => Math.max(most, one), 0), tasks: tasks.length };
    },
  };
}

/** The longest task of `work`, in milliseconds. */
export async function longestTask(browser: Browser, work: () => Promise<unknown>): Promise<number> {
  await browser.visit("about:blank");
  const watch = await watchTasks(browser);
  await work();
  return (await watch.end()).longest_ms;
}

/** 500 lines, and a button beside each, all at once. */
const REFERENCE = `<!doctype html><title>Reference</title>${"<p>The tide falls.</p>".repeat(500)}<script>
  const root = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
  for (const { x, y } of [...document.querySelectorAll("p")].map((one) => one.getBoundingClientRect())) {
    const button = root.appendChild(document.createElement("button"));
    Object.assign(button.style, { position: "absolute", left: x + "px", top: y + "px" });
  }
  root.lastChild.getBoundingClientRect();
</script>`;
/** It takes so long on the machine that the limits of docs/design are for: reckoned from tasks whose length there is known. */
const REFERENCE_MS = 13;

/** How many times slower this machine is at a page's work than the one that limits of time are for; at least 1. The quickest
 *  of some runs counts. */
export async function pace(browser: Browser): Promise<number> {
  const took: number[] = [];
  for (let run = 0; run < 3; run++) {
    took.push(await longestTask(browser, () => browser.visit(`data:text/html,${encodeURIComponent(REFERENCE)}`)));
  }
  return Math.max(1, Math.min(...took) / REFERENCE_MS);
}
