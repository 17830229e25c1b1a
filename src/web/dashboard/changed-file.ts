/** One file of "Changes" (WEB 6): what its lines were and are, or its pictures side by side, or its sizes alone. */
import { isUtf8 } from "node:buffer";
import { encodePath } from "../../base/percent.ts";
import { count, figure, humanSize } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import { html, type Html } from "../../html/template.ts";
import { DamagedBlob } from "../../store/refusals.ts";
import type { StoredFile } from "../../store/versions.ts";
import { type DiffLine, diffLines, linesOf } from "../line-diff.ts";
import { badge, siteLink } from "../parts.ts";

/** A file as it is in each of the two versions; null where it is not there. */
export interface FilePair {
  path: string;
  before: StoredFile | null;
  after: StoredFile | null;
}

/** The part of a file's card below its name. */
export type ShownFile =
  | { kind: "lines"; lines: DiffLine[] }
  | { kind: "pictures"; before: string | null; after: string | null }
  /** Text, and too much of it for this page: it has a page of its own. */
  | { kind: "later" }
  | { kind: "sizes" };

/** Longer texts are told by their sizes. */
const MOST_BYTES = 256 * 1024;
const MOST_LINES = 2000;
/** A line of a minified file is as long as the file. */
const LONGEST_LINE = 1000;
/** Lines around a change that are shown with it. */
const AROUND = 3;

const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
const BINARY = /\.(?:ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|flac|mov|zip|gz|br|7z|pdf|wasm|glb)$/i;

/** The room that is left on the page for lines of text: it shows some, and links to the rest. */
export interface DiffRoom {
  files: number;
  lines: number;
  bytes: number;
}

interface FileContents {
  read(file: StoredFile): Promise<Uint8Array>;
  /** Its first bytes. */
  begins(file: StoredFile): Promise<Uint8Array>;
  /** The address of a picture in a version. */
  picture(version: "before" | "after", path: string): string;
}

/** A file that is gone, or not what it was, is told by its size: the page has others. */
function ifDamaged(error: unknown): null {
  if (error instanceof DamagedBlob) return null;
  throw error;
}

/** The lines of a file; null if it is no text, or too long. */
async function linesIn(file: StoredFile | null, { read }: FileContents): Promise<string[] | null> {
  if (file === null) return [];
  const bytes = await read(file).catch(ifDamaged);
  if (bytes === null || !isUtf8(bytes) || bytes.includes(0)) return null;
  const lines = linesOf(new TextDecoder().decode(bytes));
  return lines.length <= MOST_LINES ? lines : null;
}

/** Null where neither version has a picture at that path: a name does not make one. */
async function picturesOf(file: FilePair, contents: FileContents): Promise<ShownFile | null> {
  if (!PICTURE.test(file.path)) return null;
  const at = async (version: "before" | "after") => {
    const begins = file[version] && (await contents.begins(file[version]).catch(ifDamaged));
    return begins && pictureType(begins) !== null ? contents.picture(version, file.path) : null;
  };
  const [before, after] = [await at("before"), await at("after")];
  return before === null && after === null ? null : { kind: "pictures", before, after };
}

/** Takes what it reads off `room`. */
export async function shownOf(file: FilePair, contents: FileContents, room: DiffRoom): Promise<ShownFile> {
  const { path, before, after } = file;
  const pictures = await picturesOf(file, contents);
  if (pictures !== null) return pictures;
  const size = Math.max(before?.bytes ?? 0, after?.bytes ?? 0);
  if (after === null || BINARY.test(path) || size > MOST_BYTES) return { kind: "sizes" };
  if (room.files <= 0 || room.lines <= 0 || room.bytes <= 0) return { kind: "later" };
  room.bytes -= (before?.bytes ?? 0) + after.bytes;
  const [old, fresh] = [await linesIn(before, contents), await linesIn(after, contents)];
  if (old === null || fresh === null) return { kind: "sizes" };
  room.files--;
  room.lines -= old.length + fresh.length;
  return { kind: "lines", lines: diffLines(old, fresh) };
}

const tally = (lines: readonly DiffLine[], kind: DiffLine["kind"]): number =>
  lines.filter((line) => line.kind === kind).length;

/** How many lines came and went. */
export const lineCounts = (shown: ShownFile): { added: number; removed: number } =>
  shown.kind === "lines"
    ? { added: tally(shown.lines, "added"), removed: tally(shown.lines, "removed") }
    : { added: 0, removed: 0 };

const isSame = (shown: ShownFile): boolean =>
  shown.kind === "lines" && shown.lines.every(({ kind }) => kind === "same");

/** `+3 −1`, in a sentence with its noun. */
export function plusMinus({ added, removed }: { added: number; removed: number }, noun?: string): Html {
  const words = (lines: number) => (noun === undefined ? figure(lines) : count(lines, noun));
  return html`${added > 0 && html`<span class="plus">+${words(added)}</span>`}
  ${removed > 0 && html`<span class="minus">−${words(removed)}</span>`}`;
}

/** A line as it is compared, not as it pretends to be. A tab is what it looks like. */
function shownLine(text: string): string {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE).toWellFormed()}…` : text;
  return cut.split("\t").map(visible).join("\t");
}

const SIGNS = { same: "", added: "+", removed: "−" };
const CLASSES = { same: "", added: "add", removed: "del" };

const lineRow = ({ kind, text, before, after }: DiffLine): Html =>
  html`<tr class="${CLASSES[kind]}">
    <td class="no">${before || ""}</td>
    <td class="no">${after || ""}</td>
    <td class="s">${SIGNS[kind]}</td>
    <td dir="auto">${shownLine(text)}</td>
  </tr>`;

const gapRow = (lines: number): Html =>
  html`<tr class="gap">
    <td colspan="4">${count(lines, "line")} ${lines === 1 ? "is" : "are"} the same</td>
  </tr>`;

/** Changed lines with those around them; what is equal between is a row that says how much. */
function rowsOf(lines: readonly DiffLine[]): Html[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind !== "same") for (let i = at - AROUND; i <= at + AROUND; i++) near.add(i);
  });
  const rows: Html[] = [];
  let hidden = 0;
  lines.forEach((line, at) => {
    if (!near.has(at)) return void hidden++;
    if (hidden > 0) rows.push(gapRow(hidden));
    hidden = 0;
    rows.push(lineRow(line));
  });
  return hidden > 0 ? [...rows, gapRow(hidden)] : rows;
}

const figureOf = (src: string | null, caption: string, path: string): Html | false =>
  src !== null &&
  html`<figure>
    <img src="${src}" alt="${caption}: ${path}" loading="lazy" />
    <figcaption>${caption}</figcaption>
  </figure>`;

/** `1.2 KB → 3.4 KB`. */
function sizes({ before, after }: FilePair): string {
  if (before === null || after === null) return humanSize((before ?? after)!.bytes);
  return `${humanSize(before.bytes)} → ${humanSize(after.bytes)}`;
}

interface FileLinks {
  /** The hosts of the two versions; null for one that is withheld. */
  before_url: string | null;
  after_url: string | null;
  /** The path at which a visitor sees what became of the file. */
  pageOf(path: string): string;
  /** The page of this file alone. */
  whole: string;
}

function openLink({ path, after }: FilePair, { before_url, after_url, pageOf }: FileLinks): Html | false {
  const host = after === null ? before_url : after_url;
  if (host === null) return false;
  const page = pageOf(path);
  const word =
    after === null ? "Open as it was" : page !== path || /\.html?$/i.test(path) ? "Open the page" : "Open the file";
  return siteLink(`${host}/${encodePath(page)}`, html`${word}<span class="hidden"> ${visible(path)}</span>`);
}

/** `most`: the rows of lines to show; the rest is on the file's own page. */
export function fileCard(file: FilePair, shown: ShownFile, links: FileLinks, most: number): Html {
  const { before, after } = file;
  const path = visible(file.path);
  const rows = shown.kind === "lines" && !isSame(shown) ? rowsOf(shown.lines) : [];
  const more = rows.length - most;
  return html`<section class="card diff" aria-label="${path}">
    <div class="top">
      <h2 class="path" dir="auto">${path}</h2>
      ${before === null && badge("Added", "live")} ${after === null && badge("Removed", "bad")}
      ${before !== null && plusMinus(lineCounts(shown))} <span class="size">${sizes(file)}</span>
      ${openLink(file, links)}
    </div>
    ${
      rows.length > 0 &&
      html`<table aria-label="Lines of ${path}">
        ${rows.slice(0, most)}
      </table>`
    }
    ${isSame(shown) && html`<p class="foot dim">Only line endings differ, or the end of the last line.</p>`}
    ${
      shown.kind === "pictures" &&
      html`<div class="pics">
        ${figureOf(shown.before, after === null ? "As it was" : "Before", path)}
        ${figureOf(shown.after, before === null ? "As it is" : "After", path)}
      </div>`
    }
    ${
      more > 0 &&
      html`<p class="foot">
        ${count(more, "more line")} · <a href="${links.whole}">Show all<span class="hidden"> of ${path}</span></a>
      </p>`
    }
    ${
      shown.kind === "later" &&
      html`<p class="foot">
        <a href="${links.whole}">Show what changed<span class="hidden"> in ${path}</span></a>
      </p>`
    }
  </section>`;
}

const startsWith = (bytes: Uint8Array, text: string, at = 0): boolean =>
  [...text].every((letter, i) => bytes[at + i] === letter.charCodeAt(0));

/** Bytes by which a picture is known. */
export const PICTURE_BYTES = 16;

/** The type of a picture, known by its first bytes; null for anything else. */
export function pictureType(bytes: Uint8Array): string | null {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (startsWith(bytes, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(bytes, "GIF8")) return "image/gif";
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) return "image/webp";
  return startsWith(bytes, "ftypavi", 4) ? "image/avif" : null;
}
