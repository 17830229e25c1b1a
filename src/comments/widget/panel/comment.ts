/** One comment: who, when, what, and what may be done with it. */
import type { Comment, Thread } from "../../types.ts";
import { button, el, theirs } from "../dom.ts";
import { isSending } from "../sending.ts";
import { ago, fullTime, plural } from "../words.ts";
import { decide, type Decision, remove } from "../writing.ts";
import { deleting, editing, reporting } from "./asking.ts";
import type { Hands } from "./hands.ts";

interface Shown {
  hands: Hands;
  thread: Thread;
  comment: Comment;
  /** Whether its thread is the open one. */
  open: boolean;
  /** While a form of it is open, its thread is not drawn anew. */
  hold(held: boolean): void;
}

const EDITABLE_MS = 15 * 60_000;
const KINDS = { visitor: null, owner: "Owner", agent: "Agent" } as const;

function headOf({ by, created_at, edited_at, visibility }: Comment, sending: boolean): HTMLElement {
  const kind = by && KINDS[by.kind];
  const name = by?.name ?? "";
  const time = el("time", { datetime: created_at, title: fullTime(created_at) }, ago(created_at));
  return el(
    "div",
    { class: "who" },
    el("bdi", { class: "name" }, name),
    kind && kind !== name ? el("span", { class: "badge" }, kind) : null,
    sending ? el("span", {}, "sending…") : time,
    edited_at === null ? null : el("span", {}, "edited"),
    visibility === "pending" ? el("span", { class: "badge waits" }, "awaiting approval") : null,
  );
}

const isRoot = ({ thread, comment }: Shown): boolean => comment.id === thread.id;

/** Whether its author may still change it: the owner may at any time what the owner wrote. */
const isEditable = ({ comment }: Shown): boolean =>
  comment.mine && (comment.by?.kind === "owner" || Date.now() - Date.parse(comment.created_at) < EDITABLE_MS);

interface Action {
  label: string;
  kind?: string;
  press(this: void): unknown;
}

function decisions(shown: Shown): Action[] {
  const { hands, thread, comment, open } = shown;
  const decision = (label: string, what: Decision): Action => ({
    label,
    async press() {
      const wrong = await decide(hands.session, comment, what);
      hands.say(wrong ?? `${label.replace(/e?$/, "ed")}`);
    },
  });
  // What the owner or an agent said beneath a thread that waits is shown with it, and waits for nobody's decision.
  const waits = comment.visibility === "pending" && comment.by?.kind === "visitor";
  const pending = waits ? [decision("Approve", "approve"), decision("Reject", "reject")] : [];
  if (!open || !isRoot(shown)) return pending;
  return [...pending, thread.status === "open" ? decision("Resolve", "resolve") : decision("Reopen", "reopen")];
}

/** What is seldom wanted: of one's own comment, and of others'. */
function moreOf(shown: Shown, ask: (form: HTMLElement) => void, done: () => void): Action[] {
  const { hands, thread, comment, open } = shown;
  const { session, say } = hands;
  if (!open || session.foreign) return [];
  const asked = { hands, comment, done };
  const list: Action[] = [];
  const is_gap = comment.text === null;
  if (is_gap && !(session.isOwner && isRoot(shown))) return []; // a gap is nobody's, but the thread is the owner's
  if (session.canPost && isEditable(shown)) list.push({ label: "Edit", press: () => ask(editing(asked)) });
  const replies = thread.comments.length - 1;
  const takes_replies = session.isOwner && isRoot(shown) && replies > 0;
  if (session.canPost && (comment.mine || session.isOwner)) {
    const erase = async () => say((await remove(session, comment.id)) ?? "Deleted");
    const press = () => (takes_replies ? ask(deleting(asked, plural(replies, "reply", "replies"))) : erase());
    list.push({ label: "Delete", kind: "warns", press });
  }
  if (!comment.mine && !session.isOwner) list.push({ label: "Report", press: () => ask(reporting(asked)) });
  return list;
}

const buttons = (list: readonly Action[]): HTMLButtonElement[] =>
  list.map(({ label, kind = "quiet", press }) => button(label, kind, press));

export function commentItem(shown: Shown): HTMLElement {
  const { hands, comment, hold } = shown;
  const sending = isSending(comment);
  const erased = comment.text === null;
  const head = erased ? el("div", { class: "who" }) : headOf(comment, sending);
  const text = erased ? el("p", { class: "erased" }, "This comment was deleted.") : theirs(comment.text!);
  const item = el("li", { class: "comment" }, head, text);
  if (sending) return item;
  let asked: HTMLElement | null = null;
  const done = (): void => {
    asked?.remove();
    asked = null;
    text.hidden = false;
    hold(false);
    head.querySelector("button")?.focus();
  };
  const ask = (form: HTMLElement): void => {
    asked?.remove();
    hold(true);
    text.hidden = form instanceof HTMLFormElement; // it is in the box
    item.append((asked = form));
    form.scrollIntoView({ block: "nearest" });
  };
  const more = buttons(moreOf(shown, ask, done));
  if (more.length > 0) head.append(el("span", { class: "more" }, ...more));
  const decided = hands.session.isOwner ? buttons(decisions(shown)) : [];
  if (decided.length > 0) item.append(el("div", { class: "buttons decide" }, ...decided));
  return item;
}
