/** The attributes of a tag, cut as a browser cuts them: where a quote stands decides whether it quotes. */

const SPACE = "[\\t\\n\\f\\r ]";
const NAME = "([^\\t\\n\\f\\r />][^\\t\\n\\f\\r />=]*)";
const VALUE = `(?:"([^"]*)"|'([^']*)'|([^\\t\\n\\f\\r >"'][^\\t\\n\\f\\r >]*)|(?=>|$))`;
const attribute = () => new RegExp(`[\\t\\n\\f\\r /]*${NAME}(?:${SPACE}*=${SPACE}*${VALUE})?`, "y");
/** A value that was opened and never closed. */
const OPEN_VALUE = new RegExp(`${SPACE}*=${SPACE}*["']`, "y");

const SKIPPED = attribute();

/** Where the tag whose attributes begin at `from` ends: its `>`. -1: never, and then the page ends with it. */
export function tagEnd(html: string, from: number): number {
  let at = from;
  for (;;) {
    if (html.charCodeAt(at) === 62) return at;
    SKIPPED.lastIndex = at;
    if (!SKIPPED.test(html)) break;
    at = OPEN_VALUE.lastIndex = SKIPPED.lastIndex;
    if (OPEN_VALUE.test(html)) return -1;
  }
  const end = html.indexOf(">", at);
  return end < 0 || /[^\t\n\f\r /]/.test(html.slice(at, end)) ? -1 : end;
}

const EACH = attribute();

/** The attributes of a tag as written: names in lower case, the first of a name wins, entities not decoded. */
export function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  EACH.lastIndex = 0;
  for (let found = EACH.exec(text); found; found = EACH.exec(text)) {
    const key = found[1]!.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, found[2] ?? found[3] ?? found[4] ?? "");
  }
  return attributes;
}
