/** The loader's launcher, with the count as it is now. */
import { el } from "./dom.ts";
import { plural } from "./words.ts";

export class Launcher {
  constructor(
    private readonly element: HTMLButtonElement | null,
    press: () => void,
  ) {
    element?.addEventListener("click", press);
  }

  draw(threads: number, hidden: boolean): void {
    const { element } = this;
    if (!element) return;
    element.hidden = hidden;
    const count = threads > 0 ? [el("span", { "aria-hidden": "true" }, String(threads))] : [];
    element.replaceChildren("Comments", ...count);
    element.ariaDescription = threads > 0 ? plural(threads, "thread", "threads") : null;
  }
}
