/** The page's thread belongs to whoever looks at the page: long work on it lets others in between (WEB 4.4). */

/** Half of what a task may take there, and room for one more step. */
const STRETCH_MS = 40;

/** Awaited after each step: it comes back later where the thread was kept for long, and throws where `signal` ended it. */
export function breather(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < STRETCH_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    since = performance.now();
  };
}
