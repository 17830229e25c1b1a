/**
 * Compression, off the serving thread. Levels by measurement (bench/codings.ts): on pages and scripts of 3 to 370 KB
 * brotli 7 takes twice as long as gzip 6 and is 4 to 10 % smaller; 11 takes 35 to 200 times as long for 5 to 13 % more.
 * zstd 9 and gzip 6 cost the same; they are for clients that have no brotli.
 */
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { createGate } from "../gate.ts";
import type { Bytes } from "../types.ts";
import type { Coding } from "../http/negotiate.ts";

type Compression = Exclude<Coding, "identity">;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

const COMPRESS: Record<Compression, (bytes: Bytes) => Promise<Uint8Array>> = {
  br: (bytes) =>
    brotliAsync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 7,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  zstd: (bytes) => Bun.zstdCompress(bytes, { level: 9 }),
  gzip: (bytes) => gzipAsync(bytes, { level: 6 }),
};

/** A coding must save more than its own header line costs. */
const WORTH = "content-encoding: zstd\r\n".length;

/** The bytes in that coding, or null where it does not make them smaller. */
export type Encode = (coding: Compression, bytes: Bytes) => Promise<Bytes | null>;

/** As many at once as there are cores: more would only hold more memory. */
export function createEncoder(slots = Math.max(2, availableParallelism())): Encode {
  const gate = createGate(slots);
  return async (coding, bytes) => {
    const coded = await gate.run(() => COMPRESS[coding](bytes));
    return coded.byteLength + WORTH < bytes.byteLength ? ownBytes(coded) : null;
  };
}

/** A buffer of exactly its own size: a view into zlib's larger one would hold all of that in memory. */
function ownBytes(bytes: Uint8Array): Bytes {
  const own = new Uint8Array(bytes.byteLength);
  own.set(bytes);
  return own;
}

/** Text in all its kinds, and the few binary formats that are not compressed by themselves. */
const CODED =
  /^text\/|[/+](?:json5?|xml(?:-dtd)?|graphql|x-ndjson|n-triples|rtf|postscript|wasm|bmp|x-icon|ttf|otf|collection|vnd\.ms-fontobject|obj|mtl|stl|vnd\.usda)$|mpegurl$/;

/** Whether codings are negotiated for a type. All else is compressed already, or nobody knows. */
export const isCoded = (media_type: string): boolean => CODED.test(media_type.replace(/;.*/s, ""));
