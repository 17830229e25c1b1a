/** A file as the pages that a browser could read in it: in its encodings, in the ways its broken markup may be mended, and
 *  with the pages that its frames hold. What is found in any of them counts. */
import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../types.ts";
import type { Budget } from "../budget.ts";
import { decodePercent } from "../../percent.ts";
import { isMarkup, isXml } from "../../media-types.ts";
import { decodeHtml } from "../../html/decode.ts";
import { allHtml, asBrowser, plainAfterDrawing, xml } from "../../html/foreign.ts";
import { type Page, partsOf } from "../../html/page.ts";
import type { Pages } from "../../html/kept-pages.ts";
import { type PageFacts, Unreadable } from "./facts.ts";
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

/** A page in a `data:` address; null for all else. */
function inAddress(address: string): { type: string; text: string } | null {
  const from = /^[\s\0]*data:/i.exec(address)?.[0].length;
  const comma = from === undefined ? -1 : address.indexOf(",", from);
  const [head, data] = [address.slice(from, comma), address.slice(comma + 1)];
  if (comma < 0 || data === "") return null;
  const [type] = /^[\w.+/-]*/.exec(head)!;
  const plain = decodePercent(data.replace(/[\t\n\r]/g, ""));
  if (plain === null) return { type, text: data };
  const text = /;\s*base64\s*$/i.test(head) ? Buffer.from(plain, "base64").toString() : plain;
  return { type: type || "text/plain", text };
}

/** The code of a script at a `data:` address. */
export const codeAt = (address: string): string | null => inAddress(address)?.text ?? null;

type Frame = PageFacts["frames"][number];

/** The texts of a frame that are pages. */
function pagesIn({ address, page }: Frame): { text: string; is_xml: boolean }[] {
  const data = address === null ? null : inAddress(address);
  const own = page === null ? [] : [{ text: page, is_xml: false }];
  return data && isMarkup(data.type) ? [...own, { text: data.text, is_xml: isXml(data.type) }] : own;
}

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

  /** `around`: a page in a page has its bases. What is there twice is read once. */
  *withFrames(pages: Iterable<PageFacts>, around: readonly string[], depth: number): Generator<PageFacts> {
    for (const page of pages) {
      const whole = around.length === 0 ? page : { ...page, bases: [...around, ...page.bases] };
      yield whole;
      const bases = this.known(JSON.stringify(whole.bases));
      for (const { text, is_xml } of page.frames.values().flatMap(pagesIn)) {
        if (depth === DEEPEST) throw new Unreadable("it nests too many frames");
        this.budget.step();
        const key = `${bases} ${is_xml} ${text}`;
        if (this.seen.has(key)) continue;
        this.seen.add(key);
        yield* this.withFrames(this.frame(text, is_xml), whole.bases, depth + 1);
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

  private *html(text: string): Generator<PageFacts> {
    const browser = asBrowser();
    yield readPage(partsOf(text, browser), this.budget);
    if (browser.doubtful) yield* this.otherReadings(text);
  }

  /** The other ways in which a page may be mended whose tags do not nest. */
  private *otherReadings(text: string): Generator<PageFacts> {
    for (const namespaces of [asBrowser(false), allHtml(), plainAfterDrawing()])
      yield readPage(partsOf(text, namespaces), this.budget);
  }

  private *xml(source: string): Generator<PageFacts> {
    const text = xmlText(source);
    if (text === null) throw new Unreadable("its document type makes markup of its own");
    yield readPage(partsOf(text, xml()), this.budget, true);
  }

  private *frame(text: string, is_xml: boolean): Generator<PageFacts> {
    for (const page of is_xml ? this.xml(text) : this.html(text)) {
      this.left -= text.length;
      if (this.left < 0) throw new Unreadable("its frames hold too much");
      yield page;
    }
  }
}

/** Throws `Unreadable`, and `Spent`. */
export function readings(bytes: Bytes, media_type: string, pages: Pages, budget: Budget): Iterable<PageFacts> {
  const reader = new Reader(bytes.length, budget);
  return reader.withFrames(reader.file(bytes, media_type, pages), [], 1);
}
