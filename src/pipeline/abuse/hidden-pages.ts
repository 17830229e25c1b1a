/** Pages that a script writes into its own page from literals that no reader can read. */
import type { PageFacts } from "./facts.ts";
import { ownScripts } from "./page-code.ts";
import { fromBase64, type Script, unescaped } from "./script.ts";
import type { Look } from "./signal.ts";

/** Characters from which on a literal may hold a page. */
const LONG = 100;
/** Characters of text under which a page shows nothing of its own, and of a literal over which it hides one. */
const [NO_TEXT, HIDDEN] = [200, 500];

const BASE64 = /^[A-Za-z\d+/_-]{100,}={0,2}$/;
const ESCAPED = /%(?:u[\da-f]{4}|[\da-f]{2})/gi;
/** The characters that `escape` and `encodeURIComponent` write. */
const OF_ESCAPES = /^[\w%.*@+/!~'()-]+$/;
/** One character in so many is an escape, or the literal is just an address. */
const ESCAPES = 20;
/** Elements of a page that ask for something, lead somewhere or run. */
const ELEMENT =
  /<(?:!doctype|html|head|body|form|input|button|select|textarea|label|script|style|meta|base|link|i?frame|frameset|object|embed|template|svg|math|img|video|audio|table|h[1-6]|div|main|section|center)[\s>/]/i;
const MARKUP = /<[a-z!/]/i;
/** Control characters, which sounds, pictures and programs contain. Every longer one has a `<` and a letter by
 *  chance, and each page found in a literal is judged together with the scripts around it. */
const BINARY = /[\0-\x08\x0e-\x1f]/;

const isPage = (text: string): boolean => ELEMENT.test(text) || (MARKUP.test(text) && !BINARY.test(text));
/** Base64 in Base64. */
const DEEPEST = 3;

const hasEscapes = (text: string): boolean =>
  OF_ESCAPES.test(text) && (text.match(ESCAPED)?.length ?? 0) * ESCAPES >= text.length;

/** The decoded literal. Null if it is no markup. */
function pageIn(literal: string, decodes: { base64: boolean; escapes: boolean }): string | null {
  let text = literal;
  for (let depth = 0; depth < DEEPEST && text.length > LONG; depth++) {
    const flat = text.replace(/\s+/g, "");
    if (decodes.base64 && BASE64.test(flat)) text = fromBase64(flat);
    else if (decodes.escapes && hasEscapes(text)) text = unescaped(text);
    else break;
    if (isPage(text)) return text;
  }
  return null;
}

function* pagesIn({ code, literals }: Script): Generator<string> {
  const decodes = { base64: /\batob\b/.test(code), escapes: /\bunescape\b|\bdecodeURI/.test(code) };
  if (!decodes.base64 && !decodes.escapes) return;
  for (const literal of literals) {
    const page = literal.length > LONG ? pageIn(literal, decodes) : null;
    if (page !== null) yield page;
  }
}

/** The markup that a page's own scripts decode: a page in the page. */
export function hiddenPages(page: PageFacts): string[] {
  const decodes = [...page.runs, ...page.handlers.map(({ code }) => code), ...page.scripts];
  if (!decodes.some((code) => /atob|unescape|decodeURI|^\s*data:/.test(code))) return [];
  return ownScripts(page).flatMap((script) => [...pagesIn(script)]);
}

const WRITES = /\bdocument\s{0,9}\.\s{0,9}write(?:ln)?\b|\binnerHTML\b|\bcreateObjectURL\b/;
/** How pictures, fonts, sounds and programs of WebAssembly begin in Base64. */
const NO_PAGE =
  /^(?:iVBORw|R0lGOD|\/9j\/|UklGR|AGFzbQ|d09GR|d09GMg|AAEAAAA|T1RUTw|SUQz|T2dnUw|AAAA|Qk[0-3]|AAAB|PHN2Zy)/;
const HEX = /^(?:[\da-f]{2}){251,}$/i;
/** Escapes of a literal are gone once it is read. */
const HEX_ESCAPES = /(?:\\x[\da-f]{2}|\\u00[\da-f]{2}){125}/i;

const hides = (literal: string): boolean =>
  literal.length > HIDDEN &&
  (HEX.test(literal) || hasEscapes(literal) || (BASE64.test(literal) && !NO_PAGE.test(literal)));

export const hiddenPage: Look = ({ page }) => {
  if (page.text.length >= NO_TEXT) return null;
  const scripts = ownScripts(page);
  if (!scripts.some(({ code }) => WRITES.test(code))) return null;
  const sources = [...page.runs, ...page.handlers.map(({ code }) => code)];
  if (!scripts.some(({ literals }) => literals.some(hides)) && !sources.some((code) => HEX_ESCAPES.test(code)))
    return null;
  return {
    name: "hidden_page",
    why: "shows next to nothing and writes what it shows out of code that it hides",
    fix: "Ship the page as it is",
  };
};
