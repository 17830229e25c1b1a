/** What is still to be posted to the addresses that owners set for their sites' comments (COMMENTS 2, webhooks). */
import type { PublicComment, Webhook, WebhookEvent } from "./notes.ts";
import type { Site } from "../base/types.ts";

export interface Delivery {
  /** `msg_…`, the same in all tries. */
  id: string;
  site_id: string;
  type: WebhookEvent;
  created_at: string;
  /** Those that failed. */
  tries: number;
}

/** What is told, and whom, as things are now. */
export interface Letter {
  site: Site;
  webhook: Webhook;
  comment: PublicComment;
  /** Only the owner may know of what is pending. */
  visibility: "public" | "pending";
}

export interface Outbox {
  /** Of each site the one that has been due longest, of at most `limit` sites; what was never tried goes first. */
  due(now: number, limit: number): Promise<Delivery[]>;
  /** Null where there is nobody to tell any more, or nothing: then it is done. */
  letter(id: string): Promise<Letter | null>;
  done(id: string): Promise<void>;
  /** After a try that failed. `next_at`: epoch milliseconds. */
  later(id: string, next_at: number): Promise<void>;
}
