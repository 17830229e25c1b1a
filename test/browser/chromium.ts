/** A page in a real Chromium, and everything that went wrong while it loaded. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { browserProcesses } from "../kit/process.ts";
import { isBetweenPages, until } from "../kit/until.ts";

/** No request leaves the machine: whatever is not `*.localhost` has no address. */
const NOWHERE = "MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE localhost, EXCLUDE 127.0.0.1";
const SWITCHES = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"];
const VIEWPORT = { width: 1200, height: 800 };
const BLANK = "about:blank";
const QUIET_MS = 200;
const PATIENCE_MS = 15_000;
const RENDER_MS = 5000;

export interface Visit {
  /** The address bar at the end: a router may have moved it. */
  url: string;
  title: string;
  /** What a person sees of the body's text. */
  text: string;
  /** Requests that failed or were answered 4xx or 5xx, uncaught errors, errors on the console. */
  failures: string[];
  /** Whatever the console shows: what scripts write there, and what the browser complains of. */
  messages: string[];
}

export interface Browser {
  /** Loads a page and waits until it rests; with `shown`, until it shows that text too (but not for ever). */
  visit(url: string, shown?: string): Promise<Visit>;
  /** What the page shows once it rests, after a click or a key that may have led elsewhere. */
  shows(text: string): Promise<Visit>;
  evaluate<T>(expression: string): Promise<T>;
  click(selector: string): Promise<void>;
  /** Types where the focus is. */
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  cdp<T>(method: string, params?: Record<string, unknown>): Promise<T>;
  /** Hears an event of the DevTools protocol from now on. */
  on<T>(event: string, then: (data: T) => void): void;
  screenshot(): Promise<Uint8Array>;
  /** Ends the browser itself: its idle connections would keep a server's drain waiting. */
  close(): Promise<void>;
}

interface Traffic {
  failures: string[];
  messages: string[];
  /** By id. */
  open: Map<string, Pick<Sent, "loaderId" | "frameId"> & { url: string }>;
  last_change: number;
}

interface Sent {
  requestId: string;
  /** Empty for a worker's own script, whose answer is told to the worker. */
  loaderId: string;
  frameId?: string;
  request: { url: string };
}
interface Answered extends Pick<Sent, "loaderId" | "frameId"> {
  requestId: string;
  type: string;
  response: { url: string; status: number };
}
interface Failed {
  requestId: string;
  errorText: string;
}
interface Thrown {
  exceptionDetails: { text: string; exception?: { description?: string } };
}
interface Logged {
  entry: { level: string; text: string };
}
const NETWORK = /^(https?|wss?):/;
/** Browsers ask for it by themselves: a site without one is whole. */
const IMPLIED = "/favicon.ico";

const atRest = (): Traffic => ({ failures: [], messages: [], open: new Map(), last_change: performance.now() });

function listen(view: Bun.WebView, traffic: () => Traffic): void {
  const urls = new Map<string, string>();
  const on = <T>(event: string, then: (data: T) => void) =>
    view.addEventListener(event, (message) => {
      traffic().last_change = performance.now();
      then((message as MessageEvent<T>).data);
    });
  const fail = (what: string) => void traffic().failures.push(what);
  on<Sent>("Network.requestWillBeSent", ({ requestId, loaderId, frameId, request }) => {
    urls.set(requestId, request.url);
    if (NETWORK.test(request.url) && loaderId !== "")
      traffic().open.set(requestId, { url: request.url, loaderId, frameId });
  });
  on<Answered>("Network.responseReceived", ({ type, loaderId, frameId, response: { url, status } }) => {
    if (status >= 400 && new URL(url).pathname !== IMPLIED) fail(`${status} ${url}`);
    if (type !== "Document") return;
    // A page that left as soon as it had an answer is told of no end of that.
    for (const [id, one] of traffic().open) {
      if (one.frameId === frameId && one.loaderId !== loaderId) traffic().open.delete(id);
    }
  });
  on<{ requestId: string }>("Network.loadingFinished", ({ requestId }) => traffic().open.delete(requestId));
  on<Failed>("Network.loadingFailed", ({ requestId, errorText }) => {
    traffic().open.delete(requestId);
    fail(`${errorText} ${urls.get(requestId)}`);
  });
  on<Logged>("Log.entryAdded", ({ entry: { level, text } }) => void traffic().messages.push(`${level}: ${text}`));
  on<Thrown>("Runtime.exceptionThrown", ({ exceptionDetails: { text, exception } }) =>
    fail(exception?.description ?? text),
  );
}

/** Until nothing was asked or answered for a while. A page that never rests is judged as it is. */
async function settle(traffic: Traffic, quiet_ms: number, patience_ms: number): Promise<void> {
  const deadline = performance.now() + patience_ms;
  while (performance.now() < deadline) {
    if (traffic.open.size === 0 && performance.now() - traffic.last_change > quiet_ms) return;
    await Bun.sleep(25);
  }
  traffic.failures.push(...[...traffic.open.values()].map(({ url }) => `never answered: ${url}`));
}

const TRIES = 5;
/** A page that is on its way to another one, as a test before left it, answers nothing that was asked of it: what can be
 *  asked twice is asked again of the next one. */
async function steady<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !isBetweenPages(error)) throw error;
      await Bun.sleep(50);
    }
  }
}

const SEEN = "[document.body?.innerText ?? '', document.title, location.href, document.readyState]";

/** What a person sees of the page, once it is read to its end and shows what was asked for: a framework may render after it
 *  has loaded. */
async function look(view: Bun.WebView, shown: string): Promise<Omit<Visit, "failures" | "messages">> {
  const deadline = performance.now() + RENDER_MS;
  for (;;) {
    const [text, title, url, state] = await steady(() => view.evaluate<[string, string, string, string]>(SEEN));
    const there = state !== "loading" && text.includes(shown);
    if (there || performance.now() > deadline) return { text, title, url };
    await Bun.sleep(50);
  }
}

export interface BrowserOptions {
  /** Names that lead to a server under test: `*.svc.test` → `127.0.0.1:4321`. */
  domains?: Record<string, string>;
  switches?: string[];
  /** Each page comes in a fresh process, for whoever measures a first visit or tries what processes keep apart. Else those of one site
   *  come in one, as to a visitor who goes through it: a third less work. */
  cold?: boolean;
  /** How long nothing is asked nor answered by a page that rests: of an app that begins slowly, longer than usual. */
  quiet_ms?: number;
  /** How long a page may have before it is judged as it is. */
  patience_ms?: number;
}

/** On a busy machine it has ended before its answer was read. */
function unlessEnded(error: unknown): void {
  if (!/closed the pipe/.test(String(error))) throw error;
}

/** Bun lends a new view the browser of the last one until it has heard of that one's end, which comes later than its answer:
 *  such a view fails, and so does every other until then. */
let may_hear_an_end = false;
/** A browser that dies before it has shown anything is no page's fault: another one is started, and it is told. */
const STARTS = 3;
async function newView(options: Bun.WebView.ConstructorOptions): Promise<Bun.WebView> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let started = 1; ; started++) {
    let view: Bun.WebView | undefined;
    try {
      view = new Bun.WebView(options);
      await view.navigate(BLANK);
      await view.resize(VIEWPORT.width, VIEWPORT.height);
      return view;
    } catch (error) {
      view?.close();
      const died = /closed the pipe/.test(String(error)) && started < STARTS;
      if (died && !may_hear_an_end) console.error(`the browser died at its start, so another one is started: ${error}`);
      if ((!died && !may_hear_an_end) || performance.now() > deadline) throw error;
      await Bun.sleep(died ? 250 : 50);
    }
  }
}

async function closeBrowser(view: Bun.WebView): Promise<void> {
  may_hear_an_end = true;
  await view.cdp("Browser.close").catch(unlessEnded);
  view.close();
  await until(() => browserProcesses(process.pid).length === 0);
}

/** One browser a process; its views share cookies and storage, so each site should have a name of its own. */
export async function openBrowser(options: BrowserOptions = {}): Promise<Browser> {
  const { domains = {}, switches = [], cold = false, quiet_ms = QUIET_MS, patience_ms = PATIENCE_MS } = options;
  const rules = [...Object.entries(domains).map(([domain, address]) => `MAP ${domain} ${address}`), NOWHERE];
  const path = await chromiumPath();
  let traffic: Traffic = atRest();
  const view = await newView({
    ...VIEWPORT,
    backend: {
      type: "chrome",
      path,
      url: false,
      argv: [
        ...SWITCHES,
        ...(cold ? [] : ["--process-per-site"]),
        ...switches,
        `--host-resolver-rules=${rules.join(", ")}`,
      ],
    },
    console: (type, ...args) => {
      const text = args.map(String).join(" ");
      traffic.messages.push(`${type}: ${text}`);
      if (type === "error") traffic.failures.push(`console: ${text}`);
    },
  });
  for (const domain of ["Network", "Runtime", "Page", "Log"]) await view.cdp(`${domain}.enable`);
  listen(view, () => traffic);
  return {
    async visit(url, shown = "") {
      await steady(() => view.navigate(BLANK)); // a step to a fragment of the same page would load nothing
      traffic = atRest();
      const { failures, messages } = traffic;
      await steady(() => view.navigate(url));
      await settle(traffic, quiet_ms, patience_ms);
      return { ...(await look(view, shown)), failures, messages };
    },
    async shows(text) {
      const { failures, messages } = traffic;
      const seen = await look(view, text);
      await settle(traffic, quiet_ms, patience_ms);
      return { ...seen, failures, messages };
    },
    evaluate: (expression) => view.evaluate(expression),
    click: (selector) => view.click(selector),
    type: (text) => view.type(text),
    press: (key) => view.press(key),
    cdp: <T>(method: string, params?: Record<string, unknown>) =>
      method.startsWith("Emulation.")
        ? steady(() => view.cdp(method, params) as Promise<T>)
        : (view.cdp(method, params) as Promise<T>),
    on: <T>(event: string, then: (data: T) => void) =>
      view.addEventListener(event, (message) => then((message as MessageEvent<T>).data)),
    screenshot: () => view.screenshot({ encoding: "buffer" }),
    close: () => closeBrowser(view),
  };
}
