/** One page from its first byte to its
 *  pictures, as a visitor would see it. */
import { type Connection, type Event, startBrowser } from "../browser.ts";
import { openGate } from "../gate.ts";
import { type DomSummary, kept, type RenderJob, type PageSeen } from "../job.ts";
import { tellOfScripts } from "./alone.ts";
import { looksBlank, showDesktop, takePictures } from "./pictures.ts";
import { createTargets, keepAtHome, type Page, quietly } from "./targets.ts";
import { createWatch, type Watch } from "./watch.ts";

/** The server ends this process after 20 s: before that it says what it has. */
const MOST_MS = 18_000;
/** A page that asks for something for ever is looked at as it is then. */
const SETTLE_MS = 8000;
const QUIET_MS = 500;
/** A page without a word may be about to show some. */
const BLANK_MS = 2500;
const STEP_MS = 50;

const nothingSeen = { dom_summary: null, blank: false, pictures: { desktop: null, phone: null } };

async function until(done: () => boolean, most_ms: number): Promise<void> {
  for (const end = performance.now() + most_ms; !done() && performance.now() < end;) await Bun.sleep(STEP_MS);
}

interface Loading {
  /** Also where it was about to go elsewhere, and was kept. */
  loaded: boolean;
  /** The status of the page itself; null until it is answered. */
  status: number | null;
}

function hearLoading(state: Loading, { method, params, sessionId }: Event, session: string): void {
  if (sessionId !== session) return;
  if (method === "Page.loadEventFired" || method === "Page.frameStoppedLoading") state.loaded = true;
  if (method !== "Network.responseReceived" || params["type"] !== "Document") return;
  state.status ??= (params["response"] as { status: number }).status;
}

/** Throws a sentence where it cannot be seen. */
async function look(page: Page, url: string, watch: Watch, state: Loading) {
  await page.send("Page.enable");
  await page.send("Page.setInterceptFileChooserDialog", { enabled: true });
  await tellOfScripts(page);
  await showDesktop(page);
  const { errorText } = await page.send<{ errorText?: string }>("Page.navigate", { url });
  if (errorText !== undefined) throw new Error(`The page could not be opened: ${errorText}.`);
  const rests = () => state.loaded && watch.open() === 0 && performance.now() - watch.last_change() > QUIET_MS;
  await until(rests, SETTLE_MS);
  if (state.status !== null && state.status >= 400) throw new Error(`The page was answered ${state.status}.`);
  let dom_summary = await summarise(page);
  let blank = dom_summary.text_length === 0 && (await looksBlank(page));
  for (const end = performance.now() + BLANK_MS; blank && performance.now() < end;) {
    await Bun.sleep(QUIET_MS);
    dom_summary = await summarise(page);
    blank = dom_summary.text_length === 0 && (await looksBlank(page));
  }
  return { dom_summary, blank, pictures: await takePictures(page) };
}

/** Rejects with a sentence after so long. */
function deadline(ms: number): { late: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const sentence = "The page did not come to rest in time: a script of it may never end.";
  const timer = setTimeout(() => reject(new Error(sentence)), ms);
  return { late: promise, stop: () => clearTimeout(timer) };
}

export async function visit(job: RenderJob): Promise<PageSeen> {
  const { late, stop } = deadline(MOST_MS);
  const gate = await openGate(job);
  const ears: ((event: Event) => void)[] = [];
  const heard = (event: Event) => ears.forEach((ear) => ear(event));
  const connection: Connection = startBrowser({ ...job, gate: gate.port, heard });
  const quiet = quietly(connection);
  const { isOwn } = gate;
  const enough = (domain: string, sessionId: string | undefined) => quiet(`${domain}.disable`, {}, sessionId);
  const watch = createWatch({ isOwn, now: () => performance.now(), enough });
  const targets = createTargets(() => connection);
  const state: Loading = { loaded: false, status: null };
  ears.push(targets.heard, watch.heard);
  const whole = (async () => {
    const page = await targets.open();
    ears.push(keepAtHome(page, quiet, page.session, isOwn, watch), (event) => hearLoading(state, event, page.session));
    const crashed = page.crashed.then((why) => Promise.reject(new Error(why)));
    return Promise.race([look(page, job.url, watch, state), crashed]);
  })();
  const found = await Promise.race([whole, late]).then(
    (seen) => ({ ...seen, reason: null }),
    (error: unknown) => ({ ...nothingSeen, reason: (error as Error).message }),
  );
  stop();
  gate.close();
  const { console, errors, failed_requests } = watch;
  return { console, errors, failed_requests, ...found };
}

const MOST_HEADINGS = 20;
const LONGEST_HEADING = 120;
const MOST_NODES = 100_000;

/** Elements by their names can shadow the document's own methods, so that these are taken from its class. What hangs in
 *  open shadow trees is read too. */
const EXPRESSION = `(() => {
  const all = (root, what) => (root === document ? Document : DocumentFragment).prototype.querySelectorAll.call(root, what);
  const roots = [document];
  for (let i = 0, left = ${MOST_NODES}; i < roots.length && left > 0; i++) {
    for (const element of all(roots[i], "*")) {
      if (--left < 0) break;
      if (element.shadowRoot) roots.push(element.shadowRoot);
    }
  }
  const count = (what) => roots.reduce((sum, root) => sum + all(root, what).length, 0);
  const read = (element) => String((element instanceof HTMLElement ? element.innerText : element.textContent) ?? "");
  const body = all(document, "body")[0];
  const inside = roots.slice(1).flatMap((root) => [...root.children].map(read));
  const text = [body ? read(body) : "", ...inside].join(" ");
  return {
    title: String(all(document, "title")[0]?.textContent ?? ""),
    headings: roots.flatMap((root) => [...all(root, "h1, h2, h3, h4, h5, h6")].slice(0, ${MOST_HEADINGS}).map(read))
      .slice(0, ${MOST_HEADINGS}),
    links: count("a[href], area[href]"),
    images: count("img, svg, canvas, picture > source, video"),
    text_length: text.replace(/\\s+/g, " ").trim().length,
  };
})()`;

const countOf = (value: unknown): number => (typeof value === "number" && value >= 0 ? Math.floor(value) : 0);

const asSummary = (found: Readonly<Record<string, unknown>>): DomSummary => ({
  title: kept(found["title"]).trim(),
  headings: (Array.isArray(found["headings"]) ? found["headings"] : [])
    .slice(0, MOST_HEADINGS)
    .map((heading) => kept(heading, LONGEST_HEADING).replace(/\s+/g, " ").trim())
    .filter((heading) => heading !== ""),
  links: countOf(found["links"]),
  images: countOf(found["images"]),
  text_length: countOf(found["text_length"]),
});

async function summarise(page: Page): Promise<DomSummary> {
  const { frameTree } = await page.send<{ frameTree: { frame: { id: string } } }>("Page.getFrameTree");
  const world = await page.send<{ executionContextId: number }>("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "svc",
  });
  const { result } = await page.send<{ result: { value?: unknown } }>("Runtime.evaluate", {
    expression: EXPRESSION,
    contextId: world.executionContextId,
    returnByValue: true,
    timeout: 3000,
  });
  const found = result.value;
  return asSummary(typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {});
}
