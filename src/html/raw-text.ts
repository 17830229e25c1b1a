/** Elements whose content is text up to their own end tag, whatever it looks like, and where that is. */

/** `noscript` and `iframe` too: with scripts on, a browser reads their content as text. */
const NAMES = ["style", "title", "textarea", "noscript", "iframe", "xmp", "noembed", "noframes"];
const END = new Map(NAMES.map((name) => [name, new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi")]));

export const holdsText = (name: string): boolean => END.has(name) || name === "script" || name === "plaintext";

/** Where the end tag of the element begins whose content begins at `from`; the length of `html` where it has none. */
export function rawEnd(html: string, name: string, from: number): number {
  if (name === "plaintext") return html.length;
  if (name === "script") return scriptEnd(html, from);
  const end = END.get(name)!;
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

const SCRIPT_MARK = /<!--|-->|<\/?script(?=[\t\n\f\r />])/gi;

/** A script that opens a comment and then another `<script` ends at the second `</script>` (HTML, 13.2.5.15 to 31). */
function scriptEnd(html: string, from: number): number {
  let state: "code" | "comment" | "inner" = "code";
  SCRIPT_MARK.lastIndex = from;
  for (let found = SCRIPT_MARK.exec(html); found; found = SCRIPT_MARK.exec(html)) {
    const mark = found[0].toLowerCase();
    if (mark === "<!--") {
      SCRIPT_MARK.lastIndex = found.index + 2; // its dashes may be those of a `-->`
      if (state === "code") state = "comment";
    } else if (mark === "-->") state = "code";
    else if (mark === "<script") state = state === "code" ? "code" : "inner";
    else if (state === "inner") state = "comment";
    else return found.index;
  }
  return html.length;
}
