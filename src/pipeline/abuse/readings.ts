/** A file as the pages that a browser could read in it: in its encodings, in the ways its broken markup may be mended, and
 *  with the pages that its frames hold. What is found in any of them counts. */
import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../types.ts";
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

/** The other ways in which a page may be mended whose tags do not nest. */
const otherReadings = (html: string): PageFacts[] =>
  [asBrowser(false), allHtml(), plainAfterDrawing()].map((namespaces) => readPage(partsOf(html, namespaces)));

function readingsOfPage(page: Page): PageFacts[] {
  const first = readPage(page.parts());
  return page.doubtful ? [first, ...otherReadings(page.text)] : [first];
}

function readingsOfHtml(html: string): PageFacts[] {
  const browser = asBrowser();
  const first = readPage(partsOf(html, browser));
  return browser.doubtful ? [first, ...otherReadings(html)] : [first];
}

const readingsOfBytes = (bytes: Bytes, pages: Pages): PageFacts[] => [
  ...readingsOfPage(pages(bytes)),
  ...(isUtf8(bytes) ? [] : readingsOfHtml(byteForByte(bytes))),
];

function readingsOfXml(source: string): PageFacts[] {
  const text = xmlText(source);
  if (text === null) throw new Unreadable("its document type makes markup of its own");
  return [readPage(partsOf(text, xml()), true)];
}

/** A page in a `data:` address; null for all else. */
function inAddress(address: string): { type: string; text: string } | null {
  const [, type = "", head = "", data = ""] = /^[\s\0]*data:([\w.+/-]*)([^,]*),([\s\S]*)$/i.exec(address) ?? [];
  if (!data) return null;
  const plain = decodePercent(data.replace(/[\t\n\r]/g, ""));
  if (plain === null) return { type, text: data };
  const text = /;\s*base64\s*$/i.test(head) ? Buffer.from(plain, "base64").toString() : plain;
  return { type: type || "text/plain", text };
}

/** The code of a script at a `data:` address. */
export const codeAt = (address: string): string | null => inAddress(address)?.text ?? null;

function withFrames(pages: PageFacts[], depth: number): PageFacts[] {
  return pages.flatMap((page) => {
    const inner = page.frames.flatMap(({ address, page: text }) => {
      const data = address === null ? null : inAddress(address);
      if (text === null && !(data && isMarkup(data.type))) return [];
      if (depth === DEEPEST) throw new Unreadable("it nests too many frames");
      const own = text === null ? [] : readingsOfHtml(text);
      const linked = data && isMarkup(data.type) ? readingsOf(data.text, isXml(data.type)) : [];
      // A page in a page has its base.
      return withFrames([...own, ...linked], depth + 1).map((found) => ({
        ...found,
        bases: [...page.bases, ...found.bases],
      }));
    });
    return [page, ...inner];
  });
}

const readingsOf = (text: string, is_xml: boolean): PageFacts[] =>
  is_xml ? readingsOfXml(text) : readingsOfHtml(text);

/** Throws `Unreadable`. */
export function readings(bytes: Bytes, media_type: string, pages: Pages): PageFacts[] {
  const found = isXml(media_type) ? xmlTexts(bytes).flatMap(readingsOfXml) : readingsOfBytes(bytes, pages);
  return withFrames(found, 1);
}
