/** A page as a row of tags and texts, cut once for all who ask it: what it shows, loads and sends. */
import type { Bytes } from "../base/types.ts";
import { withoutUnseen } from "../base/visible.ts";
import { asciiLower, decodeEntities } from "./character-references.ts";
import { decodeHtml } from "./decode.ts";
import { asBrowser, type Kind, type Namespaces } from "./foreign.ts";
import { Tokenizer } from "./tokenizer.ts";

export type Part =
  /** `attributes` as written. `raw` is the content of an element that holds no markup (script, style, title …), closed or
   *  not; else null. */
  | { kind: "open"; name: string; attributes: string; raw: string | null; is: Kind }
  | { kind: "close"; name: string; is: Kind }
  | { kind: "text"; text: string };
export type OpenTag = Extract<Part, { kind: "open" }>;

const [TEXT, CLOSE] = [0, 1];
/** The ways of reading that the numbers from `FIRST_OPEN` on mean. */
const OPEN: readonly Kind[] = ["html", "drawing", "plain"];
const FIRST_OPEN = 2;
const CLOSE_OF_DRAWING = FIRST_OPEN + OPEN.length;
/** The numbers that are kept of a part: its kind, the place of itself or its name, of its attributes, of its end, of
 *  the end of its raw text. */
const NUMBERS = 5;
/** Parts in a block: a page of 10 MB may have three million, and an array that grows would be copied again and again. */
const BLOCK = 1024;

/** Places alone are kept: an object for each part would take ten times as much. */
class Places {
  length = 0;
  private readonly blocks: Int32Array[] = [];

  add(kind: number, from: number, inside: number, to: number, raw_end: number): void {
    const at = (this.length % BLOCK) * NUMBERS;
    if (at === 0) this.blocks.push(new Int32Array(BLOCK * NUMBERS));
    const block = this.blocks.at(-1)!;
    block[at] = kind;
    block[at + 1] = from;
    block[at + 2] = inside;
    block[at + 3] = to;
    block[at + 4] = raw_end;
    this.length++;
  }

  part(text: string, index: number): Part {
    const block = this.blocks[Math.floor(index / BLOCK)]!;
    const at = (index % BLOCK) * NUMBERS;
    const [kind, from, inside] = [block[at]!, block[at + 1]!, block[at + 2]!];
    const name = kind === TEXT ? "" : asciiLower(text.slice(from, inside));
    return partOf(text, name, kind, from, inside, block[at + 3]!, block[at + 4]!);
  }
}

function partOf(
  text: string,
  name: string,
  kind: number,
  from: number,
  inside: number,
  to: number,
  raw_end: number,
): Part {
  if (kind === TEXT) return { kind: "text", text: text.slice(from, to) };
  if (kind === CLOSE) return { kind: "close", name, is: "html" };
  if (kind === CLOSE_OF_DRAWING) return { kind: "close", name, is: "drawing" };
  const raw = raw_end < 0 ? null : text.slice(to, raw_end);
  return { kind: "open", name, attributes: text.slice(inside, to - 1), raw, is: OPEN[kind - FIRST_OPEN]! };
}

/** The number for the kind of the current token; null if it is not a part. */
function kindOf({ kind, is, cdata }: Tokenizer): number | null {
  if (kind === "open") return FIRST_OPEN + OPEN.indexOf(is);
  if (kind === "close") return is === "drawing" ? CLOSE_OF_DRAWING : CLOSE;
  return kind === "text" || (kind === "comment" && cdata) ? TEXT : null;
}

/** `<![CDATA[` and `]]>`. */
const [CDATA_BEGINS, CDATA_ENDS] = [9, 3];

/** The place at which a part's text, or its name, begins. */
const startOf = ({ from }: Tokenizer, kind: number): number =>
  kind === TEXT ? from : kind === CLOSE || kind === CLOSE_OF_DRAWING ? from + 2 : from + 1;

/** The part that the current token is; null for a comment and the like. `places` keeps it. */
function partAt(text: string, token: Tokenizer, places: Places | null): Part | null {
  const kind = kindOf(token);
  if (kind === null) return null;
  const section = token.kind === "comment";
  const from = section ? token.from + CDATA_BEGINS : startOf(token, kind);
  const to = section && token.closer === "" ? token.to - CDATA_ENDS : token.to;
  const { name, inside, raw_end } = token;
  places?.add(kind, from, inside, to, raw_end);
  return partOf(text, name, kind, from, inside, to, raw_end);
}

/** The parts of a text that is read once: nothing is kept. */
export function* partsOf(text: string, namespaces: Namespaces = asBrowser()): Generator<Part> {
  const token = new Tokenizer(text, namespaces);
  while (token.next()) {
    const part = partAt(text, token, null);
    if (part !== null) yield part;
  }
}

export class Page {
  private readonly places = new Places();
  private readonly browser = asBrowser();
  private readonly token: Tokenizer;

  constructor(readonly text: string) {
    this.token = new Tokenizer(text, this.browser);
  }

  /** Its tags did not nest, so that another reading may be the true one. */
  get doubtful(): boolean {
    while (this.cut() !== null);
    return this.browser.doubtful;
  }

  /** Each part is cut when it is first asked for, so a reader that stops early pays for no more. */
  *parts(): Generator<Part> {
    const { places, text } = this;
    for (let i = 0; ; i++) {
      const part = i < places.length ? places.part(text, i) : this.cut();
      if (part === null) return;
      yield part;
    }
  }

  /** One part more; null at the page's end. */
  private cut(): Part | null {
    const { places, text, token } = this;
    while (token.next()) {
      const part = partAt(text, token, places);
      if (part !== null) return part;
    }
    return null;
  }
}

/** The pages of a deploy, each decoded and cut into its parts when it is first asked for, and once for all who ask.
 *  By the bytes themselves: a copy under another name is the same page. */
export type Pages = (bytes: Bytes) => Page;

export function keepPages(): Pages {
  const kept = new Map<Bytes, Page>();
  return (bytes) => kept.getOrInsertComputed(bytes, () => new Page(decodeHtml(bytes)));
}

/** The longest title that is kept. */
const MAX_CHARACTERS = 200;
/** The longest source text that is looked at: entities are longer than the characters that they mean. */
const MAX_SOURCE = 8192;

/** One line, for lists and terminals: controls (an escape sequence would act there) and line ends count as white space;
 *  what shows nothing, or turns the direction, is left out. */
function oneLine(source: string): string | null {
  const text = decodeEntities(source.slice(0, MAX_SOURCE)).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
  const words = withoutUnseen(text).replace(/\s+/g, " ");
  const characters = [...words.trim().toWellFormed()];
  if (characters.length <= MAX_CHARACTERS) return characters.join("") || null;
  return `${characters
    .slice(0, MAX_CHARACTERS - 1)
    .join("")
    .trimEnd()}…`;
}

/** The text of a page's first `<title>`, not of a drawing's; null if there is none, or if it is empty. */
export function titleOf(page: Page): string | null {
  for (const part of page.parts()) {
    if (part.kind === "open" && part.name === "title" && part.raw !== null) return oneLine(part.raw);
  }
  return null;
}
