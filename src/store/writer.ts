/** The thread of writes, as the serving thread sees it: it is asked by name, and no page waits while it waits for the
 *  database. It is started by the first write, and anew by the next one where it died. */
import { fromFailure } from "../base/errors.ts";
import { threadUrl } from "../run/thread.ts";
import type { Store } from "./embedded.ts";
import { busy, commitUnknown } from "./refusals.ts";
import type { RateCounts } from "./sqlite/rates.ts";
import type { FromWriter, Room, ToWriter, WriterData } from "./writer-order.ts";

/** Writes that wait for their answer; more are refused. */
const MOST_WAITING = 256;
/** With so many waiting, what may as well not be written is left out. */
const BUSY = 64;

/** What each room has. */
export type Rooms = Pick<Store, Exclude<Room, "store" | "rates">> & { store: Store; rates: RateCounts };

export interface Writer {
  /** Functions that do what those of the same names do, in the thread. They throw 503 where it has no turn for them. */
  methods<R extends Room, Name extends keyof Rooms[R] & string>(room: R, names: readonly Name[]): Pick<Rooms[R], Name>;
  isBusy(): boolean;
  /** When everything that was asked is answered and the thread has ended: whatever is asked then is refused. */
  close(): Promise<void>;
}

interface Thread {
  send(message: ToWriter): void;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
}

type Waiting = Map<number, PromiseWithResolvers<unknown>>;

function startThread(url: string | URL, data: WriterData, waiting: Waiting, gone: () => void): Thread {
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
    // One that never ran has written nothing. Of one that died at work nobody knows whether it was in a COMMIT.
    const error = ready ? commitUnknown(`the thread of writes is gone: ${cause}`) : busy();
    for (const call of waiting.values()) call.reject(error);
    waiting.clear();
    ended.resolve();
  });
  return { send: (message) => worker.postMessage(message), ended: ended.promise };
}

export function startWriter(
  data: WriterData,
  now: () => number,
  url = threadUrl("./src/store/writer-thread.ts"),
): Writer {
  const waiting: Waiting = new Map();
  let thread: Thread | null = null;
  let last = 0;
  let closed = false;

  async function call(room: Room, method: string, args: readonly unknown[]): Promise<unknown> {
    if (closed || waiting.size >= MOST_WAITING) throw busy();
    thread ??= startThread(url, data, waiting, () => void (thread = null));
    const id = ++last;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    thread.send({ id, room, method, args, now: now() });
    return answer.promise;
  }
  return {
    methods: (room, names) => {
      const asked = names.map((name) => [name, (...args: unknown[]) => call(room, name, args)]);
      return Object.fromEntries(asked) as Pick<Rooms[typeof room], (typeof names)[number]>;
    },
    isBusy: () => waiting.size >= BUSY,
    async close() {
      // Whoever was answered may ask for more before it has answered in its turn.
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
