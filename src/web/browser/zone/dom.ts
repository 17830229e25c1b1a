/** Elements as expressions, and the few that the zone is made of. */
import { el } from "../../../comments/widget/dom.ts";
import type { Html } from "../../../html/template.ts";

export { el };

/** A person's text in an element of its own, whatever its direction. */
export const theirs = (text: string): HTMLElement => el("span", { dir: "auto" }, text);
export const code = (text: string): HTMLElement => el("code", { dir: "auto" }, text);

/** The one element that the markup is: the server's parts, in the page. */
export function made({ text }: Html): HTMLElement {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content.firstElementChild as HTMLElement;
}

/** `kind`: of the stylesheet's `.button`. */
export const button = (
  label: string,
  kind: string,
  press: () => unknown,
  ...more: (Node | string)[]
): HTMLButtonElement => el("button", { type: "button", class: `button ${kind}`.trim(), press }, ...more, label);
