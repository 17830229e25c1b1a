/** Histories of pages whose truth is known: a page's blocks, edited as people edit pages, with each word's way from the
 *  old text to the new one. All chance comes from the seed. */
import { pageText } from "../../src/comments/anchoring/page-text.ts";

/** A number from 0 to 1 (mulberry32). */
export type Chance = () => number;

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const below = (chance: Chance, limit: number): number => Math.floor(chance() * limit);
export const pick = <T>(chance: Chance, list: readonly T[]): T => list[below(chance, list.length)]!;

/** A word with the space before it, if there is one. `from`: where it began in the old text; null: it is new. */
export interface Word {
  text: string;
  space: boolean;
  from: number | null;
}

export type BlockKind = "heading" | "row" | "code" | "prose";
export interface Block {
  kind: BlockKind;
  words: Word[];
}

const BLOCK = /<(h[1-6]|tr|pre|p|li|dt|dd|blockquote|div|section|article|nav|header|footer|aside|main|ul|ol|table)\b/gi;
const KINDS: Record<string, BlockKind> = { tr: "row", pre: "code" };
const kindOf = (tag: string): BlockKind => (/^h\d$/i.test(tag) ? "heading" : (KINDS[tag.toLowerCase()] ?? "prose"));

const WORD = /( ?)([\p{L}\p{N}_]+|[^\s])/gu;

/** Wide characters are words by themselves, as the anchors have them. */
const cutWide = (text: string): string[] => (/[\u2e80-\ua4cf\uff00-\uffef]/.test(text) ? [...text] : [text]);

export const wordsOf = (text: string): Word[] =>
  [...text.matchAll(WORD)].flatMap(([, space, word]) =>
    cutWide(word!).map((part, i) => ({ text: part, space: i === 0 && space !== "", from: null })),
  );

/** The blocks of a page in their order. */
export function blocksOf(html: string): Block[] {
  const body = html.slice(Math.max(0, html.search(/<body\b/i)));
  const starts = [...body.matchAll(BLOCK)].map(({ index, 1: tag }) => ({ index, kind: kindOf(tag!) }));
  return starts
    .map(({ index, kind }, i) => ({ kind, words: wordsOf(pageText(body.slice(index, starts[i + 1]?.index))) }))
    .filter(({ words }) => words.length > 0);
}

/** The text of blocks, where each word begins in it, and the numbers of the first words of blocks and of sentences. */
export interface Laid {
  text: string;
  words: Word[];
  starts: number[];
  blocks: number[];
  sentences: number[];
}

export function laidOut(blocks: readonly Block[]): Laid {
  const words = blocks.flatMap(({ words }) => words.map((word, i) => (i === 0 ? { ...word, space: true } : word)));
  const starts: number[] = [];
  let text = "";
  for (const { text: word, space } of words) {
    if (space && text !== "") text += " ";
    starts.push(text.length);
    text += word;
  }
  const firsts: number[] = [];
  const begins: number[] = [];
  let at = 0;
  for (const block of blocks) {
    firsts.push(at);
    begins.push(
      ...sentences(block)
        .slice(0, -1)
        .map((from) => at + from),
    );
    at += block.words.length;
  }
  return { text, words, starts, blocks: firsts, sentences: begins };
}

/** The same blocks, each word with its place in their text. */
export function rooted(blocks: readonly Block[]): Block[] {
  const { starts } = laidOut(blocks);
  let at = 0;
  return blocks.map(({ kind, words }) => ({ kind, words: words.map((word) => ({ ...word, from: starts[at++]! })) }));
}

type Edit = (blocks: Block[], chance: Chance, foreign: readonly Block[]) => void;

/** Words of another place, which begin a word of their own. */
const fresh = (words: readonly Word[]): Word[] =>
  words.map((word, i) => ({ ...word, space: word.space || i === 0, from: null }));
const isName = ({ text }: Word): boolean => /^[\p{L}\p{N}]/u.test(text);
const proseOf = (blocks: readonly Block[]): Block[] =>
  blocks.filter(({ kind, words }) => kind === "prose" && words.length > 8);
const anyWord = (blocks: readonly Block[], chance: Chance): string => {
  const words = pick(chance, blocks).words.filter(isName);
  return words.length === 0 ? "more" : pick(chance, words).text;
};

function reword(block: Block, share: number, chance: Chance, source: readonly Block[]): void {
  block.words = block.words.map((word) =>
    isName(word) && chance() < share ? { ...word, text: anyWord(source, chance), from: null } : word,
  );
}

/** Where sentences of a block begin, and its end. */
function sentences({ words }: Block): number[] {
  const starts = words.flatMap(({ text }, i) => (/^[.!?:;。！？؟]$/u.test(text) ? [i + 1] : []));
  return [...new Set([0, ...starts.filter((at) => at < words.length), words.length])];
}

function sentenceOf(block: Block, chance: Chance): [from: number, to: number] {
  const bounds = sentences(block);
  const at = below(chance, bounds.length - 1);
  return [bounds[at]!, bounds[at + 1]!];
}

function takeBlocks(blocks: Block[], chance: Chance): Block[] {
  const from = below(chance, blocks.length);
  return blocks.splice(from, 1 + below(chance, Math.max(1, Math.min(12, blocks.length >> 2))));
}

const withProse =
  (edit: (block: Block, chance: Chance, foreign: readonly Block[]) => void): Edit =>
  (blocks, chance, foreign) => {
    const prose = proseOf(blocks);
    if (prose.length > 0) edit(pick(chance, prose), chance, foreign);
  };

/** Puts words in the place of others; what comes behind them begins a word of its own. */
function splice(block: Block, from: number, count: number, words: readonly Word[] = []): void {
  block.words.splice(from, count, ...words);
  const next = block.words[from + words.length];
  if (next && (words.length > 0 || from > 0) && isName(next))
    block.words[from + words.length] = { ...next, space: true };
}

/** What people do to pages. */
export const EDITS: Record<string, Edit> = {
  "a sentence is reworded": withProse((block, chance, foreign) => {
    const [from, to] = sentenceOf(block, chance);
    const part = { kind: block.kind, words: block.words.slice(from, to) };
    reword(part, 0.05 + 0.25 * chance(), chance, foreign);
    splice(block, from, to - from, part.words);
  }),
  "a sentence is replaced": withProse((block, chance, foreign) => {
    const [from, to] = sentenceOf(block, chance);
    const other = pick(chance, proseOf(foreign));
    splice(block, from, to - from, fresh(other.words.slice(...sentenceOf(other, chance))));
  }),
  "a sentence is added": withProse((block, chance, foreign) => {
    const other = pick(chance, proseOf(foreign));
    splice(block, sentenceOf(block, chance)[0], 0, fresh(other.words.slice(...sentenceOf(other, chance))));
  }),
  "a sentence goes": withProse((block, chance) => {
    const [from, to] = sentenceOf(block, chance);
    splice(block, from, to - from);
  }),
  "words go": withProse((block, chance) => {
    splice(block, below(chance, block.words.length), 1 + below(chance, 4));
  }),
  "words come in": withProse((block, chance, foreign) => {
    const words = wordsOf(Array.from({ length: 1 + below(chance, 4) }, () => ` ${anyWord(foreign, chance)}`).join(""));
    splice(block, below(chance, block.words.length), 0, words);
  }),
  "a typo is mended": withProse((block, chance) => {
    const long = block.words.filter(({ text }) => text.length > 5 && /^\p{L}+$/u.test(text));
    if (long.length === 0) return;
    const word = pick(chance, long);
    const at = 1 + below(chance, word.text.length - 2);
    word.text = word.text.slice(0, at) + word.text.slice(at + 1);
  }),
  "paragraphs are added": (blocks, chance, foreign) => {
    const other = takeBlocks([...foreign], chance);
    blocks.splice(
      below(chance, blocks.length + 1),
      0,
      ...other.map(({ kind, words }) => ({ kind, words: fresh(words) })),
    );
  },
  "paragraphs go": (blocks, chance) => {
    if (blocks.length > 4) blocks.splice(below(chance, blocks.length), 1 + below(chance, 3));
  },
  "a section is moved": (blocks, chance) => {
    if (blocks.length < 6) return;
    const moved = takeBlocks(blocks, chance);
    blocks.splice(below(chance, blocks.length + 1), 0, ...moved);
  },
  "a heading is renamed": (blocks, chance, foreign) => {
    const headings = blocks.filter(({ kind }) => kind === "heading");
    if (headings.length > 0) reword(pick(chance, headings), 0.6, chance, foreign);
  },
  "figures change": (blocks, chance) => {
    for (const { words } of blocks) {
      for (const [i, word] of words.entries()) {
        if (!/^\d+$/.test(word.text) || chance() < 0.7) continue;
        words[i] = { ...word, text: String(below(chance, 10 ** Math.min(6, word.text.length + 1))), from: null };
      }
    }
  },
  "rows of a table change places, come and go": (blocks, chance) => {
    const at = blocks.flatMap(({ kind }, i) => (kind === "row" ? [i] : []));
    if (at.length < 3) return;
    const [one, other] = [pick(chance, at), pick(chance, at)];
    [blocks[one], blocks[other]] = [blocks[other]!, blocks[one]!];
    blocks.splice(pick(chance, at), chance() < 0.5 ? 1 : 0);
  },
  "a listing changes": (blocks, chance, foreign) => {
    const code = blocks.filter(({ kind }) => kind === "code");
    if (code.length > 0) reword(pick(chance, code), 0.15, chance, foreign);
  },
  "a paragraph is said twice": (blocks, chance) => {
    const { kind, words } = pick(chance, blocks);
    blocks.splice(below(chance, blocks.length + 1), 0, { kind, words: fresh(words) });
  },
  "a page is split": (blocks, chance) => {
    if (blocks.length < 12 || chance() < 0.6) return;
    const middle = blocks.length >> 1;
    blocks.splice(...((chance() < 0.5 ? [0, middle] : [middle, blocks.length]) as [number, number]));
  },
};

/** The page after some edits. `foreign`: blocks of other pages. */
export function edited(old: readonly Block[], count: number, chance: Chance, foreign: readonly Block[]): Block[] {
  const blocks = old.map(({ kind, words }) => ({ kind, words: words.map((word) => ({ ...word })) }));
  for (let i = 0; i < count; i++) pick(chance, Object.values(EDITS))(blocks, chance, foreign);
  return blocks.filter(({ words }) => words.length > 0);
}
