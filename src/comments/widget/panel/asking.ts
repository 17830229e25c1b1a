/** Small forms of a comment: to change it, to report it, to have it and its replies deleted. */
import type { Comment } from "../../types.ts";
import { button, el } from "../dom.ts";
import { edit, remove, report } from "../writing.ts";
import { form } from "./form.ts";
import type { Hands } from "./hands.ts";

interface Asked {
  hands: Hands;
  comment: Comment;
  /** Takes the form away again. */
  done(): void;
}

export function editing({ hands: { session }, comment, done }: Asked): HTMLElement {
  const { element, box } = form({
    label: "Edit comment",
    submit: "Save",
    value: comment.text ?? "",
    cancel: done,
    async send(text) {
      const wrong = await edit(session, comment, text);
      if (wrong === null) done();
      return wrong;
    },
  });
  setTimeout(() => box.focus());
  return element;
}

const REASONS = { spam: "Spam", abuse: "Abuse", privacy: "It tells something private", other: "Something else" };

export function reporting({ hands: { say }, comment, done }: Asked): HTMLElement {
  const options = Object.entries(REASONS).map(([value, words]) => el("option", { value }, words));
  const reason = el("select", { "aria-label": "Reason" }, ...options);
  async function send(): Promise<void> {
    const wrong = await report(comment.id, reason.value, "");
    say(wrong ?? "Reported to the site's owner");
    done();
  }
  const buttons = el(
    "div",
    { class: "buttons" },
    button("Report it", "primary", send),
    button("Cancel", "plain", done),
  );
  setTimeout(() => reason.focus());
  return el("div", { class: "form", role: "group", "aria-label": "Report this comment" }, reason, buttons);
}

/** Replies go with what they answer: that is asked first. */
export function deleting({ hands: { session, say }, comment, done }: Asked, replies: string): HTMLElement {
  async function go(): Promise<void> {
    const wrong = await remove(session, comment.id);
    say(wrong ?? "Deleted");
    done();
  }
  const sure = button("Delete", "danger", go);
  setTimeout(() => sure.focus());
  return el(
    "div",
    { class: "form", role: "group", "aria-label": "Delete this thread" },
    el("p", {}, `This deletes the comment and ${replies}, for good.`),
    el("div", { class: "buttons" }, sure, button("Keep it", "plain", done)),
  );
}
