/** Texts that a regular expression may take long over: what leads to each of its repeats, and then the same again and
 *  again. */
import { type Node, parsePattern } from "./parse.ts";
import type { Pattern } from "./source.ts";

/** One of each class of characters that any reader of ours tells apart, and some that follow each other. */
export const RUNS: Readonly<Record<string, string>> = {
  blanks: " ",
  tabs: "\t",
  lines: "\n",
  "lines and blanks": "\n ",
  letters: "a",
  capitals: "A",
  digits: "7",
  words: "a ",
  attributes: "a=",
  "quoted attributes": ' a="b"',
  tags: "<",
  "end tags": "</",
  elements: "<b>",
  brackets: "[",
  "closing brackets": "]",
  links: "](",
  parentheses: "(",
  braces: "{",
  quotes: '"',
  apostrophes: "'",
  backticks: "`",
  ampersands: "&",
  references: "&#",
  percents: "%",
  backslashes: "\\",
  stars: "*",
  underscores: "_",
  "underscores and letters": "_a",
  hyphens: "-",
  equals: "=",
  colons: ":",
  commas: ",",
  semicolons: ";",
  dots: ".",
  slashes: "/",
  "slashes and dots": "../",
  bars: "|",
  hashes: "#",
  "question marks": "?",
  dollars: "${",
  tildes: "~",
  "greater-than signs": ">",
  "exclamation marks": "!",
  "at signs": "@",
  plus: "+",
  nul: "\0",
  "other letters": "é",
  marks: "\u0301",
  pairs: "😀",
};

const ASCII = Array.from({ length: 128 }, (_, i) => String.fromCharCode(i));
/** Letters and digits first, for a text that is easy to read. */
const CANDIDATES = [..."a7 ", ...ASCII, ..."éя\u0301漢אا😀\u202e²"];

const fits = (source: string, flags: string) => {
  const whole = new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ""));
  return (one: string): boolean => whole.test(one);
};

/** A text that the node matches; `least`: with nothing of what may be left out. */
function sample(node: Node, flags: string, least: boolean): string {
  if (node.kind === "nothing") return "";
  if (node.kind === "chars") return CANDIDATES.find(fits(node.source, flags)) ?? "";
  if (node.kind === "repeat") {
    const times = least ? node.least : Math.max(1, node.least);
    return sample(node.inside, flags, least).repeat(times);
  }
  if (node.around === "no") return "";
  return node.alternatives[0]!.map((one) => sample(one, flags, least)).join("");
}

/** A character that ends a run of the node. */
function breakOf(node: Node, flags: string): string {
  if (node.kind !== "chars") return "\x07";
  const inside = fits(node.source, flags);
  return CANDIDATES.find((one) => !inside(one)) ?? "";
}

interface Lead {
  /** What leads to a place at which something repeats. */
  before: string;
  /** Once what is repeated there. */
  piece: string;
  /** What is none of it. */
  end: string;
}

/** Fewer times is no run. */
const MANY = 20;

function collect(node: Node, before: string, flags: string, least: boolean, leads: Lead[]): void {
  if (node.kind === "repeat") {
    const piece = sample(node.inside, flags, false);
    if (node.most > MANY) leads.push({ before, piece, end: breakOf(node.inside, flags) });
    collect(node.inside, before, flags, least, leads);
  } else if (node.kind === "group") {
    for (const sequence of node.alternatives) {
      let so_far = before;
      for (const one of sequence) {
        collect(one, so_far, flags, least, leads);
        so_far += sample(one, flags, least);
      }
      leads.push({ before, piece: so_far.slice(before.length), end: "\x07" });
    }
  }
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** Long texts for a regular expression, by their size in characters: to each of its repeats, and there its own piece or
 *  one of every class again and again, and then an end that makes it look back. */
export function* longTexts({ source, flags }: Pattern): Generator<{ name: string; of: (size: number) => string }> {
  const leads: Lead[] = [];
  for (const least of [true, false]) collect(parsePattern(source), "", flags, least, leads);
  const own = leads.flatMap(({ before, piece }) => [piece, before + piece]).filter((one) => one.length < 100);
  const pieces = distinct([...Object.values(RUNS), ...own]).filter((piece) => piece !== "");
  for (const before of distinct(["", ...leads.map((lead) => lead.before)])) {
    const ends = distinct(["", "\x07", ...leads.filter((lead) => lead.before === before).map(({ end }) => end)]);
    for (const start of distinct([before, `!${before}`])) {
      for (const piece of pieces) {
        for (const end of ends) {
          const of = (size: number) => start + piece.repeat(Math.ceil(size / piece.length)) + end;
          yield { name: JSON.stringify([start, piece, end]), of };
        }
      }
    }
  }
}
