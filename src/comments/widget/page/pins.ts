/** The widget's marks on the page: pins, highlights, selection. A button next to each passage that has a thread, in the
 *  order in which the page is read. The pins are in a layer of the document's own size, so that they scroll with it and
 *  move nothing. */
import type { Thread } from "../../types.ts";
import { el } from "../dom.ts";
import { plural, shortened } from "../words.ts";
import { elementOf } from "./parts.ts";
import type { PagePlace } from "./places.ts";
import { isSheet } from "./room.ts";
import { isRightToLeft, unit } from "./theme.ts";

export interface Pinned {
  thread: Thread;
  place: PagePlace;
}

function pinName({ status, comments, anchor }: Thread): string {
  const quote = shortened(anchor.selector?.[0].exact ?? "a part of the page");
  const replies = plural(comments.length - 1, "reply", "replies");
  return `Thread on '${quote}', ${replies}${status === "resolved" ? ", resolved" : ""}`;
}

export class Pins {
  readonly element = el("div", { class: "pins", popover: "manual" });
  /** Along the drawer, below the pins: what they would lie on otherwise is text. */
  readonly rail = el("div", { class: "rail", hidden: true });
  /** Empty room below the page's end while a sheet covers it, so that the end can be scrolled above the sheet. */
  private readonly room = el("div", { class: "room" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private pinned: readonly Pinned[] = [];
  private active: string | null = null;
  private beside: HTMLElement | null = null;
  private frame = 0;

  constructor(private readonly press: (id: string) => void) {}

  of(id: string): HTMLButtonElement | null {
    return this.buttons.get(id) ?? null;
  }

  /** `pinned` is in reading order; `beside` is the panel while it is open. */
  draw(pinned: readonly Pinned[], active: string | null, beside: HTMLElement | null): void {
    this.pinned = pinned;
    this.active = active;
    this.beside = beside;
    const ids = new Set(pinned.map(({ thread }) => thread.id));
    for (const [id, pin] of this.buttons) {
      if (ids.has(id)) continue;
      pin.remove();
      this.buttons.delete(id);
    }
    this.place();
  }

  /** Soon, and once for all that happens meanwhile. */
  placeSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.place();
    });
  }

  private makeRoom(sheet: boolean): void {
    const { room, beside } = this;
    if (!sheet || !beside) return room.remove();
    if (room.isConnected) return; // a reader who has scrolled into the room would be thrown back without it
    room.style.top = `${document.documentElement.scrollHeight + beside.offsetHeight - 1}px`;
    this.element.append(room);
  }

  private place(): void {
    measure();
    this.makeRoom(freeBeside(this.beside).drawer === null);
    const free = freeBeside(this.beside); // with the scrollbar that the room may have brought, or taken away
    // All are looked for before one is put into the page, which would have to be laid out anew.
    const spots = this.pinned.map(({ place }) => spotOf(place, free));
    const taken: Spot[] = [];
    const most = this.buttons.size + AT_ONCE;
    let next = this.element.firstChild;
    for (const [i, { thread }] of this.pinned.entries()) {
      let pin = this.buttons.get(thread.id);
      if (!pin) {
        if (this.buttons.size === most) return this.placeSoon();
        this.buttons.set(thread.id, (pin = el("button", { type: "button", press: () => this.press(thread.id) })));
      }
      pin.ariaLabel = pinName(thread);
      pin.dataset["count"] = String(thread.comments.length); // drawn: its name says it in words
      pin.className = `pin ${thread.status} ${thread.visibility}`;
      pin.ariaExpanded = String(thread.id === this.active);
      if (next === pin) next = pin.nextSibling;
      else this.element.insertBefore(pin, next);
      const spot = spots[i];
      pin.hidden = !spot;
      if (!spot) continue;
      spot.y = below(taken, spot);
      taken.push(spot);
      pin.dataset["lies"] = spot.lies;
      Object.assign(pin.style, { left: `${spot.x}px`, top: `${spot.y}px`, width: `${spot.width}px` });
    }
    this.rail.hidden = !taken.some(({ lies }) => lies === "rail");
  }
}

/** So many new ones in a frame: a reader who scrolls should not wait until hundreds are styled. */
const AT_ONCE = 100;

/** The place of a pin. It is next to the lines of its passage if the page has room there. Otherwise it is on the
 *  drawer's rail, or a tab at the window's edge if there is no drawer: on a page without a margin a whole pin would
 *  cover the text. */
interface Spot {
  x: number;
  y: number;
  width: number;
  lies: "beside" | "rail" | "edge";
}

/** In pixels of the widget (`unit`). */
const MEASURES = {
  /** A pin, and the least that still shows a number and can be hit. */
  size: 28,
  slim: 14,
  gap: 8,
  /** The gap at the window's edge, and on both sides of a pin on the rail. */
  little: 4,
  rail: 36,
  /** From one to the next. */
  apart: 30,
};
let at = MEASURES;
function measure(): void {
  const one = unit();
  const grown = Object.entries(MEASURES).map(([name, pixels]) => [name, pixels * one]);
  at = Object.fromEntries(grown) as typeof MEASURES;
}

const BLOCK = "p, li, td, th, dd, dt, pre, blockquote, figure, h1, h2, h3, h4, h5, h6, article, section, main, div";

/** The part of the window's width that belongs to the page, and the place where the drawer begins (null without a
 *  drawer). */
interface Free {
  left: number;
  right: number;
  drawer: number | null;
}

/** A sheet takes nothing of the width. */
function freeBeside(panel: HTMLElement | null): Free {
  const width = document.documentElement.clientWidth;
  if (!panel || isSheet(panel)) return { left: 0, right: width, drawer: null };
  const taken = panel.getBoundingClientRect();
  if (isRightToLeft()) return { left: taken.right + at.rail, right: width, drawer: taken.right };
  return { left: 0, right: taken.left - at.rail, drawer: taken.left };
}

/** The lines of a passage, in the window's coordinates. */
interface Lines {
  /** The left and right edge of the block that holds the lines. */
  from: number;
  to: number;
  /** The edges of only those lines that would be next to a pin. */
  near(): { from: number; to: number };
}

/** The place of a pin across the window, as if nothing were scrolled. */
function across(lines: Lines, { left, right, drawer }: Free): Omit<Spot, "y"> {
  const rtl = isRightToLeft();
  const roomOf = ({ from, to }: { from: number; to: number }): number => (rtl ? from - left : right - to);
  const room = roomOf(lines);
  // Lines that end early leave room in their own block. A rail is better than pins on both sides of it.
  if (room >= at.size + at.little || (drawer === null && roomOf(lines.near()) >= at.size + at.little)) {
    const x = rtl
      ? Math.max(lines.from - at.gap - at.size, left + at.little)
      : Math.min(lines.to + at.gap, right - at.little - at.size);
    return { x, width: at.size, lies: "beside" };
  }
  if (drawer !== null)
    return { x: rtl ? drawer + at.little : drawer - at.little - at.size, width: at.size, lies: "rail" };
  const width = Math.max(at.slim, Math.min(Math.floor(room) - 1, at.size));
  return { x: rtl ? left : right - width, width, lies: "edge" };
}

/** The number of characters around a passage in which lines are looked at: a line farther off is never next to its pin,
 *  however wide the window is and however small the letters. A block may hold a whole book, and to look at all its
 *  lines for each pin takes seconds. */
const NEARBY = 2000;

/** The place that is so far before a passage's beginning, or behind it; null if the block ends first. */
function farFrom(block: Element, passage: Range, step: "previousNode" | "nextNode"): [node: Text, at: number] | null {
  const { startContainer, startOffset } = passage;
  const from = startContainer instanceof Text ? startContainer : elementOf(passage)!;
  const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  texts.currentNode = from;
  const back = step === "previousNode";
  let left = NEARBY;
  for (let node = from instanceof Text ? from : texts[step](); node; node = texts[step]()) {
    const { length } = node as Text;
    const at = node === from ? startOffset : back ? length : 0;
    const room = back ? at : length - at;
    if (room >= left) return [node as Text, back ? at - left : at + left];
    left -= room;
  }
  return null;
}

function aroundIn(block: Element, passage: Range): Range {
  const around = document.createRange();
  around.selectNodeContents(block);
  const [before, behind] = [farFrom(block, passage, "previousNode"), farFrom(block, passage, "nextNode")];
  if (before) around.setStart(...before);
  if (behind) around.setEnd(...behind);
  return around;
}

/** The edges of the block's lines that would be next to a pin at `rect`. */
function nearIn(block: Element, passage: Range, rect: DOMRect): { from: number; to: number } {
  const middle = (rect.top + rect.bottom) / 2;
  const near = [...aroundIn(block, passage).getClientRects()].filter(
    ({ top, bottom }) => top < middle + at.size / 2 && bottom > middle - at.size / 2,
  );
  return {
    from: Math.min(rect.left, ...near.map(({ left }) => left)),
    to: Math.max(rect.right, ...near.map(({ right }) => right)),
  };
}

/** The place of a pin; null if nothing of its passage is shown. */
function spotOf({ range }: PagePlace, free: Free): Spot | null {
  const rect = [...range.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  const element = elementOf(range);
  // A passage that is folded away has a place, but no reader sees it there.
  if (!rect || element?.checkVisibility?.({ visibilityProperty: true }) === false) return null;
  const around = element?.closest(BLOCK);
  const block = around?.getBoundingClientRect() ?? rect;
  const [from, to] = [Math.min(block.left, rect.left), Math.max(block.right, rect.right)];
  const spot = across({ from, to, near: () => (around ? nearIn(around, range, rect) : { from, to }) }, free);
  return { ...spot, x: spot.x + scrollX, y: Math.max(0, rect.top + scrollY + (rect.height - at.size) / 2) };
}

/** The first height at which this pin covers no earlier one. */
function below(taken: readonly Spot[], { x, y }: Spot): number {
  const near = taken.filter((one) => Math.abs(one.x - x) < at.apart && y - one.y < at.apart);
  let free = y;
  for (const one of near.toSorted((a, b) => a.y - b.y)) if (one.y < free + at.apart) free = one.y + at.apart;
  return free;
}
