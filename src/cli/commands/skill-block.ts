/** The skill as a block in a file that belongs to others: between two marker lines, with no other line changed, whatever the
 *  encoding of the file. */

const BEGIN = "<!-- svc:begin: svc install skill rewrites what stands between these two lines -->";
const END = "<!-- svc:end -->";
const IS_BEGIN = /^[ \t]*<!-- svc:begin\b.*-->[ \t]*$/;
const IS_END = /^[ \t]*<!-- svc:end\b.*-->[ \t]*$/;

/** The lines of a text, each with its own line end. */
const linesOf = (text: string): string[] => text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
const bare = (line: string): string => line.replace(/[\r\n]+$/, "");

/** The line end that most lines have. */
export function lineEndOf(text: string): string {
  const counts = new Map<string, number>();
  for (const [end] of text.matchAll(/\r\n|\n|\r/g)) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "\n";
}

/** How many lines at the start of `lines` are the skill's, in a block that has lost a marker. Blank lines at their end may
 *  belong to the file's owner and do not count. */
function ownLines(lines: readonly string[], skill: readonly string[]): number {
  let own = 0;
  while (own < lines.length && own < skill.length && bare(lines[own]!) === skill[own]) own++;
  while (own > 0 && bare(lines[own - 1]!) === "") own--;
  return own;
}

interface Span {
  from: number;
  /** The line after the last one. */
  to: number;
}

/** Every block, also one that has lost a marker. */
function findBlocks(lines: readonly string[], skill: readonly string[]): Span[] {
  const isMarker = (line: string) => IS_BEGIN.test(bare(line)) || IS_END.test(bare(line));
  const spans: Span[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!isMarker(lines[at]!)) continue;
    const before = spans.at(-1)?.to ?? 0;
    const next = lines.findIndex((line, i) => i > at && isMarker(line));
    if (IS_END.test(bare(lines[at]!))) {
      const own = ownLines(lines.slice(before, at).reverse(), [...skill].reverse());
      spans.push({ from: at - own, to: at + 1 });
    } else if (next !== -1 && IS_END.test(bare(lines[next]!))) {
      spans.push({ from: at, to: next + 1 });
      at = next;
    } else {
      spans.push({ from: at, to: at + 1 + ownLines(lines.slice(at + 1), skill) });
    }
  }
  return spans;
}

/** At the end of the file, a blank line away from what was there. */
function appended(text: string, block: string, end: string): string {
  if (text === "") return block;
  const ended = /[\r\n]$/.test(text) ? text : text + end;
  return `${ended}${end}${block}`;
}

/** The text with the block in it once: in place of the first one, else at the end. */
export function withBlock(text: string, skill: string): string {
  const end = lineEndOf(text);
  const own = skill.trimEnd().split("\n");
  const block = [BEGIN, ...own, END].map((line) => line + end).join("");
  const lines = linesOf(text);
  const spans = findBlocks(lines, own);
  if (spans.length === 0) return appended(text, block, end);
  let result = "";
  let at = 0;
  for (const [i, { from, to }] of spans.entries()) {
    result += lines.slice(at, from).join("") + (i === 0 ? block : "");
    at = to;
  }
  const rest = lines.slice(at).join("");
  // A file that ended with the block and without a line end keeps it so.
  return rest === "" && !/[\r\n]$/.test(text) && spans.length === 1 ? bare(result) : result + rest;
}

interface Encoding {
  /** The bytes that such a file begins with. */
  bom: Buffer;
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
}

const NONE = Buffer.alloc(0);
const swapped = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();

/** One character a byte, so that Latin-1 and broken UTF-8 survive. The block is ASCII. */
const bytewise = (bom: Buffer): Encoding => ({
  bom,
  decode: (bytes) => bytes.toString("latin1"),
  encode: (text) => Buffer.from(text, "latin1"),
});

const ENCODINGS: readonly Encoding[] = [
  bytewise(Buffer.from([0xef, 0xbb, 0xbf])),
  {
    bom: Buffer.from([0xff, 0xfe]),
    decode: (bytes) => bytes.toString("utf16le"),
    encode: (text) => Buffer.from(text, "utf16le"),
  },
  {
    bom: Buffer.from([0xfe, 0xff]),
    decode: (bytes) => swapped(bytes).toString("utf16le"),
    encode: (text) => swapped(Buffer.from(text, "utf16le")),
  },
];

const encodingOf = (bytes: Buffer): Encoding =>
  ENCODINGS.find(({ bom }) => bytes.subarray(0, bom.length).equals(bom)) ?? bytewise(NONE);

/** The same file with its text changed, and no other byte. */
export function changeText(bytes: Buffer, change: (text: string) => string): Buffer {
  const { bom, decode, encode } = encodingOf(bytes);
  return Buffer.concat([bom, encode(change(decode(bytes.subarray(bom.length))))]);
}
