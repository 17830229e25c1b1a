/** Drawings on the page itself: the colours of passages, and the answer to a click or a pointer on them. */
import type { Pinned } from "./pins.ts";
import { highlight } from "./highlights.ts";

const USED = "a, button, input, textarea, select, summary, label, [role=button], [contenteditable]";

interface ShownMark {
  pinned: readonly Pinned[];
  active: string | null;
  /** A passage that is being commented on. */
  passage: Range | null;
}

const rangesOf = (pinned: readonly Pinned[]): Range[] => pinned.map(({ place }) => place.range);

export class Marks {
  private pinned: readonly Pinned[] = [];
  private hovered = "";

  constructor(private readonly press: (id: string) => void) {}

  draw({ pinned: all, active, passage }: ShownMark): void {
    // A part of the page is a component that is used: its clicks are its own, and its text is inside it.
    const pinned = all.filter(({ thread }) => thread.anchor.selector);
    this.pinned = pinned;
    const open = pinned.filter(({ thread }) => thread.status === "open");
    highlight("svc-comment", rangesOf(open.filter(({ thread }) => thread.id !== active)));
    const chosen = rangesOf(pinned.filter(({ thread }) => thread.id === active));
    highlight("svc-comment-active", passage ? [passage, ...chosen] : chosen);
    this.hovered = "";
    highlight("svc-comment-resolved", []);
  }

  listen(signal: AbortSignal): void {
    document.addEventListener("click", (event) => this.click(event), { signal });
    document.addEventListener("pointermove", (event) => this.hover(event), { signal, passive: true });
  }

  private at(event: MouseEvent): Pinned | undefined {
    const found = this.pinned.filter(({ place }) => isAt(place.range, event.clientX, event.clientY));
    // The shortest is the one that is meant: a longer passage has other places to be pressed at.
    return found.toSorted((a, b) => lengthOf(a) - lengthOf(b))[0];
  }

  private click(event: PointerEvent): void {
    const { target, pointerType } = event;
    if (event.defaultPrevented || !(target instanceof Element) || target.closest(USED)) return;
    if (getSelection()?.isCollapsed === false || !document.body.contains(target)) return;
    const found = this.at(event);
    // A mouse sees a resolved one under itself; a finger would come upon it in plain text.
    if (found && (found.thread.status === "open" || pointerType === "mouse")) this.press(found.thread.id);
  }

  /** A resolved passage shows itself under the pointer alone. */
  private hover(event: PointerEvent): void {
    const resolved = this.pinned.filter(({ thread }) => thread.status === "resolved");
    if (resolved.length === 0) return;
    const under = resolved.filter(({ place }) => isAt(place.range, event.clientX, event.clientY));
    const ids = under.map(({ thread }) => thread.id).join();
    if (ids === this.hovered) return;
    this.hovered = ids;
    highlight("svc-comment-resolved", rangesOf(under));
  }
}

const lengthOf = ({ place }: Pinned): number => place.range.toString().length;

const isAt = (range: Range, x: number, y: number): boolean =>
  [...range.getClientRects()].some(
    ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom,
  );
