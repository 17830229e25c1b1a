/** The one page that is looked at, with its frames and workers: each must report before it begins. Anything else that opens is
 *  closed. */
import type { Connection, Event, Params } from "../browser.ts";
import type { Watch } from "./watch.ts";

export interface Page {
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
export const quietly =
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
export function createTargets(connection: () => Connection) {
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
export function keepAtHome(page: Page, quiet: Quiet, session: string, isOwn: (url: URL) => boolean, watch: Watch) {
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
