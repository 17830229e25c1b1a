/** A thread beside the one that serves: it is given one order at a time, and one that ends, or never began, is replaced with
 *  the next order. A reply with `done` ends its order. */
import { closeSync, openSync } from "node:fs";

const DESCRIPTORS = 8;

/** The runtime ends a process that has none left for a new thread; asked before, it is an error like any other. */
function needDescriptors(): void {
  const held: number[] = [];
  try {
    while (held.length < DESCRIPTORS) held.push(openSync(process.execPath, "r"));
  } finally {
    held.forEach((file) => closeSync(file));
  }
}

const isLast = (reply: unknown): boolean => typeof reply === "object" && reply !== null && "done" in reply;

interface Side<Reply> {
  make(): Worker;
  heard(reply: Reply): void;
  /** `why`: a sentence for the log. The order that was under way is over. */
  broke(why: string): void;
}

export interface SideThread<Order> {
  /** False where the last order is still under way. Throws where no thread can be started. */
  order(order: Order): boolean;
  /** Tells it whatever it is at; false where there is none. */
  tell(order: Order): boolean;
  end(): void;
}

/** Started with the first order. */
export function sideThread<Order, Reply>({ make, heard, broke }: Side<Reply>): SideThread<Order> {
  let busy = false;
  let thread: Worker | null = null;

  function start(): Worker {
    needDescriptors();
    const made = make();
    made.onmessage = ({ data }: MessageEvent<Reply>) => {
      if (isLast(data)) busy = false;
      heard(data);
    };
    const ended = (why: string) => {
      if (thread !== made) return;
      thread = null;
      busy = false;
      broke(`the thread broke: ${why}`);
      made.terminate();
    };
    made.onerror = (event) => ended(event.message);
    made.addEventListener("close", () => ended("it ended"));
    return made;
  }
  return {
    order(order) {
      if (busy) return false;
      (thread ??= start()).postMessage(order);
      return (busy = true);
    },
    tell(order) {
      thread?.postMessage(order);
      return thread !== null;
    },
    end() {
      const ending = thread;
      thread = null;
      ending?.terminate();
    },
  };
}
