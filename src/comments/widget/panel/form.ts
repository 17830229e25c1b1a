/** A box to write in, with its button. An error is shown below it, and no text that was written is lost. */
import { button, el, theirLanguage } from "../dom.ts";

interface FormParts {
  /** The box's name. */
  label: string;
  /** A sentence below the box. */
  note?: string;
  submit: string;
  /** One line, with its name above it; else it grows. */
  line?: "text" | "password";
  hint?: string;
  value?: string;
  /** Says what went wrong. */
  send(text: string): Promise<string | null>;
  cancel?: () => void;
  /** After each change. */
  typed?: (text: string) => void;
}

export interface Form {
  element: HTMLFormElement;
  box: HTMLInputElement | HTMLTextAreaElement;
}

function boxOf({ label, line, hint = "", value = "", note = "" }: FormParts): Form["box"] {
  const names = { "aria-label": label, "aria-description": note, placeholder: hint, ...theirLanguage() };
  const box = line
    ? el("input", { ...names, type: line, autocomplete: "off" })
    : el("textarea", { ...names, rows: "1" });
  box.value = value;
  return box;
}

let made = 0;

function alertOf(box: Form["box"]) {
  const alert = el("p", { class: "wrong", role: "alert", id: `wrong-${++made}` });
  return {
    alert,
    say(words: string | null) {
      alert.textContent = words ?? "";
      if (words) box.setAttribute("aria-describedby", alert.id);
      else box.removeAttribute("aria-describedby");
      box.ariaInvalid = words ? "true" : null;
    },
  };
}

/** Lets a box grow with its text, in browsers that cannot do so by themselves. */
function grow(box: Form["box"]): void {
  if (CSS.supports("field-sizing", "content") || box instanceof HTMLInputElement) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}

export function form(parts: FormParts): Form {
  const { label, line, note, submit, send, cancel, typed } = parts;
  const box = boxOf(parts);
  const { alert, say } = alertOf(box);
  const press = el("button", { type: "submit", class: "primary" }, submit);
  const buttons = el("div", { class: "buttons" }, press, cancel ? button("Cancel", "plain", cancel) : null);
  const named = line ? el("label", {}, label, box) : box;
  const hint = note ? el("p", { class: "hint" }, note) : null;
  const element = el("form", { class: cancel ? "form" : "form short" }, named, buttons, hint, alert);
  box.addEventListener("input", () => {
    grow(box);
    typed?.(box.value);
  });
  (box as HTMLElement).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.requestSubmit();
  });
  async function submitted(): Promise<void> {
    const text = box.value;
    if (text.trim() === "") {
      say("Write something first.");
      return box.focus();
    }
    say(null);
    box.value = "";
    grow(box);
    const wrong = await send(text);
    if (wrong === null) return typed?.("");
    box.value ||= text;
    say(wrong);
  }
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    void submitted();
  });
  return { element, box };
}
