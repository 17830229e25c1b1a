/** Keys that are changed while what they signed goes on to count, as a process that runs for months has them: read anew now
 *  and then, and where a key is named that it does not know, for another process may sign with it already. */
import { UNIT_MS } from "../../base/units.ts";
import { type Key, readRing, type Ring } from "./secrets.ts";

const READ_ANEW_MS = 10 * UNIT_MS.m;
/** Whoever names keys that are none makes it read no oftener. */
const ASKED_ANEW_MS = UNIT_MS.s;

interface Keyring {
  /** That signs. */
  newest(): Key;
  find(kid: string): Key | undefined;
}

export function openKeyring(data_dir: string, ring: Ring, now: () => number): Keyring {
  let keys = readRing(data_dir, ring);
  let read_at = now();
  function read(): void {
    read_at = now();
    try {
      const found = readRing(data_dir, ring);
      if (found.length > 0) keys = found;
    } catch {
      // What was read before goes on to count; the sweep says that the file is damaged.
    }
  }
  /** A clock that was set back counts as long past. */
  const isOlderThan = (ms: number): boolean => Math.abs(now() - read_at) >= ms;
  const known = (kid: string): Key | undefined => keys.find((one) => one.kid === kid);
  return {
    newest() {
      if (isOlderThan(READ_ANEW_MS)) read();
      return keys[0]!;
    },
    find(kid) {
      const found = known(kid);
      if (found !== undefined || !isOlderThan(ASKED_ANEW_MS)) return found;
      read();
      return known(kid);
    },
  };
}
