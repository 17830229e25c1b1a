/** A sentence about what was just done and, for a while, the way back. */
import { button, el } from "../dom.ts";

const UNDO_MS = 10_000;

export class Said {
  /** Read out, wherever the focus is. */
  readonly element = el("div", { class: "said", role: "status", popover: "manual" });
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Above whatever was shown since. */
  rise(): void {
    if (!("showPopover" in this.element)) return;
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    this.element.showPopover();
  }

  say(words: string, undo?: () => unknown): void {
    clearTimeout(this.timer);
    const back = async (): Promise<void> => {
      this.clear();
      const wrong = await undo?.();
      this.say(typeof wrong === "string" ? wrong : "Taken back");
    };
    this.element.replaceChildren(el("span", {}, words), ...(undo ? [button("Undo", "quiet", back)] : []));
    this.timer = setTimeout(() => this.clear(), UNDO_MS);
  }

  private clear(): void {
    clearTimeout(this.timer);
    this.element.replaceChildren();
  }
}
