/** As whom one writes here: another name, a copy of what one wrote, and the end of it. */
import { COMMENTS } from "../call.ts";
import { button, el } from "../dom.ts";
import { eraseMe, rename } from "../writing.ts";
import { form } from "./form.ts";
import type { Hands } from "./hands.ts";

export class Me {
  readonly element = el("div", { class: "me" });
  private drawn = "";

  constructor(private readonly hands: Hands) {}

  update(): void {
    const { viewer, access, canPost } = this.hands.session;
    const known = viewer.id !== null && access === "open";
    const sign = known ? JSON.stringify([viewer, canPost]) : "";
    if (sign === this.drawn) return;
    this.drawn = sign;
    this.element.replaceChildren(...(known ? this.parts(viewer.name ?? "", viewer.owner) : []));
  }

  private parts(name: string, owner: boolean): HTMLElement[] {
    const said = el("p", {}, owner ? "You moderate as " : "You write as ", el("bdi", { class: "name" }, name));
    if (owner || !this.hands.session.canPost) return [said];
    const more = button("Your data", "quiet", () => this.tell());
    return [said, button("Rename", "quiet", () => this.ask(name)), more];
  }

  /** What was there before a form of it. */
  private again(): void {
    this.drawn = "";
    this.update();
    this.element.querySelector("button")?.focus();
  }

  private ask(name: string): void {
    const { session } = this.hands;
    const { element, box } = form({
      label: "Your name",
      submit: "Save",
      line: "text",
      value: name,
      cancel: () => this.again(),
      send: async (text) => {
        const wrong = await rename(session, text.trim());
        if (wrong === null) this.again();
        return wrong;
      },
    });
    this.element.replaceChildren(element);
    box.focus();
    box.select();
    element.scrollIntoView({ block: "nearest" });
  }

  private tell(): void {
    const { session, say } = this.hands;
    const copy = el("a", { href: `${COMMENTS}me/export`, download: "comments.json" }, "Download what you wrote");
    const erase = async (): Promise<void> => {
      say((await eraseMe(session)) ?? "All that you wrote here is erased");
      this.again();
    };
    const cancel = button("Cancel", "plain", () => this.again());
    const told = el(
      "div",
      { class: "form", role: "group", "aria-label": "Your data" },
      el("p", {}, "You are known here by a cookie alone. ", copy, "."),
      el("div", { class: "buttons" }, button("Erase all of it", "danger", erase), cancel),
    );
    this.element.replaceChildren(told);
    cancel.focus();
    told.scrollIntoView({ block: "nearest" });
  }
}
