/** As whom one writes here, and another name for them. */
import { button, el } from "../dom.ts";
import type { Session } from "../session.ts";
import { rename } from "../writing.ts";
import { form } from "./form.ts";

export class Me {
  readonly element = el("div", { class: "me" });
  private drawn = "";

  constructor(private readonly session: Session) {}

  update(): void {
    const { id, name, owner } = this.session.viewer;
    const known = id !== null && this.session.access === "open";
    const sign = known ? `${name}${owner}${this.session.canPost}` : "";
    if (sign === this.drawn) return;
    this.drawn = sign;
    this.element.replaceChildren(...(known ? this.parts(name ?? "", owner) : []));
  }

  private parts(name: string, owner: boolean): HTMLElement[] {
    const said = el("p", {}, owner ? "You moderate as " : "You write as ", el("bdi", { class: "name" }, name));
    if (owner || !this.session.canPost) return [said];
    return [said, button("Rename", "quiet", () => this.ask(name))];
  }

  private ask(name: string): void {
    const again = (): void => {
      this.drawn = "";
      this.update();
      this.element.querySelector("button")?.focus();
    };
    const { element, box } = form({
      label: "Your name",
      submit: "Save",
      line: "text",
      value: name,
      cancel: again,
      send: async (text) => {
        const wrong = await rename(this.session, text.trim());
        if (wrong === null) again();
        return wrong;
      },
    });
    this.element.replaceChildren(element);
    box.focus();
    box.select();
  }
}
