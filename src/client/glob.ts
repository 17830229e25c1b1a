/** One gitignore pattern as the source of a regular expression (with the flags `s` and `u`). */

/** Without any of these a pattern is compared as it stands. */
export const isLiteral = (pattern: string): boolean => !/[*?[\\]/.test(pattern);

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9a-fA-F",
};

const literal = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;

/** A piece of a pattern: the source it becomes, and where the next one starts. Null: the pattern can match nothing. */
interface Piece {
  source: string;
  next: number;
}

/** One character of a class, behind a backslash or not. */
function classChar(pattern: string[], at: number): { char: string; next: number } | null {
  const escaped = pattern[at] === "\\";
  const char = pattern[escaped ? at + 1 : at];
  return char === undefined ? null : { char, next: at + (escaped ? 2 : 1) };
}

/** A single character, a range, or a named class inside `[…]`. */
function classMember(pattern: string[], at: number): Piece | null {
  if (pattern[at] === "[" && pattern[at + 1] === ":") {
    const close = pattern.indexOf("]", at + 2);
    if (close === -1) return null;
    const name = pattern.slice(at + 2, close - 1).join("");
    if (pattern[close - 1] === ":" && close > at + 2)
      return name in CLASSES ? { source: CLASSES[name]!, next: close + 1 } : null;
  }
  const first = classChar(pattern, at);
  if (first === null) return null;
  const isRange = pattern[first.next] === "-" && pattern[first.next + 1] !== "]" && first.next + 1 < pattern.length;
  if (!isRange) return { source: literal(first.char), next: first.next };
  const last = classChar(pattern, first.next + 1);
  if (last === null) return null;
  const empty = last.char.codePointAt(0)! < first.char.codePointAt(0)!;
  return { source: empty ? literal(first.char) : `${literal(first.char)}-${literal(last.char)}`, next: last.next };
}

/** `[…]`, in which a `]` that comes first is an ordinary character. A slash is never matched. */
function characterClass(pattern: string[], start: number): Piece | null {
  let at = start + 1;
  const negated = pattern[at] === "!" || pattern[at] === "^";
  if (negated) at++;
  let members = "";
  for (let first = true; first || pattern[at] !== "]"; first = false) {
    const member = classMember(pattern, at);
    if (member === null) return null;
    members += member.source;
    at = member.next;
  }
  return { source: negated ? `[^${members}\\/]` : `(?!\\/)[${members}]`, next: at + 1 };
}

/** `**` between slashes stands for any number of folders, also none; every other run of stars stays in its folder. */
function stars(pattern: string[], start: number): Piece {
  let end = start;
  while (pattern[end] === "*") end++;
  const alone = (start === 0 || pattern[start - 1] === "/") && (end === pattern.length || pattern[end] === "/");
  if (end - start < 2 || !alone) return { source: "[^\\/]*", next: end };
  return end === pattern.length ? { source: ".*", next: end } : { source: "(?:.*\\/)?", next: end + 1 };
}

function piece(pattern: string[], at: number): Piece | null {
  const char = pattern[at]!;
  if (char === "*") return stars(pattern, at);
  if (char === "?") return { source: "[^\\/]", next: at + 1 };
  if (char === "[") return characterClass(pattern, at);
  if (char !== "\\") return { source: literal(char), next: at + 1 };
  return at + 1 < pattern.length ? { source: literal(pattern[at + 1]!), next: at + 2 } : null;
}

/** Null for what Git takes for no pattern at all: an unclosed class, a backslash at the end. */
export function globSource(text: string): string | null {
  const pattern = [...text];
  let source = "";
  for (let at = 0; at < pattern.length;) {
    const next = piece(pattern, at);
    if (next === null) return null;
    source += next.source;
    at = next.next;
  }
  return source;
}
