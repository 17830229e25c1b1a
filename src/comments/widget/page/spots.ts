/** Where a pin lies: beside its passage's lines where the page has room for it. Else on the drawer's rail, or, without a
 *  drawer, as a tab at the window's edge: on a page without a margin a whole pin would lie on the text. */
import { elementOf } from "./parts.ts";
import type { Place } from "./places.ts";
import { isRightToLeft } from "./theme.ts";

export interface Spot {
  x: number;
  y: number;
  width: number;
  lies: "beside" | "rail" | "edge";
}

/** A pin, and the least that still shows a number and can be hit. */
const SIZE = 28;
const SLIM = 14;
const GAP = 8;
/** At the window's edge, and on both sides of a pin on the rail. */
const LITTLE = 4;
const RAIL = SIZE + 2 * LITTLE;
/** From one to the next. */
const APART = 30;

const BLOCK = "p, li, td, th, dd, dt, pre, blockquote, figure, h1, h2, h3, h4, h5, h6, article, section, main, div";

/** What of the window's width is the page's, and where the drawer begins; null without one. */
interface Free {
  left: number;
  right: number;
  drawer: number | null;
}

/** A sheet takes nothing of the width. */
export function freeBeside(panel: HTMLElement | null): Free {
  const width = document.documentElement.clientWidth;
  const taken = panel?.getBoundingClientRect();
  if (!taken || taken.width > width / 2) return { left: 0, right: width, drawer: null };
  if (isRightToLeft()) return { left: taken.right + RAIL, right: width, drawer: taken.right };
  return { left: 0, right: taken.left - RAIL, drawer: taken.left };
}

/** Of a passage, in the window. */
interface Lines {
  /** Where the block begins and ends that they are in. */
  from: number;
  to: number;
  /** The same of those lines alone that a pin would stand beside. */
  near(): { from: number; to: number };
}

/** In the window: as if nothing were scrolled. */
function across(lines: Lines, { left, right, drawer }: Free): Omit<Spot, "y"> {
  const rtl = isRightToLeft();
  const roomOf = ({ from, to }: { from: number; to: number }): number => (rtl ? from - left : right - to);
  const room = roomOf(lines);
  // Lines that end early leave room in their own block. A rail is better than pins on both sides of it.
  if (room >= SIZE + LITTLE || (drawer === null && roomOf(lines.near()) >= SIZE + LITTLE)) {
    const x = rtl ? Math.max(lines.from - GAP - SIZE, left + LITTLE) : Math.min(lines.to + GAP, right - LITTLE - SIZE);
    return { x, width: SIZE, lies: "beside" };
  }
  if (drawer !== null) return { x: rtl ? drawer + LITTLE : drawer - LITTLE - SIZE, width: SIZE, lies: "rail" };
  const width = Math.max(SLIM, Math.min(Math.floor(room) - 1, SIZE));
  return { x: rtl ? left : right - width, width, lies: "edge" };
}

/** Characters: farther off no line stands beside a pin, however wide the window is and however small the letters. A block may
 *  hold a whole book, and to look at all its lines for each pin takes seconds. */
const NEARBY = 2000;

/** The place so far before a passage's beginning, or behind it; null where the block ends first. */
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

/** A pin beside `rect` has lines of the block beside itself. */
function nearIn(block: Element, passage: Range, rect: DOMRect): { from: number; to: number } {
  const middle = (rect.top + rect.bottom) / 2;
  const near = [...aroundIn(block, passage).getClientRects()].filter(
    ({ top, bottom }) => top < middle + SIZE / 2 && bottom > middle - SIZE / 2,
  );
  return {
    from: Math.min(rect.left, ...near.map(({ left }) => left)),
    to: Math.max(rect.right, ...near.map(({ right }) => right)),
  };
}

/** Null where nothing of it is shown. */
export function spotOf({ range }: Place, free: Free): Spot | null {
  const rect = [...range.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  const element = elementOf(range);
  // What is folded away has a place, but nobody sees it there.
  if (!rect || element?.checkVisibility?.({ visibilityProperty: true }) === false) return null;
  const around = element?.closest(BLOCK);
  const block = around?.getBoundingClientRect() ?? rect;
  const [from, to] = [Math.min(block.left, rect.left), Math.max(block.right, rect.right)];
  const spot = across({ from, to, near: () => (around ? nearIn(around, range, rect) : { from, to }) }, free);
  return { ...spot, x: spot.x + scrollX, y: Math.max(0, rect.top + scrollY + (rect.height - SIZE) / 2) };
}

/** Where no earlier pin lies. */
export function below(taken: readonly Spot[], { x, y }: Spot): number {
  const near = taken.filter((one) => Math.abs(one.x - x) < APART).toSorted((a, b) => a.y - b.y);
  let free = y;
  for (const one of near) if (Math.abs(one.y - free) < APART) free = one.y + APART;
  return free;
}
