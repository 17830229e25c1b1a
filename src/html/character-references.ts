/** Character references in a page's text, each as a browser reads it (HTML, 13.2.5.72 to 80): every name of the standard,
 *  and of the old names those without `;`, too, also as the beginning of a longer word. */

const REFERENCE = /&(?:#[xX]([\da-fA-F]+);?|#(\d+);?|([A-Za-z][A-Za-z\d]*)(;?))/g;
const LONGEST_LEGACY = 6;
/** A page of made-up names must not fill the memory. */
const MOST_KEPT = 4096;

/** The runtime's Markdown knows all names of the standard, as CommonMark asks. */
const kept = new Map<string, string | null>();

function fromStandard(name: string): string | null {
  const reference = `&${name};`;
  const shown = Bun.markdown.html(`x${reference}x`).slice("<p>x".length, -"x</p>\n".length);
  return shown === `&amp;${name};` ? null : (WRITTEN.get(shown) ?? shown);
}

/** Characters that a page's source must not hold as they are. */
const WRITTEN = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
]);

function named(name: string): string | null {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const found = fromStandard(name);
  if (kept.size < MOST_KEPT) kept.set(name, found);
  return found;
}

function byName(whole: string, name: string, end: string): string {
  const found = end === ";" ? named(name) : null;
  if (found !== null) return found;
  for (let length = Math.min(name.length, LONGEST_LEGACY); length > 1; length--) {
    const old = LEGACY.get(name.slice(0, length));
    if (old !== undefined) return old + whole.slice(1 + length);
  }
  return whole;
}

export const decodeText = (text: string): string =>
  !text.includes("&")
    ? text
    : text.replace(REFERENCE, (whole, hex, decimal, name, end) =>
        name === undefined ? numbered(hex ? parseInt(hex, 16) : parseInt(decimal, 10)) : byName(whole, name, end),
      );

/** Character references of HTML, as far as titles and URLs use them: every number, and the names of HTML 4. */
const LATIN_1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3
acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig
Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave
Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave
iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

/** Names, each before its character. */
const OTHERS = `amp &  AMP &  lt <  LT <  gt >  GT >  apos '  colon :  sol /  bsol \\  lpar (  rpar )  period .  num #  quest ?
excl !  comma ,  semi ;  equals =  percnt %  commat @  lbrack [  lsqb [  rbrack ]  rsqb ]  lowbar _  hyphen ‐
dash ‐  ast *  plus +  dollar $  verbar |  grave \`  lcub {  rcub }  fjlig fj  ndash –  mdash —  hellip …
bull •  lsquo ‘  rsquo ’  sbquo ‚  prime ′  ldquo “  rdquo ”  bdquo „  lsaquo ‹  rsaquo ›  dagger †  Prime ″
trade ™  euro €  larr ←  uarr ↑  rarr →  darr ↓  harr ↔  rArr ⇒  minus −  infin ∞  ne ≠  le ≤  ge ≥  asymp ≈
star ☆  starf ★  check ✓  hearts ♥  OElig Œ  oelig œ  Scaron Š  scaron š  Yuml Ÿ  fnof ƒ  circ ˆ  tilde ˜
quot "  QUOT "`;

const INVISIBLE: readonly (readonly [name: string, character: string])[] = [
  ["Tab", "\t"],
  ["NewLine", "\n"],
  ["thinsp", "\u2009"],
  ["ensp", "\u2002"],
  ["emsp", "\u2003"],
  ["zwj", "\u200d"],
  ["zwnj", "\u200c"],
];

const latin1 = LATIN_1.split(/\s/).map((name, i) => [name, String.fromCharCode(160 + i)] as const);

/** The names that browsers know without `;`, too. */
const LEGACY: ReadonlyMap<string, string> = new Map([
  ...latin1,
  ...[...'&<>"'].flatMap((char, i) => {
    const name = ["amp", "lt", "gt", "quot"][i]!;
    return [[name, char] as const, [name.toUpperCase(), char] as const];
  }),
  ["COPY", "©"],
  ["REG", "®"],
]);

const NAMED = new Map<string, string>([
  ...latin1,
  ...OTHERS.split(/\s\s|\n/).map((pair) => pair.split(" ") as [string, string]),
  ...INVISIBLE,
]);

/** The characters that browsers read for the numbers 128 to 159: Windows-1252, not C1 controls. */
const WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function numbered(code: number): string {
  if (code >= 128 && code < 160) return WINDOWS[code - 128]!;
  const none = !(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code < 0xe000);
  return none ? "\ufffd" : String.fromCodePoint(code);
}

/** Replaces `&amp;`, `&#233;`, `&#xe9` … by the characters that they mean; a name that is unknown stays as it is. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*));?/gi, (whole, hex, decimal, name) =>
    name === undefined ? numbered(hex ? parseInt(hex, 16) : parseInt(decimal, 10)) : (NAMED.get(name) ?? whole),
  );

/** Names in HTML are equal in any case of the letters A to Z. Other letters keep theirs: the Kelvin sign is no `k` here. */
const CAPITAL = /[A-Z]/;
const CAPITALS = /[A-Z]+/g;

export const asciiLower = (name: string): string =>
  CAPITAL.test(name) ? name.replace(CAPITALS, (letters) => letters.toLowerCase()) : name;
