/** The failures among what a page asks for. */
import { MOST_ENTRIES, type SeenRequest } from "../job.ts";
import type { Params } from "../protocol/connection.ts";
import { kept, keptUrl } from "../texts.ts";

export interface Asking {
  isOwn(url: URL): boolean;
  now(): number;
  /** Nothing more is kept: the session may stop telling. */
  enough(domain: "Network", sessionId: string | undefined): void;
}

interface Sent {
  url: string;
  method: string;
  kind: string;
}

/** Past it nobody looks at requests any more. */
const MOST_REQUESTS = 3000;
const ELSEWHERE = "Refused: the render engine opens no host but the site's own.";
/** Asked by some browsers for themselves, wherever no page names another. */
const isImplied = ({ url, kind }: Sent): boolean => kind === "Other" && URL.parse(url)?.pathname === "/favicon.ico";
/** What only scripts ask for. */
const CALLED: ReadonlySet<string> = new Set(["Fetch", "XHR", "WebSocket", "EventSource", "Other"]);
const isNetwork = (url: string): boolean => /^(https?|wss?):/i.test(url);

type Handlers = Readonly<Record<string, (params: Params, sessionId: string | undefined) => void>>;

/** What failed, each address once. */
const keeping =
  (failed: SeenRequest[]) =>
  ({ url, method, kind }: Sent, status: number | null, reason: string, elsewhere = false): void => {
    const shown = keptUrl(url);
    if (failed.length >= MOST_ENTRIES || failed.some((one) => one.url === shown && one.status === status)) return;
    failed.push({ url: shown, method: kept(method, 20), status, reason: kept(reason), kind, elsewhere });
  };

/** What was sent, by its id; only what went to an own host is remembered. */
function sending({ isOwn, now, enough }: Asking, failed: SeenRequest[]) {
  const keep = keeping(failed);
  const sent = new Map<string, Sent>();
  const waiting = new Set<string>();
  let asked = 0;
  let changed = now();
  let lacks = false;
  const refuse = (request: Sent) => keep(request, null, ELSEWHERE, true);
  return {
    keep,
    refuse,
    of: (id: unknown) => sent.get(String(id)),
    /** `parsed`: an element of the page asks for it. */
    begin(id: unknown, request: Sent, sessionId: string | undefined, parsed = false): boolean {
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
export function watchRequests(asking: Asking, failed: SeenRequest[]) {
  const requests = sending(asking, failed);
  const { open, last_change, refuse, lacks } = requests;
  return { handlers: { ...requestEvents(requests), ...socketEvents(requests) }, open, last_change, refuse, lacks };
}
