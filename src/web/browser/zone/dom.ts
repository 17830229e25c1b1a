/** Elements as expressions, and the few that the zone is made of. */
import { el } from "../../../comments/widget/dom.ts";

export { el };

/** What a person sent: in an element of its own, whatever its direction. */
export const theirs = (text: string): HTMLElement => el("span", { dir: "auto" }, text);
export const code = (text: string): HTMLElement => el("code", { dir: "auto" }, text);

/** The page brings its icons along, in a template. */
export function icon(name: string): Node {
  const templates = [...document.querySelectorAll<HTMLTemplateElement>("template[data-icons]")];
  const found = templates.map(({ content }) => content.querySelector(`[data-icon="${name}"] svg`)).find(Boolean);
  return found?.cloneNode(true) ?? document.createTextNode("");
}

/** `kind`: of the stylesheet's `.button`. */
export const button = (
  label: string,
  kind: string,
  press: () => unknown,
  ...more: (Node | string)[]
): HTMLButtonElement => el("button", { type: "button", class: `button ${kind}`.trim(), press }, ...more, label);
