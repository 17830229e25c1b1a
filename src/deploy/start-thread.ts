/** A deploy's thread as its pool sees it. */
import { threadUrl } from "../thread-url.ts";
import type { Outcome, ThreadJob, ToThread } from "./job.ts";

export interface DeployThread {
  /** False once it has ended, by whom- or whatever. */
  alive(): boolean;
  /** One job at a time. Rejects where the thread ends before it answers. */
  run(job: ThreadJob): Promise<Outcome>;
  /** At once, wherever it is. */
  end(): void;
  /** Between two jobs: lets it close its database first. */
  close(): Promise<void>;
}

export function startThread(url = threadUrl("./src/deploy/thread.ts")): DeployThread {
  const worker = new Worker(url);
  const closed = Promise.withResolvers<void>();
  let alive = true;
  let cause = "it ended by itself";
  let answer: PromiseWithResolvers<Outcome> | null = null;

  const send = (message: ToThread, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer);
  worker.onmessage = ({ data }: MessageEvent<Outcome>) => answer?.resolve(data);
  worker.onerror = ({ message }) => {
    cause = message;
  };
  worker.addEventListener("close", () => {
    alive = false;
    answer?.reject(new Error(`A deploy's thread is gone: ${cause}`));
    closed.resolve();
  });

  return {
    alive: () => alive,
    run(job) {
      answer = Promise.withResolvers();
      send(job, [job.zip.buffer]);
      return answer.promise;
    },
    end() {
      alive = false;
      worker.terminate();
    },
    close() {
      if (alive) send("close");
      return closed.promise;
    },
  };
}
