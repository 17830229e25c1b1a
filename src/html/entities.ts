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
export const LEGACY: ReadonlyMap<string, string> = new Map([
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

/** What browsers read for the numbers 128 to 159: Windows-1252, not C1 controls. */
const WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

export function numbered(code: number): string {
  if (code >= 128 && code < 160) return WINDOWS[code - 128]!;
  const none = !(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code < 0xe000);
  return none ? "\ufffd" : String.fromCodePoint(code);
}

/** `&amp;`, `&#233;`, `&#xe9` … as the characters they stand for; what names nothing stays as it is. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*));?/gi, (whole, hex, decimal, name) =>
    name === undefined ? numbered(hex ? parseInt(hex, 16) : parseInt(decimal, 10)) : (NAMED.get(name) ?? whole),
  );
