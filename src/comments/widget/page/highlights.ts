/** Colours passages with the CSS Custom Highlight API, which changes nothing in the page's own tree. In a browser
 *  without it the pins alone show the places of threads. */

type Name = "svc-comment" | "svc-comment-active" | "svc-comment-resolved";

const registry = (): HighlightRegistry | undefined => CSS.highlights;

/** The sheet is one of the page's own, for the painted text is the page's. */
let sheet: CSSStyleSheet | null = null;
let written = "";

const RULES = (mark: string, active: string): string => `
::highlight(svc-comment) { background-color: ${mark}; }
::highlight(svc-comment-resolved) { text-decoration: underline dotted 2px; }
::highlight(svc-comment-active) { background-color: ${active}; }`;

const LIGHT = RULES("rgb(255 205 84 / 38%)", "rgb(255 186 32 / 62%)");
const DARK = RULES("rgb(226 181 86 / 28%)", "rgb(226 181 86 / 48%)");

export function colour(dark: boolean): void {
  sheet ??= new CSSStyleSheet({ media: "screen" }); // what is printed is the page alone
  const rules = dark ? DARK : LIGHT;
  if (rules !== written) sheet.replaceSync((written = rules));
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
}

export function highlight(name: Name, ranges: readonly AbstractRange[]): void {
  if (ranges.length === 0) registry()?.delete(name);
  else registry()?.set(name, new Highlight(...ranges));
}
