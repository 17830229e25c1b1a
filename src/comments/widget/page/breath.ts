/** Long work in small pieces: a page that somebody reads must not stand still (COMMENTS 3: no task over 16 ms). */

const TASK_MS = 8;

/** Called between two pieces: waits for the page's turn where this one was long enough. */
export function breathing(): () => Promise<void> | null {
  let began = Date.now();
  return () => {
    if (Date.now() - began < TASK_MS) return null;
    return new Promise<void>((resolve) => setTimeout(resolve)).then(() => void (began = Date.now()));
  };
}
