/**
 * The code of a coding process: one body after the other. Levels by measurement (bench/codings.ts): on pages and scripts
 * of 3 to 370 KB brotli 7 takes twice as long as gzip 6 and is 4 to 10 % smaller; 11 takes 35 to 200 times as long for 5
 * to 13 % more. zstd 9 and gzip 6 cost the same; they are for clients that have no brotli.
 */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { lowerPriority, serveParent } from "../run/serve-parent.ts";
import type { Compression, Effort } from "../http/codings.ts";
import type { Bytes } from "../base/types.ts";
import type { Coded, CodingJob } from "./job.ts";

const LEVELS: Record<Compression, Record<Effort, number>> = {
  br: { quick: 7, small: 11 },
  zstd: { quick: 9, small: 19 },
  gzip: { quick: 6, small: 9 },
};

const CODE: Record<Compression, (bytes: Bytes, level: number) => Uint8Array> = {
  br: (bytes, level) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: level,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  zstd: (bytes, level) => Bun.zstdCompressSync(bytes, { level }),
  gzip: (bytes, level) => gzipSync(bytes, { level }),
};

/** A coding must save more than its own header line costs. */
const WORTH = "content-encoding: zstd\r\n".length;

function code({ bytes, coding, effort }: CodingJob): Coded {
  const coded = CODE[coding](bytes, LEVELS[coding][effort]);
  return coded.byteLength + WORTH < bytes.byteLength ? new Uint8Array(coded) : null;
}

/** Coding ahead takes no time from pages (bench/README.md, storm). */
const NICE = 10;

export function serveCodings(): void {
  let behind = false;
  serveParent("svc-coding", (message: CodingJob | "close") => {
    if (message === "close") process.exit();
    if (message.ahead && !behind) lowerPriority(NICE);
    behind ||= message.ahead;
    process.send!(code(message));
  });
}
