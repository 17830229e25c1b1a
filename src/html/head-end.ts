/**
 * Where a page's head ends, in one linear pass that stops there: HTMLRewriter is quadratic on hostile pages, matches a
 * second head again, and sees no end where the page left its tags out (BUN.md 5). This follows the tree builder of the
 * HTML standard through "initial" to "in head": the head ends at `</head>` or before the first thing it cannot hold.
 */

/** Elements that a head holds or that stand before it; `template` nests, those below hold raw text. */
const STAYS_IN_HEAD = new Set(["html", "head", "base", "basefont", "bgsound", "link", "meta"]);
const RAW_TEXT = new Set(["title", "script", "style", "noscript", "noframes", "textarea", "xmp", "iframe", "noembed"]);
/** Of those, the ones that may stand in a head. The others end it. */
const RAW_IN_HEAD = new Set(["title", "script", "style", "noscript", "noframes"]);
/** End tags that end an open head; any other one without a partner is ignored. */
const ENDS_HEAD = new Set(["head", "body", "html", "br"]);

const SPACE = /[\t\n\f\r \0]*/y;
const TAG_NAME = /<(\/?)([a-z][^\t\n\f\r />\0]*)/iy;
/** One attribute, as the tokenizer reads it: a quote counts only right after the `=`. */
const ATTRIBUTE = /[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)[\t\n\f\r ]*(?:=[\t\n\f\r ]*(["']?))?/y;
const UNQUOTED = /[^\t\n\f\r >]*/y;
const COMMENT_END = /--!?>/g;
const SCRIPT_MARK = /<!--|-->|<(\/?)script[\t\n\f\r />]/gi;
const RAW_END = new Map([...RAW_TEXT].map((name) => [name, new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi")]));

/** The end of what is never closed. No search starts behind it, so it passes through every step unharmed. */
const NEVER = Infinity;

/** Past the match of a sticky or global expression, looked for from `at`. */
function past(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : NEVER;
}

function pastNext(mark: string, text: string, at: number): number {
  const found = text.indexOf(mark, at);
  return found === -1 ? NEVER : found + mark.length;
}

/** Past the `>` of the tag whose attributes begin at `at`. */
function tagEnd(text: string, at: number): number {
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const attribute = ATTRIBUTE.exec(text);
    if (attribute === null) return pastNext(">", text, at);
    at = ATTRIBUTE.lastIndex;
    const quote = attribute[2];
    if (quote === "") at = past(UNQUOTED, text, at);
    else if (quote !== undefined) at = pastNext(quote, text, at);
  }
}

/** Past a comment, doctype or `<?…>` at `at`. */
function declarationEnd(text: string, at: number): number {
  if (!text.startsWith("<!--", at)) return pastNext(">", text, at);
  if (text.startsWith(">", at + 4)) return at + 5;
  if (text.startsWith("->", at + 4)) return at + 6;
  return past(COMMENT_END, text, at + 4);
}

/** Past a script's end tag. Inside `<!-- <script>` an end tag closes only the inner one (script data double escaped). */
function scriptEnd(text: string, from: number): number {
  let escaped = false;
  let doubly = false;
  SCRIPT_MARK.lastIndex = from;
  for (let mark = SCRIPT_MARK.exec(text); mark !== null; mark = SCRIPT_MARK.exec(text)) {
    if (mark[0] === "<!--") {
      escaped = true;
      // Its two hyphens may be those of `-->` too.
      SCRIPT_MARK.lastIndex -= 2;
    } else if (mark[1] === undefined) escaped = doubly = false;
    else if (mark[1] === "/" && !doubly) return tagEnd(text, SCRIPT_MARK.lastIndex - 1);
    else doubly = escaped && mark[1] === "";
  }
  return NEVER;
}

const rawTextEnd = (text: string, name: string, from: number): number =>
  name === "script" ? scriptEnd(text, from) : tagEnd(text, past(RAW_END.get(name)!, text, from));

/** Past the `</template>` that closes what was opened before `from`: templates nest. */
function templateEnd(text: string, from: number): number {
  let at = from;
  for (let depth = 1; depth > 0;) {
    const start = text.indexOf("<", at);
    if (start === -1) return NEVER;
    const { name, closing, end } = tokenAt(text, start);
    if (name === "template") depth += closing ? -1 : 1;
    at = !closing && RAW_TEXT.has(name) ? rawTextEnd(text, name, end) : Math.max(end, start + 1);
  }
  return at;
}

interface Token {
  /** Empty for a comment, a doctype, and a `<` that is text. */
  name: string;
  closing: boolean;
  /** Past it. */
  end: number;
}

function tokenAt(text: string, at: number): Token {
  TAG_NAME.lastIndex = at;
  const tag = TAG_NAME.exec(text);
  if (tag !== null) {
    return { name: tag[2]!.toLowerCase(), closing: tag[1] === "/", end: tagEnd(text, TAG_NAME.lastIndex) };
  }
  // `</` and something that is no letter is a comment up to the next `>`.
  const declares = /[!?/]/.test(text.charAt(at + 1));
  return { name: "", closing: false, end: declares ? declarationEnd(text, at) : at };
}

/** Past what the head holds at `at`, or `at` itself where the head ends. */
function step(text: string, at: number): number {
  const { name, closing, end } = tokenAt(text, at);
  if (name === "") return end;
  if (closing) return ENDS_HEAD.has(name) ? at : end;
  if (STAYS_IN_HEAD.has(name)) return end;
  if (name === "template") return templateEnd(text, end);
  return RAW_IN_HEAD.has(name) ? rawTextEnd(text, name, end) : at;
}

/** `text` has one character a byte (Latin-1), so that the index is a byte offset whatever the page's encoding. */
export function headEnd(text: string): number {
  let at = text.startsWith("\xef\xbb\xbf") ? 3 : 0;
  while (at < text.length) {
    const start = past(SPACE, text, at);
    if (text[start] !== "<") return start;
    const next = step(text, start);
    // What is never closed would swallow whatever stands behind it: go before it.
    if (next === start || next === NEVER) return start;
    at = next;
  }
  return at;
}
