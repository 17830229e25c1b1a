/** Threads of this process: where their code is, how one is started, and the service's clock in it. The one place that makes
 *  a `Worker`. */
import { closeSync, openSync } from "node:fs";

/** The address of a thread's code, named from the repository's root: in the binary it is an entry of its own under this very
 *  name, from source a file (BUN 1). */
export const threadUrl = (entry: `./src/${string}.ts`): string | URL =>
  Bun.isStandaloneExecutable ? entry : new URL(`../../${entry}`, import.meta.url);

const DESCRIPTORS = 8;

/** The runtime ends a process that has no descriptor left for a new thread. Asked before, it is an error like any other. */
function needDescriptors(): void {
  const held: number[] = [];
  try {
    while (held.length < DESCRIPTORS) held.push(openSync(process.execPath, "r"));
  } finally {
    held.forEach((file) => closeSync(file));
  }
}

/** `data` is `workerData` in the thread. Throws when no thread can be started. */
function newThread(url: string | URL, data?: unknown): Worker {
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

/** Does not keep the process alive. Throws when no thread can be started. */
export function startThread<To, From>(url: string | URL, data: unknown, events: ThreadEvents<From>): Thread<To> {
  const worker = newThread(url, data);
  const ended = Promise.withResolvers<void>();
  let why = "it ended";
  worker.onmessage = ({ data }: MessageEvent<From>) => events.message(data);
  worker.onerror = ({ message }) => {
    why = message;
    worker.terminate();
  };
  worker.addEventListener("close", () => {
    events.ended(why);
    ended.resolve();
  });
  worker.unref();
  return { send: (message) => worker.postMessage(message), end: () => worker.terminate(), ended: ended.promise };
}

/** The service's clock in another thread or process: it goes on, by this machine's, from the `now` that came with an order. */
export function serviceClock(now: number): () => number {
  const at = performance.now();
  return () => now + Math.round(performance.now() - at);
}
