/** A thread in the panel: its passage and its comments. */
import type { Comment, Thread } from "../../types.ts";
import { button, el, theirLanguage, theirs } from "../dom.ts";
import { linkTo } from "../hash.ts";
import type { PagePlace } from "../page/places.ts";
import { decide, type Decision, edit, isSending, remove, report } from "../writing.ts";
import { ago, fullTime, plural } from "../words.ts";
import { form } from "./form.ts";
import type { Hands } from "./hands.ts";

export class Card {
  readonly element: HTMLLIElement;
  private readonly content = el("div", { class: "content" });
  private drawn = "";
  private held = false;

  constructor(
    private readonly hands: Hands,
    private thread: Thread,
  ) {
    this.element = el("li", { class: "card", tabindex: "-1" }, this.content);
    this.element.addEventListener("click", ({ target }) => {
      const pressed = target instanceof Element && target.closest("button, a, textarea, input, select");
      if (!pressed && getSelection()?.isCollapsed !== false) this.hands.open(this.thread.id);
    });
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }

  update(thread: Thread, open: boolean): void {
    this.thread = thread;
    const place = this.hands.placeOf(thread);
    const { canPost, isOwner } = this.hands.session;
    const sign = JSON.stringify([thread, open, place?.start ?? null, place?.changed, canPost, isOwner]);
    if (sign === this.drawn || this.held) return;
    this.drawn = sign;
    const had_focus = this.content.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.element.classList.toggle("open", open);
    this.element.classList.toggle("resolved", thread.status === "resolved");
    this.content.replaceChildren(...this.parts(place, open));
    if (had_focus) this.element.focus({ preventScroll: true });
  }

  private parts(place: PagePlace | null, open: boolean): HTMLElement[] {
    const { thread } = this;
    const shown = open ? thread.comments : thread.comments.slice(0, 1);
    const hold = (held: boolean): void => {
      this.held = held;
      if (!held) this.update(this.thread, open);
    };
    const items = shown.map((comment) => commentItem({ hands: this.hands, thread, comment, open, hold }));
    return [...this.about(place), el("ol", { class: "comments" }, ...items), this.foot(place, open)];
  }

  /** The passage, or a sentence about the part of the page. */
  private about(place: PagePlace | null): HTMLElement[] {
    const [quote] = this.thread.anchor.selector ?? [];
    const resolved = this.thread.status === "resolved" ? el("span", { class: "badge" }, "Resolved") : null;
    const words = place ? "About a part of the page" : "About the whole page";
    if (!quote) return [el("div", { class: "about" }, el("span", {}, words), resolved)];
    const cited = el("blockquote", { class: place ? "quote" : "quote lost", ...theirLanguage() }, quote.exact);
    const state = place
      ? place.changed
        ? "The passage has changed. It was:"
        : null
      : "No longer on the page. It was:";
    if (!state && !resolved) return [cited];
    return [el("div", { class: "about" }, state && el("span", {}, state), resolved), cited];
  }

  private foot(place: PagePlace | null, open: boolean): HTMLElement {
    const { hands, thread } = this;
    const replies = thread.comments.length - 1;
    const foot = el("div", { class: "actions" });
    if (isSending(thread)) return foot;
    const show = () => hands.open(thread.id);
    // Only the open thread has a button "Reply".
    if (!open) foot.append(button(replies > 0 ? plural(replies, "reply", "replies") : "Open", "quiet", show));
    if (place) foot.append(button("Show in page", "quiet", () => hands.jump(thread, this.element)));
    if (open) foot.append(button("Copy link", "quiet", () => this.copyLink(foot)));
    return foot;
  }

  /** Without a clipboard the link is shown, to be copied by hand. */
  private async copyLink(foot: HTMLElement): Promise<void> {
    const { id, anchor } = this.thread;
    const link = linkTo(id, anchor.selector?.[0] ?? null);
    if (await copy(link)) return this.hands.say("Link copied");
    const shown = el("input", { type: "text", readonly: true, "aria-label": "Link" });
    shown.value = link;
    foot.after(shown);
    shown.select();
    this.hands.say("Press Ctrl+C or ⌘C to copy the link");
  }
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

interface CardComment {
  hands: Hands;
  thread: Thread;
  comment: Comment;
  /** Whether its thread is the open one. */
  open: boolean;
  /** Called with true while a form of the comment is open: its thread is not drawn anew then. */
  hold(held: boolean): void;
}

/** A comment: its author, its time, its text, and the actions on it. */
function commentItem(shown: CardComment): HTMLElement {
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
    text.hidden = form instanceof HTMLFormElement; // the text is in the box
    item.append((asked = form));
    form.scrollIntoView({ block: "nearest" });
  };
  const more = buttons(moreOf(shown, ask, done));
  if (more.length > 0) head.append(el("span", { class: "more" }, ...more));
  const decided = hands.session.isOwner ? buttons(decisions(shown)) : [];
  if (decided.length > 0) item.append(el("div", { class: "buttons decide" }, ...decided));
  return item;
}

const EDITABLE_MS = 15 * 60_000;
/** An owner's name is the badge: the server calls every owner so, and no visitor. */
const KINDS = { visitor: null, owner: "Owner", agent: "Agent" } as const;

function headOf({ by, created_at, edited_at, visibility }: Comment, sending: boolean): HTMLElement {
  const kind = by && KINDS[by.kind];
  const time = el("time", { datetime: created_at, title: fullTime(created_at) }, ago(created_at));
  return el(
    "div",
    { class: "who" },
    by?.kind === "owner" ? null : el("bdi", { class: "name" }, by?.name ?? ""),
    kind && el("span", { class: "badge" }, kind),
    sending ? el("span", {}, "sending…") : time,
    edited_at === null ? null : el("span", {}, "edited"),
    visibility === "pending" ? el("span", { class: "badge waits" }, "awaiting approval") : null,
  );
}

const isRoot = ({ thread, comment }: CardComment): boolean => comment.id === thread.id;

/** Whether its author may still change it; the owner may change own comments at any time. */
const isEditable = ({ comment }: CardComment): boolean =>
  comment.mine && (comment.by?.kind === "owner" || Date.now() - Date.parse(comment.created_at) < EDITABLE_MS);

interface Action {
  label: string;
  kind?: string;
  press(this: void): unknown;
}

function decisions(shown: CardComment): Action[] {
  const { hands, thread, comment, open } = shown;
  const decision = (label: string, done: string, what: Decision): Action => ({
    label,
    press: async () => hands.say((await decide(hands.session, comment, what)) ?? done),
  });
  // An answer of the owner or an agent under a thread that waits is shown with it, and needs no decision of its own.
  const waits = comment.visibility === "pending" && comment.by?.kind === "visitor";
  const pending = waits ? [decision("Approve", "Approved", "approve"), decision("Hide", "Hidden", "reject")] : [];
  if (!open || !isRoot(shown)) return pending;
  return [
    ...pending,
    thread.status === "open" ? decision("Resolve", "Resolved", "resolve") : decision("Reopen", "Reopened", "reopen"),
  ];
}

/** The actions under "More", which are seldom wanted: for one's own comment and for those of others. */
function moreOf(shown: CardComment, ask: (form: HTMLElement) => void, done: () => void): Action[] {
  const { hands, thread, comment, open } = shown;
  const { session, say } = hands;
  if (!open || session.foreign) return [];
  const asked = { hands, comment, done };
  const list: Action[] = [];
  const is_gap = comment.text === null;
  if (is_gap && !(session.isOwner && isRoot(shown))) return []; // a deleted comment has no author, but the owner can delete its thread
  if (session.canPost && isEditable(shown)) list.push({ label: "Edit", press: () => ask(editing(asked)) });
  const replies = thread.comments.length - 1;
  const takes_replies = session.isOwner && isRoot(shown) && replies > 0;
  if (session.canPost && (comment.mine || session.isOwner)) {
    const erase = async () => say((await remove(session, comment.id)) ?? "Deleted");
    const press = () => (takes_replies ? ask(deleting(asked, plural(replies, "reply", "replies"))) : erase());
    list.push({ label: "Delete", kind: "warns", press });
  }
  if (!comment.mine && !session.isOwner)
    list.push({ label: "Report", kind: "quiet report", press: () => ask(reporting(asked)) });
  return list;
}

const buttons = (list: readonly Action[]): HTMLButtonElement[] =>
  list.map(({ label, kind = "quiet", press }) => button(label, kind, press));

/** A small form under a comment: to change it, to report it, or to delete it with its replies. */
interface Question {
  hands: Hands;
  comment: Comment;
  /** Takes the form away again. */
  done(): void;
}

function editing({ hands: { session }, comment, done }: Question): HTMLElement {
  const { element, box } = form({
    label: "Edit comment",
    submit: "Save",
    value: comment.text ?? "",
    cancel: done,
    async send(text) {
      const wrong = await edit(session, comment, text);
      if (wrong === null) done();
      return wrong;
    },
  });
  setTimeout(() => box.focus());
  return element;
}

const REASONS = { spam: "Spam", abuse: "Abuse", privacy: "It tells something private", other: "Something else" };

function reporting({ hands: { say }, comment, done }: Question): HTMLElement {
  const options = Object.entries(REASONS).map(([value, words]) => el("option", { value }, words));
  const reason = el("select", { "aria-label": "Reason" }, ...options);
  async function send(): Promise<void> {
    const wrong = await report(comment.id, reason.value, "");
    say(wrong ?? "Reported to the site's owner");
    done();
  }
  const buttons = el(
    "div",
    { class: "buttons" },
    button("Report it", "primary", send),
    button("Cancel", "plain", done),
  );
  setTimeout(() => reason.focus());
  const words = "Report this comment";
  return el("div", { class: "form", role: "group", "aria-label": words }, el("p", {}, words), reason, buttons);
}

/** Asks before replies are deleted together with the comment that they answer. */
function deleting({ hands: { session, say }, comment, done }: Question, replies: string): HTMLElement {
  async function go(): Promise<void> {
    const wrong = await remove(session, comment.id);
    say(wrong ?? "Deleted");
    done();
  }
  const sure = button("Delete", "danger", go);
  setTimeout(() => sure.focus());
  return el(
    "div",
    { class: "form", role: "group", "aria-label": "Delete this thread" },
    el("p", {}, `This deletes the comment and ${replies}, for good.`),
    el("div", { class: "buttons" }, sure, button("Keep it", "plain", done)),
  );
}
