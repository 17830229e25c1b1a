/** What writer.ts and its thread say to each other. */
import type { PlainFailure } from "../base/errors.ts";

/** What the thread is started with. */
export interface WriterData {
  data_dir: string;
  /** What happens in comments goes into the outbox. */
  announces: boolean;
}

/** The parts of the store that write, by the names under which the thread has them. */
export type Room =
  | "store"
  | "accounts"
  | "sessions"
  | "deploy_tokens"
  | "device_logins"
  | "ownership"
  | "previews"
  | "notes"
  | "reports"
  | "rates";

export interface WriteOrder {
  id: number;
  room: Room;
  method: string;
  args: readonly unknown[];
  /** What the service's clock showed when it was asked. */
  now: number;
}

export type ToWriter = WriteOrder | "close";

/** `ready` comes once, before all others. */
export type FromWriter = "ready" | ({ id: number } & ({ value: unknown } | PlainFailure));
