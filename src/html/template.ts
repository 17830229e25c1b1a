/** HTML with every value escaped, for the server and for the scripts of its pages: no `Bun`, no stylesheet. */

class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}
export type { Html };

const MARKUP = /[&<>"']/;
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
};
const escaped = (text: string): string =>
  MARKUP.test(text) ? text.replace(/[&<>"']/g, (mark) => ESCAPES[mark]!) : text;

type Value = Html | string | number | null | undefined | false | readonly Value[];

function render(value: Value): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join("");
  return value === null || value === undefined || value === false ? "" : escaped(String(value));
}

/** Values are escaped unless they are Html themselves; lists are joined; null, undefined and false vanish. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(parts.reduce((text, part, i) => text + render(values[i - 1]) + part));

/** For text that is HTML already. Never for anything a person sent. */
export const trusted = (text: string): Html => new Html(text);

/** JSON inside a script element: `</script>` and `<!--` must not end it. */
export const scriptJson = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
