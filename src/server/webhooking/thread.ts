/** The thread of index.ts. */
import { lookup } from "node:dns/promises";
import { workerData } from "node:worker_threads";
import { feedSite } from "../../comments/addresses.ts";
import { feedDocuments } from "../../comments/feed.ts";
import { callable } from "../../http/public-address.ts";
import { openStore } from "../../store/index.ts";
import { createDeliveries, type Deliveries } from "../../webhooks/delivery.ts";
import type { WebhookData, WebhookOrder, WebhookReply } from "./order.ts";

declare const self: Worker;

const { data_dir, base_url, sites_domain, allow } = workerData as WebhookData;
/** The time of the last order, by the service's clock, which may differ from this machine's; and when that was by ours. */
let told = { now: 0, at: 0 };
const clock = (): number => told.now + Math.round(performance.now() - told.at);
const reply = (message: WebhookReply): void => self.postMessage(message);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const resolve = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

async function open(): Promise<Deliveries> {
  const { outbox } = await openStore({ data_dir, now: clock });
  return createDeliveries({
    outbox,
    network: { resolve, isCallable: callable(allow) },
    dataOf: ({ site, comment }) =>
      feedDocuments.annotation(feedSite({ config: { base_url, sites_domain } }, site), comment),
    now: clock,
    heard: (outcome, { site_id, type, tries }, why) => reply({ outcome, site_id, type, tries, why }),
    lost(error) {
      reply({ fatal: messageOf(error) });
      return new Promise(() => {});
    },
  });
}

let opened: Promise<Deliveries> | undefined;
/** A store that could not be opened is tried again with the next order. */
const deliveries = (): Promise<Deliveries> =>
  (opened ??= open().catch((error: unknown) => {
    opened = undefined;
    throw error;
  }));

self.onmessage = async ({ data }: MessageEvent<WebhookOrder>) => {
  told = { now: data.now, at: performance.now() };
  const error = await deliveries()
    .then((all) => all.turn())
    .then(() => null, messageOf);
  reply({ done: true, error });
};
