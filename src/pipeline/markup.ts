/** HTML as a row of tags and texts, in one pass whose time grows with the length alone. No tree, no repair:
 *  enough to ask what a page shows and loads, and safe on any input (HTMLRewriter is quadratic, BUN.md 5). */

export type Markup =
  /** `raw` is the content of an element that holds no markup (script, style, title …), closed or not; else null. */
  | { kind: "open"; name: string; attributes: string; raw: string | null }
  | { kind: "close"; name: string }
  | { kind: "text"; text: string };

/** `noscript` and `iframe` too: with scripts on, a browser reads their content as text. */
const RAW = ["script", "style", "title", "textarea", "noscript", "iframe", "xmp", "noembed", "noframes"];
const RAW_END = new Map(RAW.map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")]));

const MARK = /[>"']/g;

/** Where the tag that begins before `from` ends: at a `>` outside a quoted value. -1: never, which ends the page. */
function tagEnd(html: string, from: number): number {
  MARK.lastIndex = from;
  for (let found = MARK.exec(html); found; found = MARK.exec(html)) {
    if (found[0] === ">") return found.index;
    let before = found.index - 1;
    while (before >= from && html.charCodeAt(before) <= 32) before--;
    if (html[before] !== "=") continue; // a quote in a name or an unquoted value quotes nothing
    const closing = html.indexOf(found[0], found.index + 1);
    if (closing < 0) return -1;
    MARK.lastIndex = closing + 1;
  }
  return -1;
}

/** Where a comment or a `<!doctype>` that begins at `at` ends. */
function declarationEnd(html: string, at: number): number {
  const comment = html.startsWith("<!--", at);
  const end = html.indexOf(comment ? "-->" : ">", at + 2);
  return end < 0 ? html.length : end + (comment ? 3 : 1);
}

/** Where the content of the raw element ends that begins at `from`. */
function rawEnd(html: string, name: string, from: number): number {
  const end = RAW_END.get(name)!;
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

const TAG = /<(\/?)([a-z][^\s/>]*)/iy;

export function* markup(html: string): Generator<Markup> {
  for (let at = 0; at < html.length;) {
    const next = html.indexOf("<", at);
    if (next !== at) yield { kind: "text", text: html.slice(at, next < 0 ? undefined : next) };
    if (next < 0) return;
    TAG.lastIndex = next;
    const tag = TAG.exec(html);
    if (!tag) {
      const declares = /[!?/]/.test(html[next + 1] ?? "");
      if (!declares) yield { kind: "text", text: "<" };
      at = declares ? declarationEnd(html, next) : next + 1;
      continue;
    }
    const inside = next + tag[0].length;
    const end = tagEnd(html, inside);
    if (end < 0) return;
    at = end + 1;
    const name = tag[2]!.toLowerCase();
    if (tag[1]) {
      yield { kind: "close", name };
      continue;
    }
    const stop = RAW_END.has(name) ? rawEnd(html, name, at) : null;
    yield { kind: "open", name, attributes: html.slice(inside, end), raw: stop === null ? null : html.slice(at, stop) };
    at = stop ?? at;
  }
}

const ATTRIBUTE = /[\s/]*([^\s/>][^\s/=>]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/gy;

/** The attributes of a tag as written: names in lower case, the first of a name wins, entities not decoded. */
export function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const key = name!.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? bare ?? "");
  }
  return attributes;
}
