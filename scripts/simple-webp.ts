import { StepFailed } from "./run.ts";

/** Chromium packs a colour profile and opacity beside the picture, for nothing: the picture alone, as a simple WebP. */
export function simpleWebp(webp: Buffer): Buffer {
  for (let at = 12; at < webp.length;) {
    const bytes = webp.readUInt32LE(at + 4);
    const end = at + 8 + bytes + (bytes % 2);
    if (webp.toString("latin1", at, at + 4) === "VP8 ") {
      const head = Buffer.from("RIFF....WEBP", "latin1");
      head.writeUInt32LE(4 + end - at, 4);
      return Buffer.concat([head, webp.subarray(at, end)]);
    }
    at = end;
  }
  throw new StepFailed("Chromium's picture is no lossy WebP.");
}
