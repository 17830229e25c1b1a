/** One page from its first byte to its
 *  pictures, as a visitor would see it. */
import { type Connection, type Event, type Params, startBrowser } from "./browser.ts";
import { openGate } from "./gate.ts";
import { type DomSummary, kept, MOST_PICTURE_BYTES, type PageSeen, type Pictures, type RenderJob } from "./job.ts";
import { tellOfScripts } from "./alone.ts";
import { createWatch, type Watch } from "./watch.ts";
import { inflateSync } from "node:zlib";
import type { Bytes } from "../base/types.ts";

/** Before the server ends this process it says what it has. */
const IN_TIME = 0.9;
/** Its pipes may close before its end is known. */
const ENDING_MS = 500;
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

class TooLate extends Error {
  override readonly name = "TooLate";
}

/** Rejects with a sentence after so long. */
function deadline(ms: number): { late: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const sentence = "The page did not come to rest in time: a script of it may never end.";
  const timer = setTimeout(() => reject(new TooLate(sentence)), ms);
  return { late: promise, stop: () => clearTimeout(timer) };
}

async function cutOff(error: unknown, killed: Promise<boolean>): Promise<PageSeen["cut_off"]> {
  if (error instanceof TooLate) return "late";
  return (await Promise.race([killed, Bun.sleep(ENDING_MS).then(() => false)])) ? "killed" : null;
}

export async function visit(job: RenderJob): Promise<PageSeen> {
  const { late, stop } = deadline(IN_TIME * job.most_ms);
  const gate = await openGate(job);
  const ears: ((event: Event) => void)[] = [];
  const heard = (event: Event) => ears.forEach((ear) => ear(event));
  const { killed, ...connection } = startBrowser({ ...job, gate: gate.port, heard });
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
    (seen) => ({ ...seen, reason: null, cut_off: null }),
    async (error: unknown) => ({
      ...nothingSeen,
      reason: (error as Error).message,
      cut_off: await cutOff(error, killed),
    }),
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

// The one page that is looked at, with its frames and workers: each must report before it begins. Anything else that opens
// is closed.

interface Page {
  send<T = Params>(method: string, params?: Params): Promise<T>;
  /** Resolves with why it can be looked at no longer. */
  crashed: Promise<string>;
}

const ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
const MOST_TARGETS = 200;

interface Attached {
  sessionId: string;
  targetInfo: { targetId: string; type: string };
}

type Quiet = (method: string, params?: Params, sessionId?: string) => void;

/** Sends without waiting for the answer: a target may be gone before it is asked. */
const quietly =
  (connection: Pick<Connection, "send">): Quiet =>
  (method, params, sessionId) =>
    void connection.send(method, params, sessionId).catch(() => {});

function tellAll(quiet: Quiet, sessionId: string): void {
  quiet("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, sessionId);
  quiet("Runtime.enable", {}, sessionId);
  quiet("Log.enable", {}, sessionId);
  quiet("Target.setAutoAttach", ATTACH, sessionId);
}

/** Hears everything but the watch's own. */
function createTargets(connection: () => Connection) {
  const quiet: Quiet = (...sent) => quietly(connection())(...sent);
  const crash = Promise.withResolvers<string>();
  let page: string | null = null;
  let attached = 0;

  function meet({ sessionId, targetInfo: { targetId, type } }: Attached): void {
    if (targetId !== page && (type === "page" || type === "tab" || type === "webview")) {
      quiet("Runtime.runIfWaitingForDebugger", {}, sessionId); // else it holds up the page that opened it
      return quiet("Target.closeTarget", { targetId });
    }
    if (++attached > MOST_TARGETS) return quiet("Target.detachFromTarget", { sessionId });
    if (targetId !== page) tellAll(quiet, sessionId);
    quiet("Runtime.runIfWaitingForDebugger", {}, sessionId);
  }
  const handlers: Readonly<Record<string, (params: Params, sessionId: string | undefined) => void>> = {
    "Target.attachedToTarget": (params) => meet(params as unknown as Attached),
    "Inspector.targetCrashed": () => crash.resolve("The page crashed: it may need more memory than it is given."),
    "Page.javascriptDialogOpening": (_, sessionId) =>
      quiet("Page.handleJavaScriptDialog", { accept: false }, sessionId),
  };
  return {
    heard: ({ method, params, sessionId }: Event) => handlers[method]?.(params, sessionId),
    async open(): Promise<Page & { session: string }> {
      const session = await openPage(connection(), quiet, (targetId) => void (page = targetId));
      return { session, crashed: crash.promise, send: (method, params) => connection().send(method, params, session) };
    },
  };
}

/** In a context that leaves nothing on the disk. Says its session. */
async function openPage({ send }: Connection, quiet: Quiet, named: (targetId: string) => void): Promise<string> {
  const { browserContextId } = await send<{ browserContextId: string }>("Target.createBrowserContext");
  quiet("Browser.setDownloadBehavior", { behavior: "deny", browserContextId });
  const url = "about:blank";
  const { targetId } = await send<{ targetId: string }>("Target.createTarget", { url, browserContextId });
  named(targetId);
  const { sessionId } = await send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
  tellAll(quiet, sessionId);
  quiet("Target.setAutoAttach", ATTACH);
  return sessionId;
}

/** Keeps frames from going elsewhere: an error page of the browser's would take their place. */
function keepAtHome(page: Page, quiet: Quiet, session: string, isOwn: (url: URL) => boolean, watch: Watch) {
  quiet("Fetch.enable", { patterns: [{ urlPattern: "*", resourceType: "Document" }] }, session);
  return ({ method, params, sessionId }: Event): void => {
    if (method !== "Fetch.requestPaused") return;
    const { requestId, request } = params as { requestId: string; request: { url: string; method: string } };
    const url = URL.parse(request.url);
    if (url !== null && isOwn(url)) return quiet("Fetch.continueRequest", { requestId }, sessionId);
    watch.refuse({ url: request.url, method: request.method, kind: "Document" });
    quiet("Fetch.failRequest", { requestId, errorReason: "Aborted" }, sessionId);
  };
}

// How a page looks: WebP in two sizes, and whether all of it is one colour.

interface Size {
  width: number;
  height: number;
}

const DESKTOP = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
const PHONE = { width: 390, height: 844, deviceScaleFactor: 1, mobile: true };
const QUALITIES = [80, 50, 20];
/** For what hangs on the size to be drawn anew. */
const REDRAW_MS = 250;

const bytesOf = (base64: string): Bytes => new Uint8Array(Buffer.from(base64, "base64"));

async function capture(page: Page, options: Readonly<Record<string, unknown>>): Promise<Bytes> {
  const { data } = await page.send<{ data: string }>("Page.captureScreenshot", { ...options, optimizeForSpeed: false });
  return bytesOf(data);
}

/** For a page that is noise: only its colours are left. */
async function blurred(picture: Bytes, { width, height }: Size): Promise<Bytes | null> {
  const small = await new Bun.Image(picture)
    .resize(width >> 2, height >> 2)
    .png()
    .bytes();
  const bytes = await new Bun.Image(small).resize(width, height).webp({ quality: 20 }).bytes();
  return bytes.length <= MOST_PICTURE_BYTES ? new Uint8Array(bytes) : null;
}

/** Null when nothing makes it small enough. */
async function smallPicture(page: Page, size: Size): Promise<Bytes | null> {
  let picture: Bytes | null = null;
  for (const quality of QUALITIES) {
    picture = await capture(page, { format: "webp", quality });
    if (picture.length <= MOST_PICTURE_BYTES) return picture;
  }
  return picture && blurred(picture, size).catch(() => null);
}

const showDesktop = (page: Page): Promise<unknown> => page.send("Emulation.setDeviceMetricsOverride", DESKTOP);

/** At the size that the page has now. */
const looksBlank = async (page: Page): Promise<boolean> => isOneColour(await capture(page, { format: "png" }));

async function takePictures(page: Page): Promise<Pictures> {
  const desktop = await smallPicture(page, DESKTOP);
  await page.send("Emulation.setDeviceMetricsOverride", PHONE);
  await Bun.sleep(REDRAW_MS);
  return { desktop, phone: await smallPicture(page, PHONE) };
}

/** Whether a PNG of the browser's shows one colour alone (PNG 1.2: 8 bits a channel, no interlace). */

const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes of a pixel by type of colour. */
const PIXEL: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

function chunksOf(png: Uint8Array): { head: Buffer; data: Buffer } | null {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  let head: Buffer | null = null;
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 8, at + 8 + size);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IHDR") head = body;
    if (type === "IDAT") parts.push(body);
    at += size + 12;
  }
  return head === null ? null : { head, data: Buffer.concat(parts) };
}

/** Filters 0 to 4 tell a byte by its neighbours: left, above, their mean, Paeth's choice. Where all pixels are alike the
 *  neighbours are too, but for those of the first row and column. */
function unfilter(rows: Buffer, stride: number, pixel: number): boolean {
  let above = Buffer.alloc(stride);
  const first = Buffer.alloc(pixel);
  for (let at = 0, row = 0; at + stride < rows.length + 1 && at < rows.length; at += stride + 1, row++) {
    const filter = rows[at]!;
    const line = Buffer.from(rows.subarray(at + 1, at + 1 + stride));
    for (let i = 0; i < stride; i++) {
      const left = i >= pixel ? line[i - pixel]! : 0;
      const corner = i >= pixel ? above[i - pixel]! : 0;
      line[i] = (line[i]! + predicted(filter, left, above[i]!, corner)) & 255;
      if (row === 0 && i < pixel) first[i] = line[i]!;
      if (line[i] !== first[i % pixel]) return false;
    }
    above = line;
  }
  return true;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** False for what it cannot read: such a picture is not called blank. */
function isOneColour(png: Uint8Array): boolean {
  const parts = chunksOf(png);
  const pixel = parts && parts.head[8] === 8 && parts.head[12] === 0 ? PIXEL[parts.head[9]!] : undefined;
  if (!parts || pixel === undefined) return false;
  try {
    const rows = inflateSync(parts.data, { maxOutputLength: MOST_BYTES });
    return unfilter(rows, parts.head.readUInt32BE(0) * pixel, pixel);
  } catch {
    return false;
  }
}
