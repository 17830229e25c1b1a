/** The lines before a page that only programs read. A subset of YAML, read without a YAML parser: one level of
 *  `key: value`, quoted or plain or a block of text. What is beyond it is skipped, never shown and never an error. */

export interface FrontMatter {
  title: string | null;
  order: number | null;
  /** `hero.name`, what VitePress calls the site by on its home page. */
  hero: string | null;
}

const NONE: FrontMatter = { title: null, order: null, hero: null };
const OPENING = /^---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$(?![^]))/gm;
const KEY = /^([A-Za-z_][\w-]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?:[ \t]+([^]*))?$/;

const ESCAPES = new Map(Object.entries({ n: "\n", t: "\t", r: "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/" }));

const escaped = (_: string, hex2?: string, hex4?: string, hex8?: string, letter?: string): string => {
  if (letter !== undefined) return ESCAPES.get(letter) ?? letter;
  const code = parseInt((hex2 ?? hex4 ?? hex8)!, 16);
  return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
};

/** No title comes near. Where a quoted value is so long that the engine's stack is full, it takes 0.2 µs a character. */
const LONGEST = 8192;

/** Quoted, or plain up to a comment. */
function scalar(text: string): string {
  if (text.length > LONGEST) return text.slice(0, LONGEST);
  const double = /^"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?$/.exec(text);
  if (double) {
    return double[1]!.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g, escaped);
  }
  const single = /^'((?:[^']|'')*)'[ \t]*(?:#.*)?$/.exec(text);
  if (single) return single[1]!.replaceAll("''", "'");
  const comment = text.startsWith("#") ? 0 : text.search(/[ \t]#/);
  return (comment < 0 ? text : text.slice(0, comment)).trim();
}

/** `lines` below a key belong to it when they are indented: a block (`|`, `>`) or the rest of a long value. */
function value(first: string, lines: readonly string[]): string {
  const rest = lines.map((line) => line.trim()).filter((line) => line !== "");
  const words = /^[|>][-+\d]*[ \t]*(?:#.*)?$/.test(first) ? rest : [first, ...rest];
  return words === rest ? rest.join(" ") : scalar(words.join(" "));
}

/** One level deeper: the first of that name. */
function memberOf(lines: readonly string[], name: string): string {
  for (const line of lines) {
    const [, key, first] = KEY.exec(line.trim()) ?? [];
    if (key === name) return scalar(first ?? "");
  }
  return "";
}

/** A Map, never an object: `__proto__: x` is a key like any other. */
function entries(block: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = block.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const [, key, first] = KEY.exec(lines[i]!.trimEnd()) ?? [];
    if (key === undefined) continue;
    let end = i + 1;
    while (end < lines.length && /^(?:[ \t]|$)/.test(lines[end]!)) end++;
    found.set(scalar(key), value(first ?? "", lines.slice(i + 1, end)));
    if (key === "hero") found.set("hero.name", memberOf(lines.slice(i + 1, end), "name"));
    i = end - 1;
  }
  return found;
}

function numberIn(text: string | undefined): number | null {
  const number = text === undefined || text === "" ? NaN : Number(text.replaceAll("_", ""));
  return Number.isFinite(number) ? number : null;
}

/** A page without its front matter, and what that said. An opening `---` that nothing ends is a line across the page. */
export function splitFrontMatter(text: string): { front: FrontMatter; body: string } {
  const opening = OPENING.exec(text)?.[0].length;
  if (opening === undefined) return { front: NONE, body: text };
  CLOSING.lastIndex = opening;
  const closing = CLOSING.exec(text);
  if (!closing) return { front: NONE, body: text };
  const said = entries(text.slice(opening, closing.index));
  const front = {
    title: said.get("title") || null,
    order: numberIn(said.get("order")),
    hero: said.get("hero.name") || null,
  };
  return { front, body: text.slice(closing.index + closing[0].length) };
}
