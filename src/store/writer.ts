/** The thread of writes, as the serving thread sees it: it is asked by name, and no page waits while it waits for the
 *  database. It is started by the first write, and anew by the next one if it died. */
import { fromFailure, type PlainFailure } from "../base/errors.ts";
import type { Elsewhere } from "./groups.ts";
import { busy, commitUnknown } from "./refusals.ts";

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
  id: number;
  /** A group of operations (groups.ts), `store`, or `rates`. */
  group: string;
  name: string;
  args: readonly unknown[];
  /** The service's clock at the time of the order. */
  now: number;
}

export type ToWriter = WriteOrder | "close";

/** `ready` comes once, before all others. */
export type FromWriter = "ready" | ({ id: number } & ({ value: unknown } | PlainFailure));

export interface Writer {
  /** Runs an operation in the thread. Throws 503 if the thread has no turn for it. */
  call: Elsewhere;
  isBusy(): boolean;
  /** Resolves when everything that was asked is answered and the thread has ended; what is asked later is refused. */
  close(): Promise<void>;
}

interface WriterThread {
  send(message: ToWriter): void;
  /** Resolves when it has ended, for any reason. */
  ended: Promise<void>;
}

type WaitingCalls = Map<number, PromiseWithResolvers<unknown>>;

function startThread(url: string | URL, data: WriterData, waiting: WaitingCalls, gone: () => void): WriterThread {
  const worker = new Worker(url, { workerData: data } as WorkerOptions);
  const ended = Promise.withResolvers<void>();
  let ready = false;
  let cause = "it ended by itself";

  worker.onmessage = ({ data }: MessageEvent<FromWriter>) => {
    if (data === "ready") return void (ready = true);
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ("value" in data) call?.resolve(data.value);
    else call?.reject(fromFailure(data));
  };
  worker.onerror = ({ message }) => void (cause = message);
  worker.addEventListener("close", () => {
    gone();
    // A thread that never ran has written nothing. One that died at work may have been in a COMMIT: its outcome is unknown.
    const error = ready ? commitUnknown(`the thread of writes is gone: ${cause}`) : busy();
    for (const call of waiting.values()) call.reject(error);
    waiting.clear();
    ended.resolve();
  });
  return { send: (message) => worker.postMessage(message), ended: ended.promise };
}

export function startWriter(data: WriterData, now: () => number, url: string | URL): Writer {
  const waiting: WaitingCalls = new Map();
  let thread: WriterThread | null = null;
  let last = 0;
  let closed = false;

  async function call(group: string, name: string, args: readonly unknown[]): Promise<unknown> {
    if (closed || waiting.size >= MOST_WAITING) throw busy();
    thread ??= startThread(url, data, waiting, () => void (thread = null));
    const id = ++last;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    thread.send({ id, group, name, args, now: now() });
    return answer.promise;
  }
  return {
    call,
    isBusy: () => waiting.size >= BUSY,
    async close() {
      // A request that was answered may ask for more before it answers in its turn.
      while (waiting.size > 0) {
        await Promise.allSettled([...waiting.values()].map(({ promise }) => promise));
        await Bun.sleep(0);
      }
      closed = true;
      if (thread === null) return;
      const { send, ended } = thread;
      send("close");
      await ended;
    },
  };
}
