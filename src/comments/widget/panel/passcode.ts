/** Asks for what guards the comments; the page itself is open. */
import { el } from "../dom.ts";
import type { Session } from "../session.ts";
import { enter } from "../writing.ts";
import { form, type Form } from "./form.ts";

export function passcodeForm(session: Session): Form {
  const made = form({ label: "Passcode", submit: "Enter", line: "password", send: (text) => enter(session, text) });
  made.element.prepend(
    el("p", { class: "lead" }, "These comments are for people who have the passcode."),
    el("p", { class: "hint" }, "It guards the comments, not the page."),
  );
  return made;
}
