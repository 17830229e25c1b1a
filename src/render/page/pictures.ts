/** How a page looks: WebP in two sizes, and whether all of it is one colour. */
import type { Bytes } from "../../base/types.ts";
import { MOST_PICTURE_BYTES, type Pictures } from "../job.ts";
import type { Page } from "./targets.ts";
import { isOneColour } from "./one-colour.ts";

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

/** Of a page that is noise: its colours are left. */
async function blurred(picture: Bytes, { width, height }: Size): Promise<Bytes | null> {
  const small = await new Bun.Image(picture)
    .resize(width >> 2, height >> 2)
    .png()
    .bytes();
  const bytes = await new Bun.Image(small).resize(width, height).webp({ quality: 20 }).bytes();
  return bytes.length <= MOST_PICTURE_BYTES ? new Uint8Array(bytes) : null;
}

/** Null where nothing makes it small enough. */
async function smallPicture(page: Page, size: Size): Promise<Bytes | null> {
  let picture: Bytes | null = null;
  for (const quality of QUALITIES) {
    picture = await capture(page, { format: "webp", quality });
    if (picture.length <= MOST_PICTURE_BYTES) return picture;
  }
  return picture && blurred(picture, size).catch(() => null);
}

export const showDesktop = (page: Page): Promise<unknown> => page.send("Emulation.setDeviceMetricsOverride", DESKTOP);

/** Of the size that it has now. */
export const looksBlank = async (page: Page): Promise<boolean> => isOneColour(await capture(page, { format: "png" }));

export async function takePictures(page: Page): Promise<Pictures> {
  const desktop = await smallPicture(page, DESKTOP);
  await page.send("Emulation.setDeviceMetricsOverride", PHONE);
  await Bun.sleep(REDRAW_MS);
  return { desktop, phone: await smallPicture(page, PHONE) };
}
