/** What index.ts and its thread say to each other. */
import type { Outcome } from "../../webhooks/delivery.ts";

/** What the thread is started with. */
export interface WebhookData {
  data_dir: string;
  base_url: string;
  sites_domain: string;
  /** `SVC_WEBHOOKS_ALLOW`. */
  allow: readonly string[] | null;
}

export interface WebhookOrder {
  /** Epoch milliseconds: what is due by then is tried. */
  now: number;
}

/** `done` ends each order, after which its tries go on. */
export type WebhookReply =
  | { outcome: Outcome; site_id: string; type: string; tries: number; why: string | null }
  | { done: true; error: string | null }
  /** Only a restart into recovery can mend it. */
  | { fatal: string };
