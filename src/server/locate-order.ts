/** What locate-lane.ts and its thread say to each other: one order, then its reply, before the next.
 *  `ready` comes once, before all replies. */
import type { Quote } from "../store/notes.ts";
import type { Stored } from "../store/versions.ts";

export interface LocateOrder {
  /** The page as it is stored. */
  file: Stored;
  quote: Quote;
}

export interface LocateReply {
  /** UTF-16 units of the page's normalised text; null where it is not found, or the page cannot be read. */
  found: { start: number; end: number; state: "anchored" | "changed" } | null;
}

export type FromLocator = "ready" | LocateReply;
