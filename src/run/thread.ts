/** Threads of this process: where their code is, how one is started and called, and the service's clock in it. The one place
 *  that makes a `Worker`. */
import { closeSync, openSync } from "node:fs";
import { fromFailure, plainFailure, type PlainFailure } from "../base/errors.ts";
import { ownProgram } from "./program.ts";

declare const self: Worker;

/** The address of a thread's code, named from the repository's root: in the binary it is an entry of its own under this very
 *  name, from source a file (BUN 1). */
export const threadUrl = (entry: `./src/${string}.ts`): string | URL =>
  Bun.isStandaloneExecutable ? entry : new URL(`../../${entry}`, import.meta.url);

const DESCRIPTORS = 8;

/** The runtime ends a process that has no descriptor left for a new thread. Asked before, it is an error like any other. */
function needDescriptors(): void {
  const held: number[] = [];
  try {
    while (held.length < DESCRIPTORS) held.push(openSync(ownProgram(), "r"));
  } finally {
    held.forEach((file) => closeSync(file));
  }
}

/** `data` is `workerData` in the thread. Throws when no thread can be started. */
export function newThread(url: string | URL, data?: unknown): Worker {
  needDescriptors();
  return new Worker(url, { workerData: data } as WorkerOptions);
}

export interface Thread<To> {
  send(message: To): void;
  /** At once, but for a native call that it is in. */
  end(): void;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
}

interface ThreadEvents<From> {
  message(message: From): void;
  /** Called once; `why` is a sentence for the log. */
  ended(why: string): void;
}

/** Throws when no thread can be started. */
export function startThread<To, From>(url: string | URL, data: unknown, events: ThreadEvents<From>): Thread<To> {
  const worker = newThread(url, data);
  const ended = Promise.withResolvers<void>();
  let why = "it ended by itself";
  worker.onmessage = ({ data }: MessageEvent<From>) => events.message(data);
  worker.onerror = ({ message }) => {
    why = message;
    worker.terminate();
  };
  worker.addEventListener("close", () => {
    events.ended(why);
    ended.resolve();
  });
  return { send: (message) => worker.postMessage(message), end: () => worker.terminate(), ended: ended.promise };
}

type ToCalled<Order> = { id: number; order: Order } | "close";
/** `ready` comes once, before all others. */
type FromCalled = "ready" | ({ id: number } & ({ value: unknown } | PlainFailure));

/** The thread of a call ended before it answered. */
export class CallLost extends Error {
  override readonly name = "CallLost";
  constructor(
    /** `not started`: it has done nothing of the call. `too late`: it was ended for this call. */
    readonly fate: "not started" | "died" | "too late",
    message: string = fate,
  ) {
    super(message);
  }
}

interface CalledThread<Order, Reply> {
  /** Rejects with what the thread threw, or with `CallLost`. */
  call(order: Order): Promise<Reply>;
  /** Calls without an answer. */
  waiting(): number;
  /** At once: calls that wait are lost. */
  end(): void;
  /** Resolves when everything that was asked is answered and the thread has ended: later calls are lost. */
  close(): Promise<void>;
}

interface CallLimits {
  /** A thread that takes longer to start is ended. */
  start_ms: number;
  /** For one call, once the thread has started: it ends the thread. */
  deadline_ms: number;
}

/** One start of it: calls that are lost with it are of no other. */
function startCalled<Order, Reply>(url: string | URL, data: unknown, gone: () => void) {
  const calls = new Map<number, PromiseWithResolvers<Reply>>();
  const ready = Promise.withResolvers<void>();
  let started = false;

  function lose(error: CallLost): void {
    for (const call of calls.values()) call.reject(error);
    calls.clear();
  }
  const thread = startThread<ToCalled<Order>, FromCalled>(url, data, {
    message(message) {
      if (message === "ready") {
        started = true;
        return ready.resolve();
      }
      const call = calls.get(message.id);
      calls.delete(message.id);
      if ("value" in message) call?.resolve(message.value as Reply);
      else call?.reject(fromFailure(message));
    },
    ended(why) {
      gone();
      lose(new CallLost(started ? "died" : "not started", why));
    },
  });
  return { ...thread, calls, ready: ready.promise, lose };
}

/** A thread that is asked and answers (`answerCalls`), started by the first call, and anew by the next one after it ended. */
export function callThread<Order, Reply>(
  url: string | URL,
  data: unknown,
  limits?: CallLimits,
): CalledThread<Order, Reply> {
  let thread: ReturnType<typeof startCalled<Order, Reply>> | null = null;
  let last_id = 0;
  let closed = false;

  function start() {
    if (closed) throw new CallLost("not started");
    const made = startCalled<Order, Reply>(url, data, () => {
      if (thread === made) thread = null;
    });
    return made;
  }
  function end(fate: CallLost["fate"]): void {
    const ending = thread;
    thread = null;
    ending?.end();
    ending?.lose(new CallLost(fate));
  }
  return {
    async call(order) {
      const { calls, ready, send } = (thread ??= start());
      const answer = Promise.withResolvers<Reply>();
      const id = ++last_id;
      calls.set(id, answer);
      send({ id, order });
      if (limits === undefined) return answer.promise;
      let late = setTimeout(end, limits.start_ms, "not started");
      void ready.then(() => {
        clearTimeout(late);
        if (calls.has(id)) late = setTimeout(end, limits.deadline_ms, "too late");
      });
      return answer.promise.finally(() => clearTimeout(late));
    },
    waiting: () => thread?.calls.size ?? 0,
    end: () => end("died"),
    async close() {
      // A caller that was answered may ask for more before it answers in its turn.
      while (thread !== null && thread.calls.size > 0) {
        await Promise.allSettled([...thread.calls.values()].map(({ promise }) => promise));
        await Bun.sleep(0);
      }
      closed = true;
      thread?.send("close");
      await thread?.ended;
    },
  };
}

/** In the thread: answers `callThread`. `close` puts things in order before the thread ends. */
export function answerCalls<Order>(answer: (order: Order) => unknown, close: () => unknown = () => {}): void {
  const send = (message: FromCalled): void => self.postMessage(message);
  self.onmessage = async ({ data }: MessageEvent<ToCalled<Order>>) => {
    if (data === "close") {
      await close();
      process.exit(); // ends this thread alone
    }
    const { id, order } = data;
    send({ id, ...(await Promise.try(answer, order).then((value) => ({ value }), plainFailure)) });
  };
  send("ready");
}

/** The service's clock in another thread or process: it goes on, by this machine's, from the `now` that came with an order. */
export function serviceClock(now: number): () => number {
  const at = performance.now();
  return () => now + Math.round(performance.now() - at);
}
