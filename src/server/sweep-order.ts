/** What sweeping.ts and its thread say to each other. */
import type { Damage, Swept } from "../store/upkeep.ts";

export interface SweepOrder {
  /** Epoch milliseconds. */
  now: number;
  /** What was over by then is swept: the earlier of this time and that of the order before. What had expired by both has
   *  been expired for a whole interval, whatever the clock did in between. */
  sure: number;
  /** Milliseconds until the next order. */
  interval: number;
}

/** `fatal`: only a restart into recovery can mend it, so nothing is written after it. */
export interface SweepFailure {
  error: string;
  fatal: boolean;
}

/** Two answers to each order, or one that is fatal. `missing` is null where nobody looked; the last answer says
 *  `done`. */
export type SweepReply = ({ swept: Swept } | { damages: Damage[]; missing: number | null } | SweepFailure) & {
  done?: true;
};
