/** How a page looks: WebP in two sizes, and whether all of it is one colour. */
import { inflateSync } from "node:zlib";
import type { Bytes } from "../../base/types.ts";
import { MOST_PICTURE_BYTES, type Pictures } from "../job.ts";
import type { Page } from "./targets.ts";

interface Size {
  width: number;
  height: number;
}

const DESKTOP = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
const PHONE = { width: 390, height: 844, deviceScaleFactor: 1, mobile: true };
const QUALITIES = [80, 50, 20];
/** For what hangs on the size to be drawn anew. */
const REDRAW_MS = 250;

const bytesOf = (base64: string): Bytes => new Uint8Array(Buffer.from(base64, "base64"));

async function capture(page: Page, options: Readonly<Record<string, unknown>>): Promise<Bytes> {
  const { data } = await page.send<{ data: string }>("Page.captureScreenshot", { ...options, optimizeForSpeed: false });
  return bytesOf(data);
}

/** For a page that is noise: only its colours are left. */
async function blurred(picture: Bytes, { width, height }: Size): Promise<Bytes | null> {
  const small = await new Bun.Image(picture)
    .resize(width >> 2, height >> 2)
    .png()
    .bytes();
  const bytes = await new Bun.Image(small).resize(width, height).webp({ quality: 20 }).bytes();
  return bytes.length <= MOST_PICTURE_BYTES ? new Uint8Array(bytes) : null;
}

/** Null when nothing makes it small enough. */
async function smallPicture(page: Page, size: Size): Promise<Bytes | null> {
  let picture: Bytes | null = null;
  for (const quality of QUALITIES) {
    picture = await capture(page, { format: "webp", quality });
    if (picture.length <= MOST_PICTURE_BYTES) return picture;
  }
  return picture && blurred(picture, size).catch(() => null);
}

export const showDesktop = (page: Page): Promise<unknown> => page.send("Emulation.setDeviceMetricsOverride", DESKTOP);

/** At the size that the page has now. */
export const looksBlank = async (page: Page): Promise<boolean> => isOneColour(await capture(page, { format: "png" }));

export async function takePictures(page: Page): Promise<Pictures> {
  const desktop = await smallPicture(page, DESKTOP);
  await page.send("Emulation.setDeviceMetricsOverride", PHONE);
  await Bun.sleep(REDRAW_MS);
  return { desktop, phone: await smallPicture(page, PHONE) };
}

/** Whether a PNG of the browser's shows one colour alone (PNG 1.2: 8 bits a channel, no interlace). */

const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes of a pixel by type of colour. */
const PIXEL: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

function chunksOf(png: Uint8Array): { head: Buffer; data: Buffer } | null {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  let head: Buffer | null = null;
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 8, at + 8 + size);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IHDR") head = body;
    if (type === "IDAT") parts.push(body);
    at += size + 12;
  }
  return head === null ? null : { head, data: Buffer.concat(parts) };
}

/** Filters 0 to 4 tell a byte by its neighbours: left, above, their mean, Paeth's choice. Where all pixels are alike the
 *  neighbours are too, but for those of the first row and column. */
function unfilter(rows: Buffer, stride: number, pixel: number): boolean {
  let above = Buffer.alloc(stride);
  const first = Buffer.alloc(pixel);
  for (let at = 0, row = 0; at + stride < rows.length + 1 && at < rows.length; at += stride + 1, row++) {
    const filter = rows[at]!;
    const line = Buffer.from(rows.subarray(at + 1, at + 1 + stride));
    for (let i = 0; i < stride; i++) {
      const left = i >= pixel ? line[i - pixel]! : 0;
      const corner = i >= pixel ? above[i - pixel]! : 0;
      line[i] = (line[i]! + predicted(filter, left, above[i]!, corner)) & 255;
      if (row === 0 && i < pixel) first[i] = line[i]!;
      if (line[i] !== first[i % pixel]) return false;
    }
    above = line;
  }
  return true;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** False for what it cannot read: such a picture is not called blank. */
function isOneColour(png: Uint8Array): boolean {
  const parts = chunksOf(png);
  const pixel = parts && parts.head[8] === 8 && parts.head[12] === 0 ? PIXEL[parts.head[9]!] : undefined;
  if (!parts || pixel === undefined) return false;
  try {
    const rows = inflateSync(parts.data, { maxOutputLength: MOST_BYTES });
    return unfilter(rows, parts.head.readUInt32BE(0) * pixel, pixel);
  } catch {
    return false;
  }
}
