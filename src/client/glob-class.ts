/** `[…]` in a gitignore pattern. */

type Accepts = (char: string) => boolean;

const NAMED: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-fA-F]/,
};

interface Member {
  accepts: Accepts;
  next: number;
}

/** One character of a class, behind a backslash or not. */
function charAt(pattern: readonly string[], at: number): { char: string; next: number } | null {
  const escaped = pattern[at] === "\\";
  const char = pattern[escaped ? at + 1 : at];
  return char === undefined ? null : { char, next: at + (escaped ? 2 : 1) };
}

const codeOf = (char: string): number => char.codePointAt(0)!;

/** `[:name:]`; undefined where it only begins like one, null where there is no such name. */
function namedMember(pattern: readonly string[], at: number): Member | null | undefined {
  if (pattern[at] !== "[" || pattern[at + 1] !== ":") return undefined;
  const close = pattern.indexOf("]", at + 2);
  if (close === -1) return null;
  if (close < at + 3 || pattern[close - 1] !== ":") return undefined;
  const name = NAMED[pattern.slice(at + 2, close - 1).join("")];
  return name === undefined ? null : { accepts: (char) => name.test(char), next: close + 1 };
}

/** A character or a range. Of a range whose end comes before its start Git matches the start alone. */
function plainMember(pattern: readonly string[], at: number): Member | null {
  const first = charAt(pattern, at);
  if (first === null) return null;
  const { char: low, next } = first;
  const isRange = pattern[next] === "-" && pattern[next + 1] !== undefined && pattern[next + 1] !== "]";
  if (!isRange) return { accepts: (char) => char === low, next };
  const last = charAt(pattern, next + 1);
  if (last === null) return null;
  const { char: high } = last;
  const accepts: Accepts = (char) => char === low || (codeOf(char) >= codeOf(low) && codeOf(char) <= codeOf(high));
  return { accepts, next: last.next };
}

/** A `]` that comes first is an ordinary character, and a slash is never matched. Null: the class does not end. */
export function characterClass(pattern: readonly string[], start: number): Member | null {
  const negated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const members: Accepts[] = [];
  let at = start + (negated ? 2 : 1);
  do {
    const named = namedMember(pattern, at);
    const member = named === undefined ? plainMember(pattern, at) : named;
    if (member === null) return null;
    members.push(member.accepts);
    at = member.next;
  } while (pattern[at] !== "]");
  return { accepts: (char) => char !== "/" && members.some((accepts) => accepts(char)) !== negated, next: at + 1 };
}
