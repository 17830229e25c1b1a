/** A file as the pages that a browser could read in it: in its encodings, in the ways its broken markup may be mended, and
 *  with the pages that its frames hold. What is found in any of them counts. */
import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../base/types.ts";
import type { Budget } from "../budget.ts";
import { isMarkup, isXml } from "../../base/media-types.ts";
import { decodeHtml } from "../../html/decode.ts";
import { allHtml, asBrowser, plainAfterDrawing, xml } from "../../html/foreign.ts";
import { type Page, type Pages, partsOf } from "../../html/page.ts";
import { type Frame, type PageFacts, Unreadable } from "./facts.ts";
import { hiddenPages } from "./hidden-pages.ts";
import { inAddress } from "./page-code.ts";
import { readPage } from "./page.ts";
import { xmlText } from "../../html/xml-text.ts";

/** Frames in frames; the page itself is the first. */
const DEEPEST = 4;
/** All that frames hold, and frames in them, each time it is read, against the length of the file: each level may be
 *  mended in four ways, and each of these shows what it takes for frames again. */
const MOST_READINGS = 16;

/** XML in UTF-16 needs no mark: its first `<` shows how it is written. */
function utf16(bytes: Bytes): string | null {
  const [a, b] = bytes;
  if (a === 0x3c && b === 0) return new TextDecoder("utf-16le").decode(bytes);
  return a === 0 && b === 0x3c ? new TextDecoder("utf-16be").decode(bytes) : null;
}

const byteForByte = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/** In its own encoding, and byte for byte where that is not certain: some encodings hide ASCII in other letters. */
function xmlTexts(bytes: Bytes): string[] {
  const text = decodeHtml(bytes);
  if (isUtf8(bytes)) return bytes[1] === 0 ? [text, utf16(bytes) ?? text] : [text];
  return [text, utf16(bytes) ?? byteForByte(bytes)];
}

/** A page in a page. `written`: by a script, into the page itself. */
interface Inner {
  text: string;
  is_xml: boolean;
  noscript: boolean;
  written: boolean;
}

/** The texts of a frame that are pages. */
function pagesIn({ address, page, noscript }: Frame): Inner[] {
  const data = address === null ? null : inAddress(address);
  const own = page === null ? [] : [{ text: page, is_xml: false, noscript, written: false }];
  if (!data || !isMarkup(data.type)) return own;
  return [...own, { text: data.text, is_xml: isXml(data.type), noscript, written: false }];
}

function* innerPages(page: PageFacts): Generator<Inner> {
  for (const frame of page.frames) yield* pagesIn(frame);
  for (const text of hiddenPages(page)) yield { text, is_xml: false, noscript: page.noscript, written: true };
}

/** The markup that a script writes into a page is judged together with the rest of that page. */
const writtenInto = (page: PageFacts, around: PageFacts): PageFacts => ({
  ...page,
  title: page.title || around.title,
  code: [...page.code, ...around.code],
  runs: [...page.runs, ...around.runs],
  handlers: [...page.handlers, ...around.handlers],
  scripts: [...page.scripts, ...around.scripts],
  events: [...page.events, ...around.events],
});

/** The readings of one file, one after the other. */
class Reader {
  /** Characters in frames that may still be read. */
  private left: number;
  private readonly seen = new Set<string>();
  private readonly bases = new Map<string, number>();

  constructor(
    file_length: number,
    private readonly budget: Budget,
  ) {
    this.left = MOST_READINGS * file_length;
  }

  *file(bytes: Bytes, media_type: string, pages: Pages): Generator<PageFacts> {
    if (isXml(media_type)) for (const text of xmlTexts(bytes)) yield* this.xml(text);
    else {
      yield* this.page(pages(bytes));
      if (!isUtf8(bytes)) yield* this.html(byteForByte(bytes));
    }
  }

  /** `around`: a page in a page has its bases; `into`: the page that a script writes this one into. What is there twice is
   *  read once. */
  *withFrames(
    pages: Iterable<PageFacts>,
    around: readonly string[],
    depth: number,
    into: PageFacts | null,
  ): Generator<PageFacts> {
    for (const page of pages) {
      const whole = around.length === 0 ? page : { ...page, bases: [...around, ...page.bases] };
      yield into === null ? whole : writtenInto(whole, into);
      const bases = this.known(JSON.stringify(whole.bases));
      for (const inner of innerPages(page)) {
        if (depth === DEEPEST) throw new Unreadable("it nests too many frames");
        this.budget.step();
        const key = `${bases} ${inner.is_xml} ${inner.noscript} ${inner.written} ${inner.text}`;
        if (this.seen.has(key)) continue;
        this.seen.add(key);
        yield* this.withFrames(this.frame(inner), whole.bases, depth + 1, inner.written ? whole : null);
      }
    }
  }

  /** The bases of a page by a number: they may have 160 KB, and a page 300,000 frames. */
  private known(bases: string): number {
    return this.bases.getOrInsertComputed(bases, () => this.bases.size);
  }

  private *page(page: Page): Generator<PageFacts> {
    yield readPage(page.parts(), this.budget);
    if (page.doubtful) yield* this.otherReadings(page.text);
  }

  private *html(text: string, noscript = false): Generator<PageFacts> {
    const browser = asBrowser();
    yield readPage(partsOf(text, browser), this.budget, false, noscript);
    if (browser.doubtful) yield* this.otherReadings(text, noscript);
  }

  /** The other ways in which a page may be mended whose tags do not nest. */
  private *otherReadings(text: string, noscript = false): Generator<PageFacts> {
    for (const namespaces of [asBrowser(false), allHtml(), plainAfterDrawing()])
      yield readPage(partsOf(text, namespaces), this.budget, false, noscript);
  }

  private *xml(source: string, noscript = false): Generator<PageFacts> {
    const text = xmlText(source);
    if (text === null) throw new Unreadable("its document type makes markup of its own");
    yield readPage(partsOf(text, xml()), this.budget, true, noscript);
  }

  private *frame({ text, is_xml, noscript }: Inner): Generator<PageFacts> {
    for (const page of is_xml ? this.xml(text, noscript) : this.html(text, noscript)) {
      this.left -= text.length;
      if (this.left < 0) throw new Unreadable("its frames hold too much");
      yield page;
    }
  }
}

/** Throws `Unreadable`, and `Spent`. */
export function readings(bytes: Bytes, media_type: string, pages: Pages, budget: Budget): Iterable<PageFacts> {
  const reader = new Reader(bytes.length, budget);
  return reader.withFrames(reader.file(bytes, media_type, pages), [], 1, null);
}
