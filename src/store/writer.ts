/** The thread of writes, as the serving thread sees it: it is asked by name, and no page waits while it waits for the
 *  database. It is started by the first write, and anew by the next one if it died. */
import { CallLost, callThread } from "../run/thread.ts";
import type { Elsewhere } from "./groups.ts";
import { refusals } from "./refusals.ts";

/** Writes that wait for their answer; more are refused. */
const MOST_WAITING = 256;
/** With so many waiting, an optional write is left out. */
const BUSY = 64;

/** The data that the thread is started with. */
export interface WriterData {
  data_dir: string;
  /** Events in comments go into the outbox. */
  announces: boolean;
}

export interface WriteOrder {
  /** A group of operations (groups.ts), `store`, or `rates`. */
  group: string;
  name: string;
  args: readonly unknown[];
  /** The service's clock at the time of the order. */
  now: number;
}

export interface Writer {
  /** Runs an operation in the thread. Throws 503 if the thread has no turn for it. */
  call: Elsewhere;
  isBusy(): boolean;
  /** Resolves when everything that was asked is answered and the thread has ended; what is asked later is refused. */
  close(): Promise<void>;
}

export function startWriter(data: WriterData, now: () => number, url: string | URL): Writer {
  const thread = callThread<WriteOrder, unknown>(url, data);

  async function call(group: string, name: string, args: readonly unknown[]): Promise<unknown> {
    if (thread.waiting() >= MOST_WAITING) throw refusals.busy();
    try {
      return await thread.call({ group, name, args, now: now() });
    } catch (error) {
      if (!(error instanceof CallLost)) throw error;
      // A thread that never ran has written nothing. One that died at work may have been in a COMMIT: its outcome is unknown.
      throw error.fate === "not started"
        ? refusals.busy()
        : refusals.commitUnknown(`the thread of writes is gone: ${error.message}`);
    }
  }
  return { call, isBusy: () => thread.waiting() >= BUSY, close: thread.close };
}
