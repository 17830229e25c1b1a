/** The render engine, where the operator turned it on: a thread of one process, which looks every half second for versions
 *  that nobody has looked at yet. No deploy and no page waits for it. */
import type { Config } from "../../config/index.ts";
import { every, loggedBy } from "../../every.ts";
import { createLog, type Log } from "../../log.ts";
import { slotOf } from "../../metrics/index.ts";
import { openFigures } from "../../store/index.ts";
import type { Figures } from "../../store/upkeep.ts";
import { threadUrl } from "../../thread-url.ts";
import type { RenderData, RenderOrder, RenderReply } from "./order.ts";

const LOOK_MS = 500;
const STOP_MS = 2000;
const NOTHING = { stop: async () => {} };

/** Where a program of this machine reaches the server. */
function localAddress({ host, port, tls_cert }: Config): string {
  const anywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1" };
  const name = anywhere[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `${tls_cert === null ? "http" : "https"}://${name}:${port}`;
}

type Looked = Extract<RenderReply, { looked: unknown }>;

function note({ looked, waiting }: Looked, log: Log, figures: Figures): void {
  const { site_id, slug, version_id, status, reason, warnings, ms } = looked;
  figures.add(slotOf(status === "done" ? "svc_renders_done_total" : "svc_renders_failed_total"), 1);
  figures.set(slotOf("svc_renders_waiting"), waiting);
  log.record("render", { site_id, slug, version_id, status, ms, warnings, reason });
}

interface Thread {
  /** Nothing happens where the last order is still under way. */
  order(now: number): void;
  /** Resolves when no process of it is left. */
  end(): Promise<void>;
}

/** One that ends, or never began, is replaced with the next order. */
function startThread(data: RenderData, heard: (reply: Exclude<RenderReply, "stopped">) => void): Thread {
  let busy = false;
  let thread: Worker | null = null;
  const stopped = Promise.withResolvers<void>();

  function start(): Worker {
    const made = new Worker(threadUrl("./src/server/rendering/thread.ts"), { workerData: data } as WorkerOptions);
    made.onmessage = ({ data: reply }: MessageEvent<RenderReply>) => {
      if (reply === "stopped") return stopped.resolve();
      if ("done" in reply) busy = false;
      heard(reply);
    };
    const ended = (why: string) => {
      if (thread !== made) return;
      thread = null;
      busy = false;
      heard({ done: true, error: `the thread broke: ${why}` });
      made.terminate();
    };
    made.onerror = (event) => ended(event.message);
    made.addEventListener("close", () => ended("it ended"));
    return made;
  }
  const send = (to: Worker, order: RenderOrder) => to.postMessage(order);
  return {
    order(now) {
      if (busy) return;
      busy = true;
      send((thread ??= start()), { now });
    },
    async end() {
      const ending = thread;
      thread = null;
      if (ending === null) return;
      send(ending, "stop");
      await Promise.race([stopped.promise, Bun.sleep(STOP_MS)]);
      ending.terminate();
    },
  };
}

/** `config`: with the addresses under which the sites are reached. `fatal` ends the process. */
export function startRendering(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
): { stop(): Promise<void> } {
  if (config.render === "off") return NOTHING;
  const { data_dir, base_url, sites_domain, chrome } = config;
  const log = createLog(config.log, now);
  const figures = openFigures(data_dir);
  const failed = loggedBy(log, "render");
  let in_a_row = 0;
  const thread = startThread({ data_dir, base_url, sites_domain, server: localAddress(config), chrome }, (reply) => {
    if ("looked" in reply) return note(reply, log, figures);
    if ("say" in reply) return log.event(`render: ${reply.say}`);
    if ("done" in reply) return reply.error === null ? void (in_a_row = 0) : failed(reply.error, ++in_a_row);
    looks.stop();
    void thread.end();
    fatal(new Error(reply.fatal));
  });
  const looks = every(LOOK_MS, () => thread.order(now()), failed);
  return {
    async stop() {
      looks.stop();
      await thread.end();
      await log.close();
    },
  };
}
