/** The widget's panel: threads, forms, settings of the visitor. The panel in which threads are read and written: a
 *  drawer, on narrow screens a sheet. */
import type { Thread } from "../../types.ts";
import { COMMENTS } from "../call.ts";
import { button, el, icon, theirLanguage } from "../dom.ts";
import type { Passage } from "../page/quote-of.ts";
import type { Session } from "../session.ts";
import { ago } from "../words.ts";
import { enter, eraseMe, isSending, rename } from "../writing.ts";
import { Card } from "./card.ts";
import { composer } from "./composer.ts";
import { type Form, form } from "./form.ts";
import type { Hands } from "./hands.ts";

const CROSS = "M4 4l8 8M12 4l-8 8";

interface PanelParts {
  hands: Hands;
  opened(): void;
  /** Called when the panel opens or closes, and when its thread or passage changes. */
  changed(): void;
  /** Called when the panel closes with the focus inside, with the passage that got no comment after all. */
  closed(passage: Passage | null): void;
}

export class Panel {
  readonly element: HTMLElement;
  /** The id of the open thread. */
  active: string | null = null;
  /** The passage that a new comment is about. */
  passage: Passage | null = null;
  private readonly notice = el("p", { class: "notice", hidden: true });
  private readonly gate = el("div", { class: "gate" });
  private readonly start = el("div", { class: "start" });
  private readonly list = el("ol", { class: "threads", "aria-label": "Threads" });
  private readonly empty = el("p", { class: "empty", hidden: true });
  /** Begins a comment on the whole page, while the box in sight is the open thread's. */
  private readonly page = button("Comment on the whole page", "quiet page", () => this.turnToPage());
  /** The box of the open thread; without one that of the whole page. */
  private readonly foot = el("div", { class: "foot" });
  private readonly me: Me;
  private readonly cards = new Map<string, Card>();
  private passcode: Form | null = null;
  private written: { form: Form; about: string } | null = null;

  constructor(private readonly parts: PanelParts) {
    this.me = new Me(parts.hands);
    const close = button("", "close", () => this.close());
    close.ariaLabel = "Close";
    close.append(icon(CROSS));
    const head = el("div", { class: "head" }, el("h2", {}, "Comments"), close);
    const body = el("div", { class: "body" }, this.notice, this.gate, this.start, this.empty, this.list);
    const names = { class: "panel", role: "complementary", "aria-label": "Comments", popover: "manual" };
    this.element = el("div", { ...names, hidden: true }, head, body, this.foot, this.me.element);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(): void {
    if (this.isOpen) return;
    this.element.hidden = false;
    this.element.showPopover?.();
    this.parts.opened();
    this.parts.changed();
  }

  close(): void {
    if (!this.isOpen) return;
    const { passage } = this;
    // Asked before the box goes, and the focus with it.
    const had_focus = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.endPassage();
    this.active = null;
    this.element.hidePopover?.();
    this.element.hidden = true;
    this.parts.changed();
    if (had_focus) this.parts.closed(passage);
  }

  /** Opens the panel, or draws it anew if it is open. */
  private now(): void {
    if (this.isOpen) this.parts.changed();
    else this.open();
  }

  /** Opens a thread. The focus stays, unless it is asked for. */
  show(id: string, focus: boolean): void {
    this.active = id;
    this.now();
    const card = this.cards.get(id);
    if (focus) card?.focus();
    else card?.element.scrollIntoView({ block: "nearest" });
  }

  /** Brings the times up to date. */
  tick(): void {
    for (const time of this.element.querySelectorAll("time")) time.textContent = ago(time.dateTime);
  }

  focusFirst(): void {
    // A box with the focus brings a keyboard over half of a phone.
    const box = this.passcode?.box ?? (matchMedia("(pointer: coarse)").matches ? null : this.written?.form.box);
    (box ?? this.element.querySelector("button"))?.focus();
  }

  /** Begins a comment on this passage; its box gets the focus. */
  compose(passage: Passage): void {
    this.passage = passage;
    this.active = null;
    const { quote, element } = passage;
    const made = composer(this.parts.hands, {
      thread_id: null,
      quote,
      element,
      hint: "Write a comment…",
      cancel: () => this.close(),
      posted: (id) => {
        this.endPassage();
        this.show(id, true);
      },
    });
    const about = quote
      ? el("blockquote", { class: "quote", ...theirLanguage() }, quote.exact)
      : el("p", { class: "about" }, "About a part of the page");
    this.start.replaceChildren(about, made.element);
    this.now();
    made.box.focus();
  }

  private endPassage(): void {
    this.passage = null;
    this.start.replaceChildren();
  }

  /** Draws the panel if it is open: a page can have 500 threads. `threads` are in reading order. */
  draw(threads: readonly Thread[]): void {
    if (!this.isOpen) return;
    const { session } = this.parts.hands;
    const open = session.access === "open";
    this.drawGate(session.access === "passcode");
    this.drawNotice();
    this.drawThreads(threads);
    this.empty.hidden = !open || threads.length > 0 || this.passage !== null;
    this.empty.textContent = session.canPost
      ? "No comments yet. Select a passage to comment on it, or write about the whole page."
      : "No comments yet.";
    this.drawFoot(threads);
    this.me.update();
  }

  private drawGate(shut: boolean): void {
    const asked = shut && !this.parts.hands.session.foreign;
    if (asked && !this.passcode) {
      this.passcode = passcodeForm(this.parts.hands.session);
      this.gate.replaceChildren(this.passcode.element);
    }
    if (!asked && this.passcode) {
      this.passcode = null;
      this.gate.replaceChildren();
    }
  }

  private drawNotice(): void {
    const { session } = this.parts.hands;
    const words =
      session.access === "silent"
        ? "The comments cannot be reached now."
        : session.access === "open" && session.foreign
          ? "Open the page itself to write here."
          : session.access === "open" && !session.viewer.can_post
            ? "Comments are frozen"
            : "";
    this.notice.hidden = words === "";
    this.notice.textContent = words;
  }

  private drawThreads(threads: readonly Thread[]): void {
    const ids = new Set(threads.map(({ id }) => id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      if (card.element.contains((this.element.getRootNode() as ShadowRoot).activeElement)) this.focusFirst();
      card.element.remove();
      this.cards.delete(id);
    }
    threads.forEach((thread, at) => {
      const card = this.cardOf(thread);
      card.update(thread, thread.id === this.active);
      // A card that is in its place already is not moved: it would lose the focus.
      if (this.list.children[at] !== card.element) this.list.insertBefore(card.element, this.list.children[at] ?? null);
    });
  }

  private cardOf(thread: Thread): Card {
    let card = this.cards.get(thread.id);
    if (!card) this.cards.set(thread.id, (card = new Card(this.parts.hands, thread)));
    return card;
  }

  private turnToPage(): void {
    this.active = null;
    this.parts.changed();
    this.written?.form.box.focus();
  }

  private drawFoot(threads: readonly Thread[]): void {
    const { hands } = this.parts;
    const { session } = hands;
    const thread = threads.find(({ id }) => id === this.active);
    const shut = !session.canPost || this.passage !== null || (thread && isSending(thread));
    const about = shut ? "" : (thread?.id ?? `page ${session.page}`);
    if (shut || !thread) this.page.remove();
    else if (!this.page.isConnected) this.list.before(this.page);
    if (about === (this.written?.about ?? "")) return;
    const had_focus = this.foot.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.written = about ? { about, form: this.composerOf(thread) } : null;
    this.foot.replaceChildren(...(this.written ? [this.written.form.element] : []));
    if (had_focus) this.focusFirst();
  }

  private composerOf(thread: Thread | undefined): Form {
    const { hands } = this.parts;
    if (thread) return composer(hands, { thread_id: thread.id, quote: null, hint: replyTo(thread) });
    const hint = "Comment on the whole page…";
    return composer(hands, { thread_id: null, quote: null, hint, posted: (id) => this.show(id, true) });
  }
}

/** Names whom the reader answers: the person who began the thread, or the first one who answered the reader. */
function replyTo({ comments }: Thread): string {
  const other = comments.find(({ by, mine }) => by && !mine);
  return `Reply${other ? ` to ${other.by!.name}` : ""}…`;
}

/** The name under which the reader writes, with the ways to change it, to get a copy of all own comments and to erase them. */
class Me {
  readonly element = el("div", { class: "me" });
  private drawn = "";

  constructor(private readonly hands: Hands) {}

  update(): void {
    const { viewer, access, canPost } = this.hands.session;
    const known = viewer.id !== null && access === "open";
    const sign = known ? JSON.stringify([viewer, canPost]) : "";
    if (sign === this.drawn) return;
    this.drawn = sign;
    this.element.replaceChildren(...(known ? this.parts(viewer.name ?? "", viewer.owner) : []));
  }

  private parts(name: string, owner: boolean): HTMLElement[] {
    const said = el("p", {}, owner ? "You moderate as " : "You write as ", el("bdi", { class: "name" }, name));
    if (owner || !this.hands.session.canPost) return [said];
    const more = button("Your data", "quiet", () => this.tell());
    return [said, button("Rename", "quiet", () => this.ask(name)), more];
  }

  /** Shows the name again after a form has taken its place. */
  private again(): void {
    this.drawn = "";
    this.update();
    this.element.querySelector("button")?.focus();
  }

  private ask(name: string): void {
    const { session } = this.hands;
    const { element, box } = form({
      label: "Your name",
      submit: "Save",
      line: "text",
      value: name,
      cancel: () => this.again(),
      send: async (text) => {
        const wrong = await rename(session, text.trim());
        if (wrong === null) this.again();
        return wrong;
      },
    });
    this.element.replaceChildren(element);
    box.focus();
    box.select();
    element.scrollIntoView({ block: "nearest" });
  }

  private tell(): void {
    const { session, say } = this.hands;
    const copy = el("a", { href: `${COMMENTS}me/export`, download: "comments.json" }, "Download what you wrote");
    const erase = async (): Promise<void> => {
      say((await eraseMe(session)) ?? "All that you wrote here is erased");
      this.again();
    };
    const cancel = button("Cancel", "plain", () => this.again());
    const told = el(
      "div",
      { class: "form", role: "group", "aria-label": "Your data" },
      el("p", {}, "You are known here by a cookie alone. ", copy, "."),
      el("div", { class: "buttons" }, button("Erase all of it", "danger", erase), cancel),
    );
    this.element.replaceChildren(told);
    cancel.focus();
    told.scrollIntoView({ block: "nearest" });
  }
}

/** Asks for the passcode of the comments; the page itself is open. */
function passcodeForm(session: Session): Form {
  const made = form({ label: "Passcode", submit: "Enter", line: "password", send: (text) => enter(session, text) });
  made.element.prepend(
    el("p", { class: "lead" }, "These comments are for people who have the passcode."),
    el("p", { class: "hint" }, "It guards the comments, not the page."),
  );
  return made;
}
