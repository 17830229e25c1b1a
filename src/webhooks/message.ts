/** What a receiver gets (COMMENTS 2): the body, and the headers of Standard Webhooks that prove whose it is. */
import { createHmac } from "node:crypto";
import type { Delivery, Letter } from "../store/outbox.ts";

export interface Message {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const BASE64_SECRET = "whsec_";

/** As Standard Webhooks writes a key, `whsec_` and its base64; any other secret is taken letter by letter. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_SECRET) ? Buffer.from(secret.slice(BASE64_SECRET.length), "base64") : Buffer.from(secret);

/** `timestamp`: whole seconds. */
const signed = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/** `data`: the comment's annotation. A new timestamp and signature for each try, the id stays. */
export function messageOf(delivery: Delivery, { webhook, visibility }: Letter, data: object, now: number): Message {
  const { id, type, created_at, site_id } = delivery;
  const body = JSON.stringify({ id, type, created_at, site_id, visibility, data });
  const timestamp = Math.floor(now / 1000);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "svc-webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signed(webhook.secret, id, timestamp, body),
    },
  };
}
