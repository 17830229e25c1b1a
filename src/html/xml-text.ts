/** XML as text that can be cut into tags: without its document type, and with the entities that this declares put in, for
 *  they may hold markup. */

const ENTITY = /<!ENTITY\s+([^\s"'<>%&;]{1,200})\s+(?:"([^"]*)"|'([^']*)')\s*>/g;
const REFERENCE = /&([^\s"'<>&;]{1,200});/g;
const GIVES_ATTRIBUTES = /<!ATTLIST\s+(?:[\w-]+:)?(?:form|input|button|textarea|base|iframe|a|meta)\s/i;
/** Entities in entities: a drawing program's go one deep. */
const ROUNDS = 8;
const LONGEST = 32 << 20;

const after = (text: string, end: string, from: number): number => {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
};

/** The place behind a comment or an instruction that begins at `at`; `at` itself if it is neither. */
function skipAside(text: string, at: number): number {
  if (text.startsWith("<!--", at)) return after(text, "-->", at + 4);
  return text.startsWith("<?", at) ? after(text, "?>", at + 2) : at;
}

function doctypeStart(text: string): number {
  for (let at = 0; at < text.length;) {
    const next = skipAside(text, at);
    if (next > at) at = next;
    else if (/^<!doctype/i.test(text.slice(at, at + 9))) return at;
    else if (/[\s\ufeff]/.test(text[at]!)) at++;
    else return -1;
  }
  return -1;
}

/** Reads the document type that begins at `at`: its end, and its declarations without comments. */
function readDoctype(text: string, at: number): { end: number; declarations: string } {
  const marks = /["'[\]>]|<!--|<\?/g;
  const pieces: string[] = [];
  let [from, inside] = [at + 9, false];
  marks.lastIndex = from;
  for (let found = marks.exec(text); found; found = marks.exec(text)) {
    const { 0: mark, index } = found;
    if (mark === '"' || mark === "'") marks.lastIndex = after(text, mark, index + 1);
    else if (mark === "[") inside = true;
    else if (mark === "]") inside = false;
    else if (mark === ">" && !inside)
      return { end: index + 1, declarations: pieces.join("") + text.slice(from, index) };
    else if (mark !== ">") {
      pieces.push(text.slice(from, index));
      from = marks.lastIndex = skipAside(text, index);
    }
  }
  return { end: text.length, declarations: pieces.join("") + text.slice(from) };
}

/** Character references in a declaration count before its markup is read. */
const numbersDecoded = (text: string): string =>
  text.replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (whole, hex?: string, decimal?: string) => {
    const code = hex ? parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

function entitiesIn(declarations: string): Map<string, string> {
  const entities = new Map<string, string>();
  for (const [, name, double, single] of declarations.matchAll(ENTITY)) {
    if (!entities.has(name!)) entities.set(name!, numbersDecoded(double ?? single ?? ""));
  }
  return entities;
}

function putIn(entities: ReadonlyMap<string, string>, text: string): string | null {
  for (let round = 0; round < ROUNDS; round++) {
    let length = text.length;
    const replaced = text.replace(REFERENCE, (whole, name: string) => {
      const value = length > LONGEST ? undefined : entities.get(name);
      length += value?.length ?? 0;
      return value ?? whole;
    });
    if (length > LONGEST) return null;
    if (replaced === text) return text;
    text = replaced;
  }
  return null;
}

/** Null: the document grows beyond all bounds, or its type gives attributes to elements. */
export function xmlText(text: string): string | null {
  const at = doctypeStart(text);
  if (at < 0) return text;
  const { end, declarations } = readDoctype(text, at);
  if (GIVES_ATTRIBUTES.test(declarations) || /%[^\s;%]{1,200};/.test(declarations)) return null;
  const entities = entitiesIn(declarations);
  const body = text.slice(0, at) + text.slice(end);
  return entities.size === 0 ? body : putIn(entities, body);
}
