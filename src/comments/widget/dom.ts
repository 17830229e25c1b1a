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

export const button = (label: string, kind: string, press: () => unknown): HTMLButtonElement =>
  el("button", { type: "button", class: kind, press }, label);

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of one line, beside a word or in place of one that is said. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" })) {
    svg.setAttribute(name, value);
  }
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** The language of words that are not the widget's own: the page's, if it says which. */
export const theirLanguage = (): { lang: string; dir: string } => ({
  lang: document.documentElement.lang,
  dir: "auto",
});

const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]]/g;

/** A person's text, whatever its direction; only whole addresses in it become links. */
export function theirs(text: string): HTMLElement {
  const made = el("p", { class: "text", ...theirLanguage() });
  let end = 0;
  for (const { 0: href, index } of text.matchAll(LINK)) {
    made.append(text.slice(end, index));
    made.append(URL.canParse(href) ? el("a", { href, target: "_blank", rel: "nofollow ugc noopener" }, href) : href);
    end = index + href.length;
  }
  made.append(text.slice(end));
  return made;
}
