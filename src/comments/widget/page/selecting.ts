/** Offers a comment on the selection: next to it once the selection rests and, for keyboards, by a key and by a button
 *  of the widget's own. */
import { button } from "../dom.ts";
import { unit } from "./theme.ts";

const REST_MS = 250;
const GAP = 8;
const WIDTH = 110;
const HEIGHT = 40;

export class Selecting {
  /** The button next to the selection. */
  readonly beside: HTMLButtonElement;
  /** The button that is shown to people who reach it by keyboard. */
  readonly here: HTMLButtonElement;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private selected: Selected | null = null;
  private touched = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly compose: (selected: Selected) => void,
    /** Whether anything may be written now. */
    private readonly allowed: () => boolean,
  ) {
    const press = () => this.take();
    this.beside = button("Comment", "beside", press);
    this.here = button("Comment on selection", "here", press);
    for (const one of [this.beside, this.here]) {
      one.hidden = true;
      one.addEventListener("pointerdown", (event) => event.preventDefault()); // else the selection would go
    }
  }

  listen(): void {
    document.addEventListener("selectionchange", () => this.wait());
    document.addEventListener("pointerdown", ({ pointerType }) => (this.touched = pointerType !== "mouse"), true);
    document.addEventListener("keydown", (event) => this.key(event), true);
    addEventListener("scroll", () => this.selected && this.put(), { capture: true, passive: true });
    this.wait();
  }

  private wait(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(), REST_MS);
  }

  private rest(): void {
    this.selected = this.allowed() ? selected(this.host) : null;
    for (const one of [this.beside, this.here]) one.hidden = this.selected === null;
    if (this.selected) this.put();
  }

  /** Above with a mouse; below a finger, for the system has its own bar above. */
  private put(): void {
    const rects = [...this.selected!.range.getClientRects()].filter(({ width }) => width > 0);
    const [first, last] = [rects[0], rects.at(-1)];
    if (!first || !last) return;
    const one = unit();
    const [gap, own_width, own_height] = [GAP * one, WIDTH * one, HEIGHT * one];
    const above = first.top - own_height - gap;
    const top = this.touched || above < gap ? last.bottom + gap * 2 : above;
    const [width, height] = [document.documentElement.clientWidth, innerHeight];
    const middle = this.touched ? (last.left + last.right) / 2 : (first.left + first.right) / 2;
    this.beside.style.left = `${Math.max(gap, Math.min(middle - own_width / 2, width - own_width - gap))}px`;
    this.beside.style.top = `${Math.max(gap, Math.min(top, height - own_height - gap))}px`;
  }

  private key(event: KeyboardEvent): void {
    const wanted = event.code === "KeyM" && event.altKey && (event.ctrlKey || event.metaKey);
    if (!wanted || !this.allowed()) return;
    this.selected = selected(this.host) ?? this.selected;
    if (!this.selected) return;
    event.preventDefault();
    this.take();
  }

  private take(): void {
    const { selected } = this;
    this.hide();
    if (selected) this.compose({ ...selected, range: selected.range.cloneRange() });
  }

  hide(): void {
    this.selected = null;
    this.beside.hidden = this.here.hidden = true;
  }
}

/** The reader's selection: in the page's own text, or inside a component's shadow tree, which belongs to the page as
 *  one part of it (COMMENTS 3). */
export interface Selected {
  range: Range;
  /** The outermost element in whose open shadow tree it is; null in the page's own text. */
  part: Element | null;
}

const isEdited = (element: Element | null): boolean =>
  element !== null &&
  (element.matches("input, textarea") || (element instanceof HTMLElement && element.isContentEditable));

/** The selection; null if it is outside the page, or in a place to write in. */
function selected(host: HTMLElement): Selected | null {
  const selection = getSelection();
  if (!selection || selection.rangeCount === 0 || !selection.toString().trim()) return null;
  if (selection.isCollapsed) return inShadow(selection, host);
  const range = selection.getRangeAt(0);
  const { commonAncestorContainer: around } = range;
  const element = around instanceof Element ? around : around.parentElement;
  if (!element || host.contains(element) || element.closest("input, textarea") || isEdited(element)) return null;
  return element.isConnected && document.body.contains(element) ? { range, part: null } : null;
}

/** The element at which a range begins; null if there is none. */
function childAt({ startContainer, startOffset }: AbstractRange): Element | null {
  const child = startContainer.childNodes[startOffset];
  return child instanceof Element ? child : null;
}

/** The selection inside a component. To the document it is a selection of the component itself. */
function inShadow(selection: Selection, host: HTMLElement): Selected | null {
  const outside = selection.getComposedRanges?.()[0];
  const part = outside ? childAt(outside) : null;
  if (!part?.shadowRoot || part === host || !document.body.contains(part)) return null;
  const shadowRoots: ShadowRoot[] = [];
  let inside: AbstractRange = outside!;
  for (let next = part.shadowRoot as ShadowRoot | null; next; next = childAt(inside)?.shadowRoot ?? null) {
    if (isEdited(next.activeElement)) return null;
    shadowRoots.push(next);
    inside = selection.getComposedRanges({ shadowRoots })[0]!;
  }
  const range = document.createRange();
  range.setStart(inside.startContainer, inside.startOffset);
  range.setEnd(inside.endContainer, inside.endOffset);
  return { range, part };
}
