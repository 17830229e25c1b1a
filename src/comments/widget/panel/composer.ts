/** Writing a comment or a reply: sent at once, with a while to take it back. */
import type { Quote } from "../../anchoring/quote.ts";
import { draft, keepDraft } from "../drafts.ts";
import { remove } from "../writing.ts";
import { form, type Form } from "./form.ts";
import type { Hands } from "./hands.ts";

interface Composed {
  thread_id: string | null;
  quote: Quote | null;
  /** The name of the part of the page that the comment is about. */
  element?: string | null;
  hint?: string;
  /** Called when the comment is posted. */
  posted?: (id: string) => void;
  cancel?: () => void;
}

const LONGEST = 4000;

/** The key of a draft. A new thread has no id yet, so its draft is known by the passage. */
const draftKey = ({ thread_id, quote, element }: Composed): string =>
  thread_id ?? (quote ? `passage ${quote.exact}` : element ? `part ${element}` : "page");

export function composer(hands: Hands, composed: Composed): Form {
  const { session, sending, say } = hands;
  const { thread_id, quote, element = null, hint, posted, cancel } = composed;
  const { page } = session;
  const key = draftKey(composed);
  const is_reply = thread_id !== null;

  async function send(text: string): Promise<string | null> {
    if ([...text].length > LONGEST) return `That is longer than ${LONGEST} characters. Make it shorter.`;
    const { wrong, id } = await sending.send({ text, thread_id, quote, element });
    if (wrong !== null || id === null) return wrong;
    const waits = session.threads.some(({ comments }) =>
      comments.some((comment) => comment.id === id && comment.visibility === "pending"),
    );
    say(waits ? "Posted, awaiting approval" : "Posted", () => remove(session, id));
    await hands.found();
    posted?.(id);
    return null;
  }

  return form({
    label: is_reply ? "Reply" : "Comment",
    submit: is_reply ? "Reply" : "Post",
    value: draft(page, key),
    typed: (text) => keepDraft(page, key, text),
    send,
    ...(session.mode === "approved" && !session.isOwner && { note: "The owner reads it before others do." }),
    ...(hint !== undefined && { hint }),
    ...(cancel && { cancel }),
  });
}
