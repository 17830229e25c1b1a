/** A button beside each passage that has a thread, in the order in which the page is read. The pins lie in a layer of the
 *  document's own size, so that they scroll with it and move nothing. */
import type { Thread } from "../../types.ts";
import { el } from "../dom.ts";
import { plural, shortened } from "../words.ts";
import type { Place } from "./places.ts";

export interface Pinned {
  thread: Thread;
  place: Place;
}

const GAP = 8;
/** As wide as a pin with its gap. */
const ROOM = 40;
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

/** Beside the passage's block, where there is room, else at the page's edge. Null where nothing of it is shown. */
function spotOf({ range }: Place, width: number): Spot | null {
  const rect = [...range.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  if (!rect) return null;
  const node = range.startContainer;
  const block = (node instanceof Element ? node : node.parentElement)?.closest(BLOCK)?.getBoundingClientRect() ?? rect;
  const beside = Math.max(block.right, rect.right) + GAP;
  const x = Math.max(0, Math.min(beside, width - ROOM));
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
      pin.textContent = String(thread.comments.length);
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

  private place(): void {
    const page = document.documentElement.clientWidth;
    const left = this.beside?.offsetLeft || page; // a sheet begins at the page's own edge
    const width = Math.min(page, left);
    const spots = this.pinned.map(({ place }) => spotOf(place, width));
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
