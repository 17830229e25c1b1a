/** HTML as its tags with their places, seen as a browser would see them. One pass, whose time grows with the length alone. */

export interface Attribute {
  name: string;
  /** As written: entities are not decoded. */
  value: string;
  /** Of the value with its quotes, in the whole text. */
  from: number;
  to: number;
}

export type Part =
  /** `from` is the place of `<`, `to` the one behind `>`. */
  | { kind: "open" | "close"; name: string; from: number; to: number; attributes: readonly Attribute[] }
  /** From here to the end a browser reads no tag: `closer` has to follow before any is read again. */
  | { kind: "endless"; closer: string }
  /** A `<` that begins a tag which never ends. */
  | { kind: "broken"; from: number };

/** What holds no tags → its end tag. */
const RAW = new Map(
  ["style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "script"].map((name) => [
    name,
    new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi"),
  ]),
);
const START = /<(?:!--|!\[CDATA\[|[!?]|\/(?![a-z])|(\/?)([a-z][^\t\n\f\r />]*))/gi;
const ATTRIBUTE =
  /[\t\n\f\r /]*(?:(>)|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*("[^"]*"|'[^']*'|(?!["'])[^\t\n\f\r >]*))?)/y;
const OPEN_QUOTE = /[\t\n\f\r ]*=[\t\n\f\r ]*["']/y;
const COMMENT_END = /--!?>/g;
const SCRIPT_MARK = /<!--|-->|<\/?script(?=[\t\n\f\r />])/gi;

/** Each one may cost a look to the end of the text; past this many, every `<` is text. */
const MOST_BROKEN = 5;

function find(pattern: RegExp, html: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(html);
}

/** The attributes from `from` on and the place behind the tag's `>`; null where it has none. */
function tagRest(html: string, from: number): { to: number; attributes: Attribute[] } | null {
  const attributes: Attribute[] = [];
  for (let at = from; ;) {
    const found = find(ATTRIBUTE, html, at);
    if (!found) return null;
    at = found.index + found[0].length;
    const [, end, name, written] = found;
    if (end) return { to: at, attributes };
    if (written === undefined && find(OPEN_QUOTE, html, at)) return null;
    const value = written ?? "";
    const bare = /^["']/.test(value) ? value.slice(1, -1) : value;
    attributes.push({ name: name!.toLowerCase(), value: bare, from: at - value.length, to: at });
  }
}

/** `<!-->` and `<!--->` are whole comments. -1: it never ends. */
function commentEnd(html: string, inside: number): number {
  const short = /^-?>/.exec(html.slice(inside, inside + 2));
  if (short) return inside + short[0].length;
  const end = find(COMMENT_END, html, inside);
  return end ? end.index + end[0].length : -1;
}

/** Where the script's end tag begins. Inside `<!-- <script>` an end tag ends the inner one only. */
function scriptEnd(html: string, from: number): number {
  let state: "plain" | "comment" | "inner" = "plain";
  for (let mark = find(SCRIPT_MARK, html, from); mark; mark = SCRIPT_MARK.exec(html)) {
    const word = mark[0].toLowerCase();
    if (word === "</script" && state !== "inner") return mark.index;
    if (word === "-->") state = "plain";
    else if (state !== "plain") state = word === "<script" ? "inner" : word === "</script" ? "comment" : state;
    else if (word === "<!--") state = "comment";
  }
  return -1;
}

const rawEnd = (html: string, name: string, from: number): number =>
  name === "script" ? scriptEnd(html, from) : (find(RAW.get(name)!, html, from)?.index ?? -1);

/** Where a comment, a doctype or the like ends, or what has to follow so that it does. */
function declarationEnd(html: string, start: RegExpExecArray, foreign: boolean): number | string {
  const inside = start.index + start[0].length;
  const closer = start[0] === "<!--" ? "-->" : foreign && start[0].length > 2 ? "]]>" : ">";
  const end = closer === "-->" ? commentEnd(html, inside) : html.indexOf(closer, inside);
  if (end < 0) return closer;
  return closer === "-->" ? end : end + closer.length;
}

export function* tagsOf(html: string): Generator<Part> {
  let [foreign, broken, at] = [0, 0, 0];
  const last = html.lastIndexOf(">");
  for (let start = find(START, html, 0); start; start = find(START, html, at)) {
    const name = start[2]?.toLowerCase();
    if (name === undefined) {
      const end = declarationEnd(html, start, foreign > 0);
      if (typeof end === "string") return yield { kind: "endless", closer: end };
      at = end;
      continue;
    }
    const inside = start.index + start[0].length;
    const rest = inside <= last && broken < MOST_BROKEN ? tagRest(html, inside) : null;
    at = rest?.to ?? start.index + 1;
    if (!rest) {
      broken++;
      yield { kind: "broken", from: start.index };
      continue;
    }
    const kind = start[1] ? "close" : "open";
    if (name === "svg" || name === "math") foreign = Math.max(0, foreign + (kind === "open" ? 1 : -1));
    yield { kind, name, from: start.index, ...rest };
    if (kind === "close" || foreign > 0 || !RAW.has(name)) continue;
    at = rawEnd(html, name, at);
    if (at < 0) return yield { kind: "endless", closer: name === "script" ? "\n-->" : "" };
  }
}
