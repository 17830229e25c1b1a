/** The panel's place, so that it never covers the passage that it is about (COMMENTS 5). A page that makes room for a drawer says
 *  so in its own styles, and has the drawer beside its text; on others it is a sheet where the drawer would be over the text. */
import { isRightToLeft, unit } from "./theme.ts";

/** The width of the drawer with its rail, and the least width of a window in which a page that makes no room for them has any: in
 *  pixels of the widget. */
const DRAWER = 412;
const WIDE = 1200;

export const isSheet = (panel: HTMLElement): boolean => panel.parentElement!.classList.contains("sheet");

export class Room {
  /** The window's, scrollbar and all: a sheet may bring one. */
  private width = 0;
  /** The address opens the panel: a docs site has made room already, so that nothing shifts then. */
  private awaited = location.hash.startsWith("#svc-");

  constructor(private readonly layer: HTMLElement) {}

  /** The comment of the address is shown, or there is none. */
  arrived(): void {
    this.awaited = false;
  }

  /** Called whenever the panel opens or closes, or is about another passage, or the window has another size. An open sheet
   *  becomes no drawer for a passage that is elsewhere: nothing jumps to and fro. */
  fit(open: boolean, passage: Range | null): void {
    const { documentElement: root } = document;
    const { classList } = this.layer;
    if (!this.awaited) root.toggleAttribute(MARK, open);
    const changed = innerWidth !== this.width;
    this.width = open ? innerWidth : 0;
    if (!open) return;
    const beside = getComputedStyle(root).getPropertyValue("--svc-comments").trim() === "beside";
    const before = !changed && classList.contains("sheet");
    classList.toggle("sheet", !beside && (before || innerWidth < WIDE * unit() || covers(passage)));
  }
}

const MARK = "data-svc-comments";

function covers(passage: Range | null): boolean {
  if (!passage) return false;
  const { left, right } = passage.getBoundingClientRect();
  const drawer = DRAWER * unit();
  return isRightToLeft() ? left < drawer : right > document.documentElement.clientWidth - drawer;
}
