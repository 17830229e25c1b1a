/** Hears what a page and its frames and workers say, ask and throw, as far as it is kept. */
import type { Event, Params } from "./browser.ts";
import { type ConsoleEntry, kept, type PageError, type SeenRequest } from "./job.ts";
import { createAlone } from "./alone.ts";

export interface Watch {
  console: ConsoleEntry[];
  errors: PageError[];
  failed_requests: SeenRequest[];
  /** Own requests that wait for their answer. */
  open(): number;
  /** When traffic last changed, in milliseconds of this process. */
  last_change(): number;
  heard(event: Event): void;
  refuse(request: { url: string; method: string; kind: string }): void;
}

interface WatchOptions extends Asking {
  /** Nothing more of it is kept: the session may stop telling. */
  enough(domain: "Runtime" | "Network", sessionId: string | undefined): void;
}

const LEVELS: Readonly<Record<string, ConsoleEntry["level"]>> = {
  error: "error",
  assert: "error",
  warning: "warning",
  info: "info",
  debug: "debug",
};

interface Remote {
  value?: unknown;
  description?: string;
  unserializableValue?: string;
}

const textOf = ({ value, description, unserializableValue }: Remote): string =>
  typeof value === "string" ? value : (description ?? unserializableValue ?? JSON.stringify(value) ?? "");

interface Frame {
  url?: string;
  lineNumber?: number;
}

/** The place of an error or message: lines are counted from 1 for people. */
const placeOf = (frame: Frame | undefined) => ({
  url: frame?.url ? keptUrl(frame.url) : null,
  line: typeof frame?.lineNumber === "number" ? frame.lineNumber + 1 : null,
});

function consoleEntry({ type, args, stackTrace }: Params): ConsoleEntry {
  const text = (args as Remote[]).slice(0, 20).map((arg) => textOf(arg).slice(0, 1000));
  const frames = (stackTrace as { callFrames?: Frame[] } | undefined)?.callFrames;
  return { level: LEVELS[String(type)] ?? "log", text: kept(text.join(" ")), ...placeOf(frames?.[0]) };
}

function pageError({ exceptionDetails }: Params): Omit<PageError, "own"> {
  const { text, exception, url, lineNumber, stackTrace } = exceptionDetails as Frame & {
    text: string;
    exception?: Remote;
    stackTrace?: { callFrames?: Frame[] };
  };
  const what = exception === undefined ? text : `${text} ${textOf(exception)}`.replace(/^Uncaught (?=Uncaught)/, "");
  const first = what.split("\n    at ")[0]!;
  return { text: kept(first), ...placeOf(url ? { url, lineNumber } : stackTrace?.callFrames?.[0]) };
}

export function createWatch(options: WatchOptions): Watch {
  const [entries, errors, failed_requests]: [ConsoleEntry[], PageError[], SeenRequest[]] = [[], [], []];
  const requests = watchRequests(options, failed_requests);
  const alone = createAlone(requests.lacks);
  const full = (sessionId: string | undefined): void => {
    if (entries.length >= MOST_ENTRIES && errors.length >= MOST_ENTRIES / 5) options.enough("Runtime", sessionId);
  };
  let told = 0;
  const handlers: typeof requests.handlers = {
    ...requests.handlers,
    "Runtime.consoleAPICalled"(params, sessionId) {
      if (entries.length < MOST_ENTRIES) entries.push(consoleEntry(params));
      // A flood: what it drowns is worth less than what reading it costs.
      if (++told > 20 * MOST_ENTRIES) options.enough("Runtime", sessionId);
      full(sessionId);
    },
    "Runtime.exceptionThrown"(params, sessionId) {
      const own = alone.isOwn(params["exceptionDetails"] as Params);
      if (errors.length < MOST_ENTRIES) errors.push({ ...pageError(params), own });
      if (errors.length >= MOST_ENTRIES) options.enough("Runtime", sessionId);
    },
    "Runtime.bindingCalled": alone.heard,
    "Log.entryAdded"({ entry }) {
      const { level, text, url, lineNumber, source } = entry as Frame & Record<string, unknown>;
      if (source === "network" || entries.length >= MOST_ENTRIES) return; // it is among the requests
      const place = placeOf({ url, lineNumber });
      entries.push({ level: LEVELS[String(level)] ?? "info", text: kept(text), ...place });
    },
  };
  return {
    console: entries,
    errors,
    failed_requests,
    open: requests.open,
    last_change: requests.last_change,
    heard: ({ method, params, sessionId }) => handlers[method]?.(params, sessionId),
    refuse: requests.refuse,
  };
}

interface Asking {
  isOwn(url: URL): boolean;
  now(): number;
  /** Nothing more is kept: the session may stop telling. */
  enough(domain: "Network", sessionId: string | undefined): void;
}

interface SentRequest {
  url: string;
  method: string;
  kind: string;
}

/** Later requests are not looked at. */
const MOST_REQUESTS = 3000;
const ELSEWHERE = "Refused: the render engine opens no host but the site's own.";
/** Asked by some browsers for themselves, wherever no page names another. */
const isImplied = ({ url, kind }: SentRequest): boolean =>
  kind === "Other" && URL.parse(url)?.pathname === "/favicon.ico";
/** Kinds of requests that only scripts make. */
const CALLED: ReadonlySet<string> = new Set(["Fetch", "XHR", "WebSocket", "EventSource", "Other"]);
const isNetwork = (url: string): boolean => /^(https?|wss?):/i.test(url);

type Handlers = Readonly<Record<string, (params: Params, sessionId: string | undefined) => void>>;

/** Keeps failed requests, each address once. */
const keeping =
  (failed: SeenRequest[]) =>
  ({ url, method, kind }: SentRequest, status: number | null, reason: string, elsewhere = false): void => {
    const shown = keptUrl(url);
    if (failed.length >= MOST_ENTRIES || failed.some((one) => one.url === shown && one.status === status)) return;
    failed.push({ url: shown, method: kept(method, 20), status, reason: kept(reason), kind, elsewhere });
  };

/** Requests by their id; only those to an own host are remembered. */
function sending({ isOwn, now, enough }: Asking, failed: SeenRequest[]) {
  const keep = keeping(failed);
  const sent = new Map<string, SentRequest>();
  const waiting = new Set<string>();
  let asked = 0;
  let changed = now();
  let lacks = false;
  const refuse = (request: SentRequest) => keep(request, null, ELSEWHERE, true);
  return {
    keep,
    refuse,
    of: (id: unknown) => sent.get(String(id)),
    /** `parsed`: an element of the page asks for it. */
    begin(id: unknown, request: SentRequest, sessionId: string | undefined, parsed = false): boolean {
      if (++asked > MOST_REQUESTS) enough("Network", sessionId);
      const target = URL.parse(request.url);
      if (isImplied(request)) return false;
      if (target === null || !isOwn(target)) {
        lacks ||= CALLED.has(request.kind) || (request.kind === "Script" && !parsed);
        return (refuse(request), false);
      }
      sent.set(String(id), request);
      return true;
    },
    wait(id: unknown): void {
      waiting.add(String(id));
      changed = now();
    },
    done(id: unknown): void {
      waiting.delete(String(id));
      changed = now();
    },
    lacks: () => lacks,
    open: () => waiting.size,
    last_change: () => changed,
  };
}

const requestEvents = ({ begin, wait, done, of, keep }: ReturnType<typeof sending>): Handlers => ({
  "Network.requestWillBeSent"({ requestId, request, type, initiator }, sessionId) {
    const { url, method, headers } = request as { url: string; method: string; headers?: Record<string, string> };
    const is_worker = headers?.["Service-Worker"] === "script";
    const kind = is_worker ? "ServiceWorker" : String(type ?? "Other");
    const parsed = (initiator as { type?: string } | undefined)?.type === "parser";
    if (isNetwork(url) && begin(requestId, { url, method, kind }, sessionId, parsed)) wait(requestId);
  },
  "Network.responseReceived"({ requestId, response }) {
    const { status, statusText } = response as { status: number; statusText: string };
    const request = of(requestId);
    if (request && status >= 400) keep(request, status, statusText || `The server answered ${status}.`);
  },
  "Network.loadingFinished": ({ requestId }) => done(requestId),
  "Network.loadingFailed"({ requestId, errorText, canceled, blockedReason }) {
    done(requestId);
    const request = of(requestId);
    if (!request || canceled === true) return;
    keep(request, null, blockedReason ? `${errorText} (${blockedReason})` : String(errorText));
  },
});

const socketEvents = ({ begin, of, keep }: ReturnType<typeof sending>): Handlers => ({
  "Network.webSocketCreated": ({ requestId, url }, sessionId) =>
    void begin(requestId, { url: String(url), method: "GET", kind: "WebSocket" }, sessionId),
  "Network.webSocketFrameError"({ requestId, errorMessage }) {
    const request = of(requestId);
    if (request) keep(request, null, String(errorMessage));
  },
});

/** Hears the events of requests. */
function watchRequests(asking: Asking, failed: SeenRequest[]) {
  const requests = sending(asking, failed);
  const { open, last_change, refuse, lacks } = requests;
  return { handlers: { ...requestEvents(requests), ...socketEvents(requests) }, open, last_change, refuse, lacks };
}

/** Entries of each list. */
const MOST_ENTRIES = 50;

/** Data addresses are as long as what they hold. */
const keptUrl = (value: unknown): string =>
  typeof value === "string" && value.startsWith("data:") ? kept(value, 64) : kept(value);
