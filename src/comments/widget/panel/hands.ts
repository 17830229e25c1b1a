/** The calls that the parts of the panel may make to the rest of the widget. */
import type { Thread } from "../../types.ts";
import type { PagePlace } from "../page/places.ts";
import type { Sending } from "../writing.ts";
import type { Session } from "../session.ts";

export interface Hands {
  session: Session;
  sending: Sending;
  /** The place of a thread's passage on the page; null if it is not there. */
  placeOf(thread: Thread): PagePlace | null;
  /** Resolves when the place of each thread is known. */
  found(): Promise<void>;
  /** Opens a thread in the panel. */
  open(id: string): void;
  /** Brings the reader to the passage; Esc brings them back to `from`. */
  jump(thread: Thread, from: HTMLElement): void;
  /** Says what has been done, with `undo` for as long as it is offered. */
  say(words: string, undo?: () => unknown): void;
}
