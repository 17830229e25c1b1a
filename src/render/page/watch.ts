/** Hears what a page and its frames and workers say, ask and throw, as far as it is kept. */
import type { ConsoleEntry, PageError, SeenRequest } from "../job.ts";
import { MOST_ENTRIES } from "../job.ts";
import type { Event, Params } from "../protocol/connection.ts";
import { kept, keptUrl } from "../texts.ts";
import { createAlone } from "./alone.ts";
import { type Asking, watchRequests } from "./requests.ts";

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

interface Options extends Asking {
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

/** Where: lines are counted from 1 for people. */
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

export function createWatch(options: Options): Watch {
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
    refuse: requests.refuse,
  };
}
