/** Finds the place of each thread's passage on the page (COMMENTS 3). */
import { anchor } from "../../anchoring/anchor.ts";
import { normalise } from "../../anchoring/text.ts";
import type { Thread } from "../../types.ts";
import { type DocumentText, documentText } from "../page-text.ts";
import { rangeOf } from "./parts.ts";

export interface PagePlace {
  range: Range;
  /** The place in the page's text: threads are read in this order. */
  start: number;
  /** True if the text at this place is not the text that was commented on. */
  changed: boolean;
}

type FoundPassage = Omit<PagePlace, "range"> & { end: number };

const NEAR = 12;

/** The place to which the server saw an edited passage move. It counts only if the text around it is the same here: a
 *  script may have made the page different from the server's copy. */
function carried(text: string, { anchor: { carried: kind, selector, hints } }: Thread): FoundPassage | null {
  const place = hints?.position;
  if (kind !== "edited" || !place || !selector) return null;
  const { start, end } = place;
  const [prefix, suffix] = [normalise(selector[0].prefix).slice(-NEAR), normalise(selector[0].suffix).slice(0, NEAR)];
  const near = (prefix && text.slice(0, start).endsWith(prefix)) || (suffix && text.startsWith(suffix, end));
  return near && end <= text.length ? { start, end, changed: true } : null;
}

function find(text: string, thread: Thread): FoundPassage | null {
  const [quote] = thread.anchor.selector ?? [];
  if (!quote) return null;
  const found = anchor(text, quote, thread.anchor.hints?.position?.start);
  if (found) return { start: found.start, end: found.end, changed: found.state === "changed" };
  return carried(text, thread);
}

function partAt(text: DocumentText, path: string): PagePlace | null {
  const element = document.body.querySelector(path);
  if (!element) return null;
  const range = rangeOf(element);
  return { range, start: text.offset(range.startContainer, range.startOffset), changed: false };
}

export class Places {
  private found = new Map<string, PagePlace>();
  /** The last call's: an earlier one that is still at work gives up. */
  private turn = 0;

  of(id: string): PagePlace | null {
    return this.found.get(id) ?? null;
  }

  /** Looks for all threads; false if a later call has begun meanwhile. */
  async locate(threads: readonly Thread[]): Promise<boolean> {
    const turn = ++this.turn;
    const text = documentText();
    const found = new Map<string, PagePlace>();
    const breath = breathing();
    for (const thread of threads) {
      const place = this.placed(text, thread);
      if (place) found.set(thread.id, place);
      await breath();
      if (turn !== this.turn) return false;
    }
    this.found = found;
    return true;
  }

  private placed(text: DocumentText, thread: Thread): PagePlace | null {
    const { selector, hints } = thread.anchor;
    if (!selector) return hints?.element ? partAt(text, hints.element) : null;
    const place = find(text.text, thread);
    const range = place && text.range(place.start, place.end);
    return range && { range, start: place.start, changed: place.changed };
  }

  /** Whether a passage that was found has left the page since: a framework drew it anew. */
  get isStale(): boolean {
    return [...this.found.values()].some(({ range }) => range.collapsed || !range.startContainer.isConnected);
  }
}

/** Long work is done in small pieces: a page that somebody reads must not freeze (COMMENTS 3: no task over 16 ms). */
const TASK_MS = 8;

/** Called between two pieces of work: waits until the page had its turn, if the last piece was long enough. */
function breathing(): () => Promise<void> | null {
  let began = Date.now();
  return () => {
    if (Date.now() - began < TASK_MS) return null;
    return new Promise<void>((resolve) => setTimeout(resolve)).then(() => void (began = Date.now()));
  };
}
