/** Rules of a site whose literals are anagrams of what is asked: the worst for a search that compares sums of letters. */

/** The longest path that patterns are searched in. */
export const LONG = 2048;
/** Half of a line's 2,000 characters at most, so that a hundred lines are within 100 KiB. */
const LITERAL = 948;

export interface AnagramKind {
  kind: "a redirect" | "a forced redirect" | "a header";
  /** Where in the literal the anagram is. */
  end: "end" | "beginning" | "middle";
  /** Letters with the same sum as two `a`, or others. */
  letters?: string;
}

export const KINDS: AnagramKind[] = (["a redirect", "a forced redirect", "a header"] as const).flatMap((kind) =>
  (["end", "beginning", "middle"] as const).map((end) => ({ kind, end })),
);

/** As many as a file may have; each is another pattern. */
export function anagrams({ kind, end, letters = "b%60" }: AnagramKind): Record<string, string> {
  const run = "a".repeat(LITERAL);
  const half = "a".repeat(LITERAL / 2);
  const literal = { end: run + letters, beginning: letters + run, middle: half + letters + half }[end];
  const patterns = Array.from({ length: 100 }, (_, n) => `/*${literal}:n${n}`);
  if (kind === "a header") return { _headers: patterns.map((path) => `${path}\n  X-A: 1`).join("\n") };
  return { _redirects: patterns.map((path) => `${path} /x 302${kind === "a redirect" ? "" : "!"}`).join("\n") };
}
