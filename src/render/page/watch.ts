/** Hears what a page and its frames and workers say, ask and throw, as far as it is kept. */
import type { ConsoleEntry, PageError, SeenRequest } from "../job.ts";
import { MOST_ENTRIES } from "../job.ts";
import type { Event, Params } from "../protocol/connection.ts";
import { kept, keptUrl } from "../texts.ts";

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

interface Options {
  isOwn(url: URL): boolean;
  now(): number;
  /** Nothing more of it is kept: the session may stop telling. */
  enough(domain: "Runtime" | "Network", sessionId: string | undefined): void;
}

interface Sent {
  url: string;
  method: string;
  kind: string;
}

/** Past it nobody looks at requests any more. */
const MOST_REQUESTS = 3000;
export const ELSEWHERE = "Refused: the render engine opens no host but the site's own.";
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

/** Where: lines are counted from 1 for people. */
const placeOf = (frame: Frame | undefined) => ({
  url: frame?.url ? keptUrl(frame.url) : null,
  line: typeof frame?.lineNumber === "number" ? frame.lineNumber + 1 : null,
});

const parsed = (url: string): URL | null => URL.parse(url);
const isNetwork = (url: string): boolean => /^(https?|wss?):/i.test(url);

function consoleEntry({ type, args, stackTrace }: Params): ConsoleEntry {
  const text = (args as Remote[]).slice(0, 20).map((arg) => textOf(arg).slice(0, 1000));
  const frames = (stackTrace as { callFrames?: Frame[] } | undefined)?.callFrames;
  return { level: LEVELS[String(type)] ?? "log", text: kept(text.join(" ")), ...placeOf(frames?.[0]) };
}

function pageError({ exceptionDetails }: Params): PageError {
  const { text, exception, url, lineNumber, stackTrace } = exceptionDetails as Frame & {
    text: string;
    exception?: Remote;
    stackTrace?: { callFrames?: Frame[] };
  };
  const what = exception === undefined ? text : `${text} ${textOf(exception)}`.replace(/^Uncaught (?=Uncaught)/, "");
  const first = what.split("\n    at ")[0]!;
  return { text: kept(first), ...placeOf(url ? { url, lineNumber } : stackTrace?.callFrames?.[0]) };
}

/** The failures among what is asked. */
function watchRequests({ isOwn, now, enough }: Options, failed: SeenRequest[]) {
  const sent = new Map<string, Sent>();
  const waiting = new Set<string>();
  let asked = 0;
  let changed = now();

  const keep = (request: Sent, status: number | null, reason: string, elsewhere: boolean): void => {
    const { url, method, kind } = request;
    if (failed.length >= MOST_ENTRIES || failed.some((one) => one.url === keptUrl(url) && one.status === status))
      return;
    failed.push({ url: keptUrl(url), method: kept(method, 20), status, reason: kept(reason), kind, elsewhere });
  };
  const goesElsewhere = (url: string): boolean => {
    const target = parsed(url);
    return target === null || !isOwn(target);
  };
  const done = (id: string): void => {
    waiting.delete(id);
    changed = now();
  };
  const handlers: Readonly<Record<string, (params: Params, sessionId: string | undefined) => void>> = {
    "Network.requestWillBeSent"({ requestId, request, type }, sessionId) {
      const { url, method } = request as { url: string; method: string };
      if (!isNetwork(url)) return;
      if (++asked > MOST_REQUESTS) return enough("Network", sessionId);
      const id = String(requestId);
      sent.set(id, { url, method, kind: String(type ?? "Other") });
      if (goesElsewhere(url)) return keep(sent.get(id)!, null, ELSEWHERE, true);
      waiting.add(id);
      changed = now();
    },
    "Network.webSocketCreated"({ requestId, url }) {
      sent.set(String(requestId), { url: String(url), method: "GET", kind: "WebSocket" });
      if (goesElsewhere(String(url))) keep(sent.get(String(requestId))!, null, ELSEWHERE, true);
    },
    "Network.webSocketFrameError"({ requestId, errorMessage }) {
      const request = sent.get(String(requestId));
      if (request && !goesElsewhere(request.url)) keep(request, null, String(errorMessage), false);
    },
    "Network.responseReceived"({ requestId, response }) {
      const { status, statusText } = response as { status: number; statusText: string };
      const request = sent.get(String(requestId));
      if (!request || status < 400 || goesElsewhere(request.url)) return;
      keep(request, status, statusText || `The server answered ${status}.`, false);
    },
    "Network.loadingFinished": ({ requestId }) => done(String(requestId)),
    "Network.loadingFailed"({ requestId, errorText, canceled, blockedReason }) {
      done(String(requestId));
      const request = sent.get(String(requestId));
      if (!request || canceled === true || goesElsewhere(request.url)) return;
      keep(request, null, blockedReason ? `${errorText} (${blockedReason})` : String(errorText), false);
    },
  };
  return { handlers, keep, open: () => waiting.size, last_change: () => changed };
}

export function createWatch(options: Options): Watch {
  const [entries, errors, failed_requests]: [ConsoleEntry[], PageError[], SeenRequest[]] = [[], [], []];
  const requests = watchRequests(options, failed_requests);
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
      if (errors.length < MOST_ENTRIES) errors.push(pageError(params));
      if (errors.length >= MOST_ENTRIES) options.enough("Runtime", sessionId);
    },
    "Log.entryAdded"({ entry }) {
      const { level, text, url, lineNumber, source } = entry as Frame & Record<string, unknown>;
      if (source === "network" || entries.length >= MOST_ENTRIES) return; // it stands among the requests
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
    refuse: (request) => requests.keep(request, null, ELSEWHERE, true),
  };
}
