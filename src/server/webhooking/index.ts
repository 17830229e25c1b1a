/** The delivery of webhooks, where the operator turned it on: a thread of one process, which looks every second for what
 *  is due. Its network, its database and its receivers are none of the serving thread's. */
import type { Config } from "../../config/index.ts";
import { countingFailures, every, loggedBy } from "../../run/every.ts";
import { createLog, type Log } from "../../run/log.ts";
import { slotOf } from "../../run/metrics.ts";
import { openFigures } from "../../store/index.ts";
import type { Figures } from "../../store/upkeep.ts";
import { threadUrl } from "../../run/runtime.ts";
import { sideThread } from "../side-thread.ts";
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
  const failed = loggedBy(log, "webhooks");
  const looked = countingFailures(failed);
  const workerData: WebhookData = { data_dir, base_url, sites_domain, allow: webhooks_allow };
  const thread = sideThread<WebhookOrder, WebhookReply>({
    make: () => new Worker(threadUrl("./src/server/webhooking/thread.ts"), { workerData } as WorkerOptions),
    heard(reply) {
      if ("outcome" in reply) return note(reply, log, figures);
      if ("done" in reply) return looked(reply.error);
      looks.stop();
      thread.end();
      fatal(new Error(reply.fatal));
    },
    broke: looked,
  });
  const looks = every(LOOK_MS, () => thread.order({ now: now() }), failed);
  return {
    async stop() {
      looks.stop();
      thread.end(); // what is under way is told again after the next start, under the same id
      await log.close();
    },
  };
}
