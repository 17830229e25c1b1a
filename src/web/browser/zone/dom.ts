/** Elements as expressions. What is a string becomes text: nothing that anybody sent is ever read as HTML. */

type Child = Node | string | null | false;
type Value = string | boolean | (() => unknown);

/** A function is heard at `click`; true is an attribute without a value, false none. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener("click", () => void value());
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

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
export const button = (label: string, kind: string, press: () => unknown, ...more: Child[]): HTMLButtonElement =>
  el("button", { type: "button", class: `button ${kind}`.trim(), press }, ...more, label);
