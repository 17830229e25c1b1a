/** One gitignore pattern as a matcher. It walks the text once with the set of places in the pattern that it may be at,
 *  so that no pattern takes longer than pattern times text; a regular expression would. */
import { characterClass } from "./glob-class.ts";

/** One step through the pattern. */
type Step =
  /** One character. */
  | { kind: "one"; accepts(char: string): boolean }
  /** Any number of characters; those of `*` stay in their folder. */
  | { kind: "many"; deep: boolean }
  /** The `**` and its slash: any number of folders, also none: characters up to a slash. */
  | { kind: "folders" };

const one = (accepts: (char: string) => boolean): Step => ({ kind: "one", accepts });
const exactly = (wanted: string): Step => one((char) => char === wanted);
const notSlash = one((char) => char !== "/");

/** `**` between slashes stands for any number of folders; every other run of stars stays in its folder. */
function stars(pattern: readonly string[], start: number): { step: Step; next: number } {
  let end = start;
  while (pattern[end] === "*") end++;
  const alone = (start === 0 || pattern[start - 1] === "/") && (end === pattern.length || pattern[end] === "/");
  if (end - start < 2 || !alone) return { step: { kind: "many", deep: false }, next: end };
  if (end === pattern.length) return { step: { kind: "many", deep: true }, next: end };
  return { step: { kind: "folders" }, next: end + 1 };
}

/** Null where Git ignores the pattern: an unclosed class, a backslash at the end. */
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

/** The places in the pattern that the text has reached. A run of folders can end only behind a slash, so being inside
 *  one is a place of its own. */
class Places {
  readonly at = new Set<number>();
  readonly inside = new Set<number>();
  constructor(private readonly steps: readonly Step[]) {}

  /** A step that may match nothing is skipped at once too. */
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

export function globMatcher(pattern: string): (text: string) => boolean {
  const steps = stepsOf([...pattern]);
  if (steps === null) return () => false;
  return (text) => {
    let places = new Places(steps);
    places.reach(0);
    for (const char of text) places = advance(steps, places, char);
    return places.at.has(steps.length);
  };
}
