/** What the tests of webhooks begin with: sites on servers of their own, receivers, and what waits. */
import { afterAll } from "bun:test";
import type { Infer } from "../../src/api/shapes/builder.ts";
import type { COMMENT_SETTINGS, WEBHOOK_DELIVERIES } from "../../src/api/shapes/comments.ts";
import type { WebhookEvent } from "../../src/store/notes.ts";
import { type Commented, startCommented } from "../comments/agents.ts";
import { read } from "../kit/database.ts";
import { until } from "../kit/until.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

export const ON = { SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" };
export const EVENTS: WebhookEvent[] = [
  "thread.created",
  "reply.created",
  "thread.resolved",
  "thread.reopened",
  "comment.reported",
];
export const SECRET = `whsec_${Buffer.from("a secret of a receiver, 32 bytes").toString("base64")}`;

const started: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of started) await end();
});

/** A site on a server of its own, whose clock a test may move. */
export async function world(mode = "anonymous", settings: Record<string, string> = ON): Promise<Commented> {
  const site = await startCommented(settings);
  started.push(() => site.server[Symbol.asyncDispose]());
  if (mode !== "anonymous") await site.configure({ mode });
  return site;
}
export function receiver(answer: Receiver["answer"] = 200): Receiver {
  const made = startReceiver();
  made.answer = answer;
  started.unshift(() => made.stop());
  return made;
}
export const hook = (site: Commented, { url }: Pick<Receiver, "url">, events = EVENTS, secret = SECRET) =>
  site.configure({ webhook: { url, events, secret } });
export const typesOf = ({ received }: Receiver) => received.map(({ told }) => told.type);
const outbox = ({ server, site }: Commented) =>
  read<{ tries: number }>(server.data_dir, "select tries from webhook_outbox where site_id = ?", site.site_id);
export const waiting = (site: Commented) => outbox(site).length;
export const settled = (site: Commented) => until(() => waiting(site) === 0, 50);
export const tried = (site: Commented, tries: number) => until(() => outbox(site)[0]?.tries === tries, 50);
export const afterALook = () => Bun.sleep(1500);
export const webhookOf = async (site: Commented) =>
  ((await (await site.manage("settings")).json()) as Infer<typeof COMMENT_SETTINGS>).webhook!;
export const deliveriesOf = async (site: Commented) =>
  ((await (await site.manage("webhook/deliveries")).json()) as Infer<typeof WEBHOOK_DELIVERIES>).deliveries;
export const again = (site: Commented, id: string) => site.manage(`webhook/deliveries/${id}/again`, "POST");
