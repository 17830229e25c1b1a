/** Colours passages with the CSS Custom Highlight API, which changes nothing in the page's own tree. In a browser
 *  without it the pins alone show the places of threads. */

type Name = "svc-comment" | "svc-comment-active" | "svc-comment-resolved";

const registry = (): HighlightRegistry | undefined => CSS.highlights;

/** The sheet is one of the page's own, for the painted text is the page's. */
let sheet: CSSStyleSheet | null = null;
let written = "";

const RULES = (mark: string, active: string): string =>
  `::highlight(svc-comment){background-color:${mark}}::highlight(svc-comment-active){background-color:${active}}
::highlight(svc-comment-resolved){text-decoration:underline dotted 2px}`;

const LIGHT = RULES("#ffcd5461", "#ffba209e");
const DARK = RULES("#e2b55647", "#e2b5567a");

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
