/** What sweeping.ts and its thread say to each other. */
import type { Damage, Swept } from "../store/upkeep.ts";

export interface SweepOrder {
  /** Epoch milliseconds. */
  now: number;
  /** Milliseconds until the next order. */
  interval: number;
}

/** Two answers to each order. `missing` is null where nobody looked; the last answer says `done`. */
export type SweepReply = ({ swept: Swept } | { damages: Damage[]; missing: number | null } | { error: string }) & {
  done?: true;
};
