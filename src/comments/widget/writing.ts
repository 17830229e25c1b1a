/** Writes and decisions of the widget. Each returns a sentence about what went wrong, or null. */
import type { Comment, TextQuoteSelector, Thread } from "../types.ts";
import type { Quote } from "../anchoring/quote.ts";
import { type Answer, call, COMMENTS } from "./call.ts";
import type { Session } from "./session.ts";

type Wrong = Promise<string | null>;
export type Decision = "approve" | "reject" | "resolve" | "reopen";

const UNREACHABLE = "The server cannot be reached. Check your connection, then try again.";

function wrongOf({ status, body }: Answer): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === 0) return UNREACHABLE;
  return typeof body.error === "string" ? body.error : `Something went wrong on the server (${status}). Try again.`;
}

/** Asks for the present state, whether the write succeeded or not. */
async function told(session: Session, answer: Answer): Wrong {
  await session.refresh();
  return wrongOf(answer);
}

interface Post {
  text: string;
  /** Null: a thread of its own, about `quote`, `element` or the whole page. */
  thread_id: string | null;
  quote: Quote | null;
  element: string | null;
}

interface Sent {
  wrong: string | null;
  /** The id of the comment as it is now. */
  id: string | null;
}

/** The key of a try. The server keeps it, so that no try counts twice. */
const newKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;
};

function annotationOf({ path }: Session, { text, thread_id, quote, element }: Post): object {
  const target = thread_id === null ? location.origin + path : COMMENTS + thread_id;
  const part = element && { type: "CssSelector", value: element };
  const selector = quote ? { type: "TextQuoteSelector", ...quote } : part;
  return {
    "@context": "http://www.w3.org/ns/anno.jsonld",
    type: "Annotation",
    motivation: thread_id === null ? "commenting" : "replying",
    canonical: newKey(),
    body: { type: "TextualBody", value: text, format: "text/plain" },
    target: selector ? { source: target, selector: [selector] } : target,
  };
}

/** Sent twice where the first try had no answer: under one key it is one comment. `answered` is called before what is
 *  shown is asked for anew. */
async function post(session: Session, written: Post, answered: () => void): Promise<Sent> {
  const annotation = annotationOf(session, written);
  let answer = await call("POST", "", annotation);
  if (answer.status === 0) answer = await call("POST", "", annotation);
  answered();
  if (session.viewer.id === null) session.forget(); // as of now they are somebody
  const wrong = await told(session, answer);
  return { wrong, id: wrong === null ? (answer.location?.split("/").pop() ?? null) : null };
}

export const edit = async (session: Session, { id, etag }: Comment, text: string): Wrong =>
  told(
    session,
    await call("PUT", id, { type: "Annotation", body: { type: "TextualBody", value: text } }, { "if-match": etag }),
  );

export const remove = async (session: Session, id: string): Wrong => told(session, await call("DELETE", id));

export const decide = async (session: Session, { id }: Pick<Thread, "id">, decision: Decision): Wrong =>
  told(session, await call("POST", `${id}/${decision}`, {}));

export async function rename(session: Session, name: string): Wrong {
  const answer = await call("PATCH", "me", { name });
  session.forget(); // their name is on everything that they wrote
  return told(session, answer);
}

/** All that they wrote, and who they were. */
export async function eraseMe(session: Session): Wrong {
  const answer = await call("DELETE", "me");
  session.forget();
  return told(session, answer);
}

export async function enter(session: Session, passcode: string): Wrong {
  const answer = await call("POST", "passcode", { passcode });
  session.forget();
  return told(session, answer);
}

export async function becomeOwner(session: Session, code: string): Wrong {
  const answer = await call("POST", "owner", { code });
  session.forget();
  return told(session, answer);
}

/** The answer is the same for every report. */
export const report = async (id: string, reason: string, text: string): Wrong =>
  wrongOf(await call("POST", `${id}/report`, { reason, ...(text && { text }) }));

// A comment that was posted and has no answer yet is shown in its thread already.

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
