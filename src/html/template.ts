/** HTML with every value escaped, and the one frame around all pages that the service itself writes. */

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
const trusted = (text: string): Html => new Html(text);

/** JSON inside a script element: `</script>` and `<!--` must not end it. */
export const scriptJson = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));

const STYLE = `:root{color-scheme:light dark;--ink:#1d2025;--dim:#5c6370;--line:#e2e4e8;--paper:#fdfdfc;--accent:#2657c9}
@media(prefers-color-scheme:dark){:root{--ink:#e8e9ec;--dim:#a0a6b2;--line:#343841;--paper:#17191d;--accent:#8fb2ff}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-width:44rem;margin:0 auto;padding:clamp(1.5rem,6vw,4rem) 1.25rem}
h1{font-size:clamp(1.5rem,5vw,2rem);line-height:1.2;margin:0 0 .75rem;text-wrap:balance}
p{margin:.5rem 0}.dim{color:var(--dim)}code{font:.9em ui-monospace,SFMono-Regular,Menlo,monospace}
a{color:var(--accent)}:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:2px}
@media print{body{background:none;color:#000}}`;

/** A whole document: readable on a phone, in the dark, with a keyboard; no request of its own. */
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
