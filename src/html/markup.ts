/** A page as a row of tags and texts, cut where a browser cuts it, in one pass whose time grows with the length alone.
 *  No tree, no repair: enough to ask what a page shows, loads and sends, and safe on any input (HTMLRewriter is
 *  quadratic, BUN.md 5). */
import { tagEnd } from "./attributes.ts";
import { asBrowser, type Kind, type Namespaces } from "./foreign.ts";

export { attributesOf } from "./attributes.ts";

export type Markup =
  /** `raw` is the content of an element that holds no markup (script, style, title …), closed or not; else null. */
  | { kind: "open"; name: string; attributes: string; raw: string | null; is: Kind }
  | { kind: "close"; name: string }
  | { kind: "text"; text: string };

/** `noscript` and `iframe` too: with scripts on, a browser reads their content as text. */
const RAW = ["script", "style", "title", "textarea", "noscript", "iframe", "xmp", "noembed", "noframes"];
const RAW_END = new Map(RAW.map((name) => [name, new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi")]));
const COMMENT_END = /--!?>/g;

/** Where a comment, a CDATA section, an instruction or a `<!doctype>` that begins at `at` ends. */
function declarationEnd(html: string, at: number, { foreign, xml }: { foreign: boolean; xml: boolean }): number {
  if (foreign && html.startsWith("<![CDATA[", at)) {
    const end = html.indexOf("]]>", at + 9);
    return end < 0 ? html.length : end + 3;
  }
  if (xml && html.startsWith("<?", at)) {
    const end = html.indexOf("?>", at + 2);
    return end < 0 ? html.length : end + 2;
  }
  if (!html.startsWith("<!--", at)) {
    const end = html.indexOf(">", at + 2);
    return end < 0 ? html.length : end + 1;
  }
  if (html.startsWith(">", at + 4)) return at + 5;
  if (html.startsWith("->", at + 4)) return at + 6;
  COMMENT_END.lastIndex = at + 4;
  return COMMENT_END.test(html) ? COMMENT_END.lastIndex : html.length;
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

/** Where the content of the raw element ends that begins at `from`. */
function rawEnd(html: string, name: string, from: number): number {
  if (name === "plaintext") return html.length;
  if (name === "script") return scriptEnd(html, from);
  const end = RAW_END.get(name)!;
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

const TAG = /<(\/?)([a-z][^\t\n\f\r />]*)/iy;
const holdsText = (name: string): boolean => RAW_END.has(name) || name === "plaintext";

export function* markup(html: string, namespaces: Namespaces = asBrowser()): Generator<Markup> {
  for (let at = 0; at < html.length;) {
    const next = html.indexOf("<", at);
    if (next !== at) yield { kind: "text", text: html.slice(at, next < 0 ? undefined : next) };
    if (next < 0) return;
    TAG.lastIndex = next;
    const tag = TAG.exec(html);
    if (!tag) {
      const declares = /[!?/]/.test(html[next + 1] ?? "");
      if (!declares) yield { kind: "text", text: "<" };
      at = declares ? declarationEnd(html, next, namespaces.inside()) : next + 1;
      continue;
    }
    const inside = next + tag[0].length;
    const end = tagEnd(html, inside);
    if (end < 0) return;
    at = end + 1;
    const name = tag[2]!.toLowerCase();
    if (tag[1]) {
      namespaces.close(name);
      yield { kind: "close", name };
      continue;
    }
    const attributes = html.slice(inside, end);
    const is = namespaces.open(name, attributes);
    const stop = is === "html" && holdsText(name) ? rawEnd(html, name, at) : null;
    yield { kind: "open", name, attributes, raw: stop === null ? null : html.slice(at, stop), is };
    at = stop ?? at;
  }
}
