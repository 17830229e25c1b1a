/** A comment that was posted and has no answer yet is shown in its thread already. */
import type { Comment, TextQuoteSelector, Thread } from "../types.ts";
import type { Session } from "./session.ts";
import { post, type Post, type Sent } from "./writing.ts";

/** No id of the server begins so. */
const MARK = "sending-";
export const isSending = ({ id }: { id: string }): boolean => id.startsWith(MARK);

interface Local extends Post {
  id: string;
  created_at: string;
}

export class Sending {
  private locals: Local[] = [];
  private count = 0;

  constructor(private readonly session: Session) {}

  async send(written: Post): Promise<Sent> {
    const local = { ...written, id: `${MARK}${++this.count}`, created_at: new Date(Date.now()).toISOString() };
    this.locals.push(local);
    this.session.changed();
    const sent = await post(this.session, written, () => {
      this.locals = this.locals.filter((one) => one !== local);
    });
    return sent;
  }

  /** The threads as their writer sees them. */
  threads(): readonly Thread[] {
    const all = this.session.threads.map((thread) => this.withReplies(thread));
    const begun = this.locals.filter(({ thread_id }) => thread_id === null).map((local) => this.threadOf(local));
    return [...all, ...begun];
  }

  private withReplies(thread: Thread): Thread {
    const replies = this.locals.filter(({ thread_id }) => thread_id === thread.id);
    if (replies.length === 0) return thread;
    return { ...thread, comments: [...thread.comments, ...replies.map((local) => this.commentOf(local))] };
  }

  private commentOf({ id, text, created_at }: Local): Comment {
    const { viewer } = this.session;
    const by = { id: viewer.id ?? "", name: viewer.name ?? "You", kind: viewer.owner ? "owner" : "visitor" } as const;
    return { id, by, text, visibility: "public", created_at, edited_at: null, mine: true, etag: "" };
  }

  private threadOf(local: Local): Thread {
    const { page } = this.session;
    const { id, quote, element } = local;
    const selector = quote && ([{ type: "TextQuoteSelector", ...quote }] satisfies [TextQuoteSelector]);
    const found = { ...(selector && { selector }), ...(element && { hints: { element } }) };
    const anchor = { source: location.origin + page, ...found, carried: null, version_id: "" };
    return { id, page, status: "open", visibility: "public", anchor, comments: [this.commentOf(local)] };
  }
}
