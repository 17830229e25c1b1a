/** Offers a comment on the selection: next to it once the selection rests and, for keyboards, by a key and by a button
 *  of the widget's own. */
import { button } from "../dom.ts";
import { selected, type Selected } from "./selected.ts";

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
    const above = first.top - HEIGHT - GAP;
    const top = this.touched || above < GAP ? last.bottom + GAP * 2 : above;
    const [width, height] = [document.documentElement.clientWidth, innerHeight];
    const middle = this.touched ? (last.left + last.right) / 2 : (first.left + first.right) / 2;
    this.beside.style.left = `${Math.max(GAP, Math.min(middle - WIDTH / 2, width - WIDTH - GAP))}px`;
    this.beside.style.top = `${Math.max(GAP, Math.min(top, height - HEIGHT - GAP))}px`;
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
