/** Calls when what a page shows late may be there (COMMENTS 3): once it is loaded, a little later, and after changes for a
 *  while, which begins again with whatever is done there. */

const AFTER_LOAD_MS = [1000, 3000];
const WATCHED_MS = 15_000;
const REST_MS = 300;
/** A page with a clock never rests. */
const MOST_MS = 2000;
/** Events after which a passage that was gone may be back: somebody turned to a tab, or a list went on. */
const AGAIN = ["click", "scrollend"];

/** Ends what an earlier call began. */
export function watcher(look: () => void): () => void {
  let ended = new AbortController();
  return () => {
    ended.abort();
    ended = new AbortController();
    const { signal } = ended;
    if (document.readyState !== "complete") addEventListener("load", look, { signal, once: true });
    for (const ms of AFTER_LOAD_MS) setTimeout(() => signal.aborted || look(), ms);
    watchChanges(look, signal);
  };
}

function watchChanges(look: () => void, signal: AbortSignal): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ending: ReturnType<typeof setTimeout> | undefined;
  let first = 0;
  const rested = (): void => {
    first = 0;
    (window.requestIdleCallback ?? setTimeout)(() => signal.aborted || look());
  };
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    const now = Date.now();
    first ||= now;
    timer = setTimeout(rested, Math.min(REST_MS, first + MOST_MS - now));
  });
  const end = () => observer.disconnect();
  const begin = (): void => {
    clearTimeout(ending);
    observer.observe(document.documentElement, { childList: true, characterData: true, subtree: true });
    ending = setTimeout(end, WATCHED_MS);
  };
  begin();
  for (const name of AGAIN) addEventListener(name, begin, { signal, capture: true, passive: true });
  signal.addEventListener("abort", end);
}
