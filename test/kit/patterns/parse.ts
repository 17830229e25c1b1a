/** A regular expression read as a tree, as far as it matters where it repeats and what a text must be to come there. */

export type Node =
  | { kind: "chars"; source: string }
  /** Groups, alternatives of one sequence each. `around`: a look at what stands beside; negative ones hold nothing. */
  | { kind: "group"; alternatives: Node[][]; around: "none" | "yes" | "no" }
  | { kind: "repeat"; inside: Node; least: number; most: number }
  | { kind: "nothing" };

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/;
const GROUP = /^\((?:\?(?:(:)|(<?=)|(<?!)|<\w+>))?/;
const ESCAPE = /^\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<\w+>|[^])/i;
const CLASS = /^\[(?:\\[^]|[^\]\\])*\]/;

class Parser {
  private at = 0;
  constructor(private readonly source: string) {}

  alternatives(): Node[][] {
    const all: Node[][] = [[]];
    while (this.at < this.source.length && this.source[this.at] !== ")") {
      if (this.source[this.at] !== "|") all.at(-1)!.push(this.repeated(this.one()));
      else {
        this.at++;
        all.push([]);
      }
    }
    return all;
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    const found = pattern.exec(this.source.slice(this.at));
    if (found) this.at += found[0].length;
    return found;
  }

  private one(): Node {
    const group = this.take(GROUP);
    if (group) {
      const alternatives = this.alternatives();
      this.at++;
      return { kind: "group", alternatives, around: group[2] ? "yes" : group[3] ? "no" : "none" };
    }
    const escape = this.take(ESCAPE)?.[0];
    if (escape) return /^\\(?:[bB1-9]|k<)/.test(escape) ? { kind: "nothing" } : { kind: "chars", source: escape };
    const source = this.take(CLASS)?.[0] ?? this.source[this.at++]!;
    return source === "^" || source === "$" ? { kind: "nothing" } : { kind: "chars", source };
  }

  private repeated(inside: Node): Node {
    const found = this.take(QUANTIFIER);
    if (!found) return inside;
    const [whole, least, more, most] = found;
    if (least !== undefined) {
      return { kind: "repeat", inside, least: Number(least), most: more ? Number(most || Infinity) : Number(least) };
    }
    return { kind: "repeat", inside, least: whole[0] === "+" ? 1 : 0, most: whole[0] === "?" ? 1 : Infinity };
  }
}

export const parsePattern = (source: string): Node => ({
  kind: "group",
  alternatives: new Parser(source).alternatives(),
  around: "none",
});
