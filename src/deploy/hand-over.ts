/** The memory that one job shares between the pool and its worker. It holds whose turn it is, so that a worker is ended
 *  before it publishes or not at all, never between blob and COMMIT; and where the job is, for when it hangs there. */

const RUNNING = 0;
const PUBLISHING = 1;
const ENDED = 2;

/** Two 32-bit numbers (state, length of the place), then the place as text. */
const HEADER = 8;
const SIZE = 2048;
const encoder = new TextEncoder();

export interface Place {
  stage: string;
  file: string | null;
}

export interface HandOver {
  readonly memory: SharedArrayBuffer;
  /** The worker's question. After a yes nobody ends it; after a no its job was given up. */
  startPublishing(): boolean;
  /** The pool's question. After a yes the job never publishes. */
  end(): boolean;
  /** Tells where the job is: a `Progress`. */
  at(stage: string, file?: string): void;
  place(): Place;
}

export function handOver(memory = new SharedArrayBuffer(SIZE)): HandOver {
  const header = new Int32Array(memory, 0, 2);
  const text = new Uint8Array(memory, HEADER);
  const leaveRunning = (state: number): boolean => Atomics.compareExchange(header, 0, RUNNING, state) === RUNNING;
  return {
    memory,
    startPublishing: () => leaveRunning(PUBLISHING),
    end: () => leaveRunning(ENDED),
    at(stage, file = "") {
      Atomics.store(header, 1, 0);
      Atomics.store(header, 1, encoder.encodeInto(`${stage}\n${file}`, text).written);
    },
    place() {
      const [stage = "", file = ""] = new TextDecoder().decode(text.slice(0, Atomics.load(header, 1))).split("\n");
      return { stage: stage || "starting", file: file || null };
    },
  };
}
