/** `.svcignore`: a file in the root of what is deployed, with the syntax and the meaning of gitignore.
 *  test/cli/ignore.test.ts holds the table that was compared with `git check-ignore`. */

export const IGNORE_FILE = ".svcignore";

/** Whether a path (`/` separators, relative to the root) is left out. */
export type Ignored = (path: string, isFolder: boolean) => boolean;

interface Rule {
  negated: boolean;
  foldersOnly: boolean;
  /** Whether it is tested against the whole path, or against the last name only. */
  wholePath: boolean;
  matches(text: string): boolean;
}

/** Unescaped spaces at the end of a line do not count. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end--;
  const escapes = /\\*$/.exec(line.slice(0, end))![0].length;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}

/** Most patterns are plain names, which need no matcher of their own. */
const matcher = (pattern: string): ((text: string) => boolean) =>
  /[*?[\\]/.test(pattern) ? globMatcher(pattern) : (text) => text === pattern;

function parseLine(line: string): Rule | null {
  let pattern = trimEnd(line.replace(/\r$/, ""));
  if (pattern === "" || pattern.startsWith("#")) return null;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const wholePath = pattern.includes("/");
  return { negated, foldersOnly, wholePath, matches: matcher(pattern.replace(/^\//, "")) };
}

/** The last rule that matches decides; nothing below an ignored folder comes back, as in Git. */
export function parseIgnore(text: string): Ignored {
  const rules = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map(parseLine)
    .filter((rule) => rule !== null)
    .reverse();
  const decide = (path: string, isFolder: boolean): boolean => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const rule = rules.find((r) => (isFolder || !r.foldersOnly) && r.matches(r.wholePath ? path : name));
    return rule !== undefined && !rule.negated;
  };
  return (path, isFolder) => {
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
      if (decide(path.slice(0, slash), true)) return true;
    }
    return decide(path, isFolder);
  };
}

/** One step through the pattern. */
type Step =
  /** One character. */
  | { kind: "one"; accepts(char: string): boolean }
  /** Any number of characters; those of `*` stay in their folder. */
  | { kind: "many"; deep: boolean }
  /** A `**` and its slash: any number of folders, or none. */
  | { kind: "folders" };

const one = (accepts: (char: string) => boolean): Step => ({ kind: "one", accepts });
const exactly = (wanted: string): Step => one((char) => char === wanted);
const notSlash = one((char) => char !== "/");

/** `**` between slashes matches any number of folders; every other run of stars stays in its folder. */
function stars(pattern: readonly string[], start: number): { step: Step; next: number } {
  let end = start;
  while (pattern[end] === "*") end++;
  const alone = (start === 0 || pattern[start - 1] === "/") && (end === pattern.length || pattern[end] === "/");
  if (end - start < 2 || !alone) return { step: { kind: "many", deep: false }, next: end };
  if (end === pattern.length) return { step: { kind: "many", deep: true }, next: end };
  return { step: { kind: "folders" }, next: end + 1 };
}

/** Null if Git ignores the pattern: an unclosed class, a backslash at the end. */
function stepAt(pattern: readonly string[], at: number): { step: Step; next: number } | null {
  const char = pattern[at]!;
  if (char === "*") return stars(pattern, at);
  if (char === "?") return { step: notSlash, next: at + 1 };
  if (char === "[") {
    const found = characterClass(pattern, at);
    return found === null ? null : { step: one(found.accepts), next: found.next };
  }
  if (char !== "\\") return { step: exactly(char), next: at + 1 };
  return at + 1 < pattern.length ? { step: exactly(pattern[at + 1]!), next: at + 2 } : null;
}

function stepsOf(pattern: readonly string[]): Step[] | null {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length;) {
    const found = stepAt(pattern, at);
    if (found === null) return null;
    steps.push(found.step);
    at = found.next;
  }
  return steps;
}

/** The places in the pattern that the text has reached. A run of folders can end only after a slash, so being inside one is
 *  a place of its own. */
class Places {
  readonly at = new Set<number>();
  readonly inside = new Set<number>();
  constructor(private readonly steps: readonly Step[]) {}

  /** A step that may match nothing is also skipped at once. */
  reach(place: number): void {
    this.at.add(place);
    const step = this.steps[place];
    if (step !== undefined && step.kind !== "one") this.reach(place + 1);
  }
}

function advance(steps: readonly Step[], places: Places, char: string): Places {
  const next = new Places(steps);
  for (const place of places.at) {
    const step = steps[place];
    if (step?.kind === "one" && step.accepts(char)) next.reach(place + 1);
    if (step?.kind === "many" && (step.deep || char !== "/")) next.reach(place);
    if (step?.kind === "folders") next.inside.add(place);
  }
  for (const place of places.inside) next.inside.add(place);
  if (char === "/") for (const place of next.inside) next.reach(place + 1);
  return next;
}

/** A gitignore pattern as a matcher. It goes through the text once, with the set of places in the pattern that it may be at,
 *  so that no pattern takes longer than pattern times text; a regular expression would. */
function globMatcher(pattern: string): (text: string) => boolean {
  const steps = stepsOf([...pattern]);
  if (steps === null) return () => false;
  return (text) => {
    let places = new Places(steps);
    places.reach(0);
    for (const char of text) places = advance(steps, places, char);
    return places.at.has(steps.length);
  };
}

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

interface ClassMember {
  accepts: Accepts;
  next: number;
}

/** One character of a class, with or without a backslash before it. */
function charAt(pattern: readonly string[], at: number): { char: string; next: number } | null {
  const escaped = pattern[at] === "\\";
  const char = pattern[escaped ? at + 1 : at];
  return char === undefined ? null : { char, next: at + (escaped ? 2 : 1) };
}

const codeOf = (char: string): number => char.codePointAt(0)!;

/** Reads `[:name:]`; undefined if it only begins like one, null if there is no such name. */
function namedMember(pattern: readonly string[], at: number): ClassMember | null | undefined {
  if (pattern[at] !== "[" || pattern[at + 1] !== ":") return undefined;
  const close = pattern.indexOf("]", at + 2);
  if (close === -1) return null;
  if (close < at + 3 || pattern[close - 1] !== ":") return undefined;
  const name = NAMED[pattern.slice(at + 2, close - 1).join("")];
  return name === undefined ? null : { accepts: (char) => name.test(char), next: close + 1 };
}

/** A character or a range. If the end of a range comes before its start, only the start matches, as in Git. */
function plainMember(pattern: readonly string[], at: number): ClassMember | null {
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

/** Reads a class, `[…]`. A `]` that comes first is an ordinary character, and a slash never matches. Null if the class does
 *  not end. */
function characterClass(pattern: readonly string[], start: number): ClassMember | null {
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
