/** Stands first in the head of every page with comments (COMMENTS 4 and 5): draws the launcher, says how many threads there
 *  are, and fetches the widget once somebody selects text, asks for a thread, or there is one to pin. */
import { askThreads, COMMENTS } from "./call.ts";
import type { Handover } from "./handover.ts";
import { isDark } from "./page/theme.ts";
import { loaderCss } from "./style/index.ts" with { type: "macro" };
import type { start } from "./widget.ts";

declare const WIDGET_PATH: string;

/** Whether the page is in a frame of another site. */
function isForeign(): boolean {
  try {
    return top!.location.origin !== location.origin;
  } catch {
    return true;
  }
}

/** Puts the host after the body, where no framework looks, and a layer over everything into it. */
function layerIn(host: HTMLElement, root: ShadowRoot): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(loaderCss());
  root.adoptedStyleSheets = [sheet];
  const layer = document.createElement("div");
  layer.className = isDark() ? "layer dark" : "layer";
  layer.popover = "manual";
  layer.lang = "en";
  root.append(layer);
  document.documentElement.append(host);
  layer.showPopover?.();
  return layer;
}

function launcherOf(layer: HTMLElement, threads: number): HTMLButtonElement {
  const region = document.createElement("div");
  region.role = "region";
  region.ariaLabel = "Comment threads";
  const button = document.createElement("button");
  button.className = "launcher";
  button.textContent = "Comments";
  if (threads > 0) {
    const count = document.createElement("span");
    count.ariaHidden = "true";
    count.textContent = String(threads);
    button.append(count);
    button.ariaDescription = threads + (threads > 1 ? " threads" : " thread");
  }
  region.append(button);
  layer.append(region);
  return button;
}

/** Makes the launcher a link to the page of all threads, if the page forbids what the widget needs. */
function leadToView(launcher: HTMLElement, at_once: boolean): void {
  const link = document.createElement("a");
  link.className = "launcher";
  link.href = `${COMMENTS}view?page=${encodeURIComponent(location.pathname)}`;
  link.textContent = "Comments";
  launcher.replaceWith(link);
  if (at_once) link.click();
}

const bodyThere = (): Promise<unknown> | null =>
  document.readyState === "loading"
    ? new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve))
    : null;

async function load(): Promise<void> {
  const path = location.pathname;
  const first = await askThreads(path);
  await bodyThere();
  // Without comments there is nothing to show; a page that forbids the call leads to them.
  if (![0, 200, 401].includes(first.status) || document.querySelector("svc-comments")) return;
  const threads = (first.body.threads as unknown[] | undefined)?.length ?? 0;
  const host = document.createElement("svc-comments");
  const root = host.attachShadow({ mode: "open" });
  const layer = layerIn(host, root);
  const foreign = isForeign();
  const launcher = foreign ? null : launcherOf(layer, threads);
  if (first.status === 0) return void (launcher && leadToView(launcher, false));
  const handover = { host, root, layer, launcher, path, first, foreign, pressed: false };
  listen(handover, threads > 0);
}

function listen(handover: Handover, has_threads: boolean): void {
  const { launcher } = handover;
  const ending = new AbortController();
  const until = { signal: ending.signal };
  const wake = (): void => {
    if (ending.signal.aborted) return;
    ending.abort();
    import(WIDGET_PATH).then(
      (widget: { start: typeof start }) => widget.start(handover),
      () => launcher && leadToView(launcher, handover.pressed),
    );
  };
  const wakeAtHash = () => location.hash.startsWith("#svc-") && wake();
  const wakeElsewhere = () => location.pathname !== handover.path && wake();
  // Also while the widget is on its way: it opens the panel once it is there.
  launcher?.addEventListener("click", () => ((handover.pressed = true), wake()));
  document.addEventListener("selectionchange", () => getSelection()?.type === "Range" && wake(), until);
  addEventListener("hashchange", wakeAtHash, until);
  window.navigation?.addEventListener("currententrychange", wakeElsewhere, until);
  wakeAtHash();
  if (has_threads) (window.requestIdleCallback ?? setTimeout)(wake);
}

void load();
