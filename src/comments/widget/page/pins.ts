/** A button beside each passage that has a thread, in the order in which the page is read. The pins lie in a layer of the
 *  document's own size, so that they scroll with it and move nothing. */
import type { Thread } from "../../types.ts";
import { el } from "../dom.ts";
import { plural, shortened } from "../words.ts";
import { isRightToLeft } from "./theme.ts";
import type { Place } from "./places.ts";

export interface Pinned {
  thread: Thread;
  place: Place;
}

const GAP = 8;
/** As wide as a pin with its gap; on a narrow page, where it lies on the text, as little as can be. */
const ROOM = 40;
const NARROW = 600;
const LITTLE_ROOM = 30;
/** From one to the next. */
const APART = 30;

function pinName({ status, comments, anchor }: Thread): string {
  const quote = shortened(anchor.selector?.[0].exact ?? "");
  const replies = plural(comments.length - 1, "reply", "replies");
  return `Thread on '${quote}', ${replies}${status === "resolved" ? ", resolved" : ""}`;
}

const BLOCK = "p, li, td, th, dd, dt, pre, blockquote, figure, h1, h2, h3, h4, h5, h6, article, section, main, div";

interface Spot {
  x: number;
  y: number;
}

/** What of the page's width the panel leaves. */
interface Free {
  left: number;
  right: number;
}

/** Beside the end of the passage's lines, where there is room, else at the page's edge. Null where nothing of it is shown. */
function spotOf({ range }: Place, { left, right }: Free): Spot | null {
  const rect = [...range.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  const element = range.startContainer.parentElement;
  // What is folded away has a place, but nobody sees it there.
  if (!rect || element?.checkVisibility?.({ visibilityProperty: true }) === false) return null;
  const block = element?.closest(BLOCK)?.getBoundingClientRect() ?? rect;
  const behind = Math.max(block.right, rect.right) + GAP;
  const before = Math.min(block.left, rect.left) - ROOM + GAP / 2;
  const beside = isRightToLeft() ? before : behind;
  const room = right - left < NARROW ? LITTLE_ROOM : ROOM;
  const x = Math.max(left + room - 28 - GAP / 2, Math.min(beside, right - room));
  return { x: x + scrollX, y: Math.max(0, rect.top + scrollY + rect.height / 2 - 14) };
}

export class Pins {
  readonly element = el("div", { class: "pins", popover: "manual" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private pinned: readonly Pinned[] = [];
  private beside: HTMLElement | null = null;
  private frame = 0;

  constructor(private readonly press: (id: string) => void) {}

  of(id: string): HTMLButtonElement | null {
    return this.buttons.get(id) ?? null;
  }

  /** `pinned` in reading order; `beside`: what may cover the page's right side. */
  draw(pinned: readonly Pinned[], active: string | null, beside: HTMLElement | null): void {
    this.pinned = pinned;
    this.beside = beside;
    const ids = new Set(pinned.map(({ thread }) => thread.id));
    for (const [id, pin] of this.buttons) {
      if (ids.has(id)) continue;
      pin.remove();
      this.buttons.delete(id);
    }
    pinned.forEach(({ thread }, at) => {
      const pin = this.pinOf(thread);
      pin.ariaLabel = pinName(thread);
      pin.dataset["count"] = String(thread.comments.length); // drawn: its name says it in words
      pin.className = `pin ${thread.status} ${thread.visibility}`;
      pin.ariaExpanded = String(thread.id === active);
      if (this.element.children[at] !== pin) this.element.insertBefore(pin, this.element.children[at] ?? null);
    });
    this.place();
  }

  private pinOf({ id }: Thread): HTMLButtonElement {
    let pin = this.buttons.get(id);
    if (!pin) this.buttons.set(id, (pin = el("button", { type: "button", press: () => this.press(id) })));
    return pin;
  }

  /** Soon, and once for all that happens meanwhile. */
  placeSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.place();
    });
  }

  /** A sheet takes nothing of the width. */
  private free(): Free {
    const width = document.documentElement.clientWidth;
    const panel = this.beside?.getBoundingClientRect();
    if (!panel || panel.width > width / 2) return { left: 0, right: width };
    return isRightToLeft() ? { left: panel.right, right: width } : { left: 0, right: panel.left };
  }

  private place(): void {
    const free = this.free();
    const spots = this.pinned.map(({ place }) => spotOf(place, free));
    const taken: Spot[] = [];
    this.pinned.forEach(({ thread }, i) => {
      const pin = this.buttons.get(thread.id)!;
      const spot = spots[i];
      pin.hidden = !spot;
      if (!spot) return;
      const y = below(taken, spot);
      taken.push({ x: spot.x, y });
      pin.style.left = `${spot.x}px`;
      pin.style.top = `${y}px`;
    });
  }
}

/** Where no earlier pin lies. */
function below(taken: readonly Spot[], { x, y }: Spot): number {
  const near = taken.filter((one) => Math.abs(one.x - x) < APART).toSorted((a, b) => a.y - b.y);
  let free = y;
  for (const one of near) if (Math.abs(one.y - free) < APART) free = one.y + APART;
  return free;
}
