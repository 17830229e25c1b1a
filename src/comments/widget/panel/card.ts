/** A thread in the panel: its passage, what was written, and a box to answer in while it is the open one. */
import type { Thread } from "../../types.ts";
import { button, el, theirLanguage } from "../dom.ts";
import { linkTo } from "../hash.ts";
import type { Place } from "../page/places.ts";
import { isSending } from "../sending.ts";
import { plural } from "../words.ts";
import { commentItem } from "./comment.ts";
import { composer } from "./composer.ts";
import type { Form } from "./form.ts";
import type { Hands } from "./hands.ts";

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export class Card {
  readonly element: HTMLLIElement;
  private readonly content = el("div", { class: "content" });
  private reply: Form | null = null;
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
    this.drawReply(open);
    if (had_focus) this.element.focus({ preventScroll: true });
  }

  private drawReply(open: boolean): void {
    const wanted = open && this.hands.session.canPost && !isSending(this.thread);
    if (wanted && !this.reply) {
      this.reply = composer(this.hands, { thread_id: this.thread.id, quote: null, hint: "Reply…" });
      this.element.append(this.reply.element);
    }
    if (!wanted) this.reply?.element.remove();
    if (!wanted) this.reply = null;
  }

  private parts(place: Place | null, open: boolean): HTMLElement[] {
    const { thread } = this;
    const shown = open ? thread.comments : thread.comments.slice(0, 1);
    const hold = (held: boolean): void => {
      this.held = held;
      if (!held) this.update(this.thread, open);
    };
    const items = shown.map((comment) => commentItem({ hands: this.hands, thread, comment, open, hold }));
    return [...this.about(place), el("ol", { class: "comments" }, ...items), this.foot(place, open)];
  }

  /** The passage, or what there is instead. */
  private about(place: Place | null): HTMLElement[] {
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

  private foot(place: Place | null, open: boolean): HTMLElement {
    const { hands, thread } = this;
    const replies = thread.comments.length - 1;
    const foot = el("div", { class: "actions" });
    if (isSending(thread)) return foot;
    const show = () => hands.open(thread.id);
    // One button in the panel is called "Reply": the open thread's.
    if (!open) foot.append(button(replies > 0 ? plural(replies, "reply", "replies") : "Open", "quiet", show));
    if (place) foot.append(button("Show in page", "quiet", () => hands.jump(thread, this.element)));
    if (open) foot.append(button("Copy link", "quiet", () => this.copyLink(foot)));
    return foot;
  }

  /** Where there is no clipboard, the link stands there to be copied. */
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
