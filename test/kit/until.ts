/** Waits for what happens in its own time, and fails where it never does. The patience is for machines that are busy:
 *  no test asks how long it took. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 10;

/** A browser's error where it was asked something of a page that is on its way to another one. */
export const isBetweenPages = (error: unknown): boolean =>
  /navigated or closed|context was destroyed/.test(String(error));

async function holds(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await condition();
  } catch (error) {
    if (isBetweenPages(error)) return false;
    throw error;
  }
}

export async function until(condition: () => boolean | Promise<boolean>, pause_ms = PAUSE_MS): Promise<void> {
  const giveUp = performance.now() + PATIENCE_MS;
  while (!(await holds(condition))) {
    if (performance.now() > giveUp) throw new Error(`it did not happen within ${PATIENCE_MS / 1000} s: ${condition}`);
    await Bun.sleep(pause_ms);
  }
}
