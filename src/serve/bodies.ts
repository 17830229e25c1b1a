/** The bytes of files, in each coding that somebody asked for. Made once, off the thread, and kept while there is room. */
import type { Coding, Compression } from "../http/codings.ts";
import { type BodyOf, createContents } from "./contents.ts";
import type { Forms } from "./forms.ts";
import type { Body, Content, Form } from "./kept.ts";

export interface Bodies {
  of: BodyOf;
  /** The best accepted form, if it is here. Never awaits. */
  ready(body: Body, accepted: readonly Coding[]): Form | undefined;
  /** The same, made where it is not; as it is where making it takes too long for somebody who waits. Null where the
   *  visitor has left meanwhile. */
  best(body: Body, accepted: readonly Coding[], signal: AbortSignal): Promise<Form | null>;
  /** Makes one form ahead of any request. */
  warm(body: Body, coding: Compression): Promise<void>;
}

/** What is larger is coded ahead, or in its own time after somebody asked: brotli takes 0.1 s for this much. */
const CODED_ON_DEMAND = 1024 * 1024;
/** So many of them wait for their time. */
const LATER = 20;

export function createBodies({ identity, coded, ahead }: Forms): Bodies {
  const due = new Set<Content>();

  function later(content: Content, coding: Compression): void {
    if (due.has(content) || due.size >= LATER) return;
    due.add(content);
    const done = () => void due.delete(content);
    // A file that cannot be read is told of by the request that needs it.
    ahead(content, coding).then(done, done);
  }

  async function best({ content }: Body, accepted: readonly Coding[], signal: AbortSignal): Promise<Form | null> {
    const large = content.stored.bytes > CODED_ON_DEMAND;
    for (const coding of accepted) {
      if (coding === "identity") break;
      const form = content.forms[coding] ?? (large ? later(content, coding) : await coded(content, coding, signal));
      if (!form) break;
      if (usable(form)) return form;
    }
    return signal.aborted ? null : identity(content);
  }

  return { of: createContents(), ready, best, warm: ({ content }, coding) => ahead(content, coding) };
}

function ready({ content }: Body, accepted: readonly Coding[]): Form | undefined {
  for (const coding of accepted) {
    const kept = content.forms[coding];
    if (kept === undefined) return undefined;
    if (!usable(kept)) continue;
    kept.used = true;
    return kept;
  }
  return undefined;
}

const usable = (form: Form): boolean => form.blob !== null || form.coding === "identity";

/** Whether identity is what the client's codings lead to, and not what goes out because a coding is not made yet. */
export function prefersIdentity({ content }: Body, accepted: readonly Coding[]): boolean {
  for (const coding of accepted) {
    if (coding === "identity") return true;
    if (content.forms[coding]?.blob !== null) return false;
  }
  return true;
}
