/** The delivery of webhooks, where the operator turned it on: a thread of one process, which looks every second for what
 *  is due. Its network, its database and its receivers are none of the serving thread's. */
import type { Config } from "../../config/index.ts";
import { every, loggedBy } from "../../every.ts";
import { createLog, type Log } from "../../log.ts";
import { slotOf } from "../../metrics/index.ts";
import { openFigures } from "../../store/index.ts";
import type { Figures } from "../../store/upkeep.ts";
import { threadUrl } from "../../thread-url.ts";
import type { WebhookData, WebhookOrder, WebhookReply } from "./order.ts";

const LOOK_MS = 1000;

type Outcome = Extract<WebhookReply, { outcome: unknown }>;

function note(reply: Outcome, log: Log, figures: Figures): void {
  const { outcome, site_id, type, tries, why } = reply;
  figures.add(slotOf(`svc_webhooks_${outcome}_total`), 1);
  if (outcome === "given_up") log.event(`webhook of ${site_id}: ${type} was given up after ${tries + 1} tries: ${why}`);
  else if (outcome === "failed" && why !== null)
    log.event(`webhook of ${site_id}: ${type} failed, and is tried again: ${why}`);
}

interface Thread {
  /** Nothing happens where the last order is still under way. */
  order(order: WebhookOrder): void;
  end(): void;
}

/** One that ends, or never began, is replaced with the next order. */
function startThread(data: WebhookData, heard: (reply: WebhookReply) => void): Thread {
  let busy = false;
  let thread: Worker | null = null;

  function start(): Worker {
    const made = new Worker(threadUrl("./src/server/webhooking/thread.ts"), { workerData: data } as WorkerOptions);
    made.onmessage = ({ data: reply }: MessageEvent<WebhookReply>) => {
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
  return {
    order(order) {
      if (busy) return;
      busy = true;
      (thread ??= start()).postMessage(order);
    },
    end() {
      const ending = thread;
      thread = null;
      ending?.terminate(); // what is under way is told again after the next start, under the same id
    },
  };
}

/** For the log: the first in a row, the second, the fourth, the eighth … */
function notingFailures(log: Log): (error: string | null) => void {
  const failed = loggedBy(log, "webhooks");
  let in_a_row = 0;
  return (error) => (error === null ? void (in_a_row = 0) : failed(error, ++in_a_row));
}

/** `config`: with the addresses under which the sites are reached. `fatal` ends the process. */
export function startWebhooks(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
): { stop(): Promise<void> } {
  if (config.webhooks === "off") return { stop: async () => {} };
  const { data_dir, base_url, sites_domain, webhooks_allow } = config;
  const log = createLog(config.log, now);
  const figures = openFigures(data_dir);
  const looked = notingFailures(log);
  const thread = startThread({ data_dir, base_url, sites_domain, allow: webhooks_allow }, (reply) => {
    if ("outcome" in reply) return note(reply, log, figures);
    if ("done" in reply) return looked(reply.error);
    looks.stop();
    thread.end();
    fatal(new Error(reply.fatal));
  });
  const looks = every(LOOK_MS, () => thread.order({ now: now() }), loggedBy(log, "webhooks"));
  return {
    async stop() {
      looks.stop();
      thread.end();
      await log.close();
    },
  };
}
