/** Rules of a site whose literals are anagrams of what is asked: the worst for a search that compares sums of letters. */

/** The longest path that patterns are searched in. */
export const LONG = 2048;
/** Half of a line's 2,000 characters at most, so that a hundred lines are within 100 KiB. */
const LITERAL = 948;
const MOST_BYTES = 100 * 1024;
const MOST_RULES = 100;

/** The path's letter, and two that have the sum of two of it; as a file has them. */
type Letters = readonly [run: string, sum: string];
const LETTERS: readonly Letters[] = [
  ["a", "b%60"],
  ["m", "nl"],
  ["ж", "зе"],
];

/** The kinds of lines; `pattern` is the path of one. */
const RULES = {
  "a redirect": (pattern: string) => ({ _redirects: `${pattern} /x 302` }),
  "a forced redirect": (pattern: string) => ({ _redirects: `${pattern} /x 302!` }),
  "a header": (pattern: string) => ({ _headers: `${pattern}\n  X-A: 1` }),
  "a page": (pattern: string) => ({ _redirects: `${pattern} /a.html 200` }),
  "a forced page": (pattern: string) => ({ _redirects: `${pattern} /a.html 200!` }),
  "a 404 page": (pattern: string) => ({ _redirects: `${pattern} /a.html 404` }),
  "a forced 404 page": (pattern: string) => ({ _redirects: `${pattern} /a.html 404!` }),
  "a header of a host": (pattern: string) => ({ _headers: `https://:site.localhost${pattern}\n  X-A: 1` }),
  "a removed header": (pattern: string) => ({ _headers: `${pattern}\n  ! X-A` }),
} as const;

/** The places of the literal in the `n`th pattern. */
const SHAPES = {
  "between * and a name": (literal: string, n: number) => `/*${literal}:n${n}`,
  "between names": (literal: string, n: number) => `/:n${n}${literal}:b`,
  "between names, behind a *": (literal: string, n: number) => `/*:n${n}${literal}:b`,
  "between a name and *": (literal: string, n: number) => `/:n${n}${literal}*`,
  "twice, around a name": (literal: string, n: number) => `/*${literal}:n${n}${literal}:b`,
} as const;

const ENDS = ["end", "beginning", "middle"] as const;

export interface AnagramKind {
  kind: keyof typeof RULES;
  shape: keyof typeof SHAPES;
  /** The end of the literal at which the anagram is. */
  end: (typeof ENDS)[number];
  letters: Letters;
  length: number;
}

/** Rules of the kinds that differ most in how they are matched. */
export const KINDS: AnagramKind[] = (["a redirect", "a forced redirect", "a header"] as const).flatMap((kind) =>
  ENDS.map((end) => ({ kind, end, shape: "between * and a name", letters: LETTERS[0]!, length: LITERAL })),
);

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] => Object.keys(table) as Key[];

/** Each kind of rule in each shape with each place of the anagram, in turn with other letters and lengths. */
export const EVERY_KIND: AnagramKind[] = keysOf(RULES)
  .flatMap((kind) => keysOf(SHAPES).flatMap((shape) => ENDS.map((end) => ({ kind, shape, end }))))
  .map((row, n) => ({ ...row, letters: LETTERS[n % LETTERS.length]!, length: n % 2 === 0 ? LITERAL : 400 }));

/** As many as a file may have; each is another pattern. */
export function anagrams({ kind, shape, end, letters: [run, sum], length }: AnagramKind): Record<string, string> {
  const once = shape === "twice, around a name" ? length / 2 : length; // a line has 2,000 characters
  const [all, half] = [run.repeat(once), run.repeat(once / 2)];
  const literal = { end: all + sum, beginning: sum + all, middle: half + sum + half }[end];
  const lines = Array.from({ length: MOST_RULES }, (_, n) => RULES[kind](SHAPES[shape](literal, n)));
  const [name] = Object.keys(lines[0]!) as ["_redirects" | "_headers"];
  const texts = lines.map((line) => `${Object.values(line)[0]}\n`);
  const most = Math.floor(MOST_BYTES / Buffer.byteLength(texts.at(-1)!));
  return { [name]: texts.slice(0, most).join("") };
}
