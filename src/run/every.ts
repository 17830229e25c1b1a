/** Work that is done again and again between requests. An error in it ends nothing: a disk, a database or the table of
 *  descriptors that fails now may be there at the next turn, and an exception that a timer lets through would end the
 *  server. */

/** `in_a_row`: how many turns have failed since one did not; 1 for the first. */
type Failed = (error: unknown, in_a_row: number) => void;

/** Does not keep the process alive, unless it is to. Work that returns a promise may still be under way at the next
 *  turn. */
export function every(ms: number, work: () => unknown, failed: Failed, { keeps_alive = false } = {}): { stop(): void } {
  let in_a_row = 0;
  async function turn(): Promise<void> {
    try {
      await work();
      in_a_row = 0;
    } catch (error) {
      failed(error, ++in_a_row);
    }
  }
  const timer = setInterval(() => void turn(), ms);
  if (!keeps_alive) timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** For the log, which a failure of each second would fill: the first in a row, the second, the fourth, the eighth … */
export const loggedBy =
  (log: { error(message: string, error: unknown): void }, what: string): Failed =>
  (error, in_a_row) => {
    if ((in_a_row & (in_a_row - 1)) === 0) log.error(in_a_row === 1 ? what : `${what} (${in_a_row} times)`, error);
  };

/** For work that says itself how it went: null for well, else what failed. */
export function countingFailures(failed: Failed): (error: string | null) => void {
  let in_a_row = 0;
  return (error) => (error === null ? void (in_a_row = 0) : failed(error, ++in_a_row));
}
