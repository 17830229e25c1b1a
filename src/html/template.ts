/** HTML with every value escaped, and the frame around what the service writes on sites' hosts. */
import base from "./base.css" with { type: "text" };
import { compactCss } from "./compact-css.ts";
import ground from "./ground.css" with { type: "text" };
import tokens from "./tokens.css" with { type: "text" };

class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}
export type { Html };

type Value = Html | string | number | null | undefined | false | readonly Value[];

function render(value: Value): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join("");
  return value === null || value === undefined || value === false ? "" : Bun.escapeHTML(String(value));
}

/** Values are escaped unless they are Html themselves; lists are joined; null, undefined and false vanish. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(parts.reduce((text, part, i) => text + render(values[i - 1]) + part));

/** For text that is HTML already. Never for anything a person sent. */
export const trusted = (text: string): Html => new Html(text);

/** JSON inside a script element: `</script>` and `<!--` must not end it. */
export const scriptJson = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));

const STYLE = compactCss(tokens + ground + base);

/** A whole document on a site's host: readable on a phone, in the dark, with a keyboard; no request of its own. */
export const document = (page: { title: string; style?: string; head?: Html; body: Html }): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <style>
          ${trusted(STYLE + (page.style ?? ""))}
        </style>
        ${page.head}
      </head>
      <body>
        <main>${page.body}</main>
      </body>
    </html> `.text;
