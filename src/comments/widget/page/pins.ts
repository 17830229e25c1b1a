/** A button beside each passage that has a thread, in the order in which the page is read. The pins lie in a layer of the
 *  document's own size, so that they scroll with it and move nothing. */
import type { Thread } from "../../types.ts";
import { el } from "../dom.ts";
import { plural, shortened } from "../words.ts";
import type { Place } from "./places.ts";
import { below, freeBeside, type Spot, spotOf } from "./spots.ts";

export interface Pinned {
  thread: Thread;
  place: Place;
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
  /** Below the page's end, for as long as a sheet covers it: what stands there can be scrolled above the sheet. */
  private readonly room = el("div", { class: "room" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private pinned: readonly Pinned[] = [];
  private beside: HTMLElement | null = null;
  private frame = 0;

  constructor(private readonly press: (id: string) => void) {}

  of(id: string): HTMLButtonElement | null {
    return this.buttons.get(id) ?? null;
  }

  /** `pinned` in reading order; `beside`: the panel while it is open. */
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

  private makeRoom(sheet: boolean): void {
    const { room, beside } = this;
    if (!beside || !sheet) return room.remove();
    if (room.isConnected) return; // whoever has scrolled into it would be thrown back by a look without it
    room.style.top = `${document.documentElement.scrollHeight + beside.offsetHeight - 1}px`;
    this.element.append(room);
  }

  private place(): void {
    this.makeRoom(freeBeside(this.beside).drawer === null);
    const free = freeBeside(this.beside); // with the scrollbar that the room may have brought, or taken away
    const spots = this.pinned.map(({ place }) => spotOf(place, free));
    const taken: Spot[] = [];
    this.pinned.forEach(({ thread }, i) => {
      const pin = this.buttons.get(thread.id)!;
      const spot = spots[i];
      pin.hidden = !spot;
      if (!spot) return;
      const y = below(taken, spot);
      taken.push({ ...spot, y });
      pin.dataset["lies"] = spot.lies;
      Object.assign(pin.style, { left: `${spot.x}px`, top: `${y}px`, width: `${spot.width}px` });
    });
    this.rail.hidden = !taken.some(({ lies }) => lies === "rail");
  }
}
