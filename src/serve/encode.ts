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

export type Compression = Exclude<Coding, "identity">;

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

/** The bytes in that coding, or null where it does not make them smaller. `read` is called once it is their turn. */
type Read = () => Promise<Bytes>;

export interface Encoder {
  /** For somebody who waits: undefined where no slot came free in time, or where nobody waits any more. */
  now(coding: Compression, read: Read, wanted: () => boolean): Promise<Bytes | null | undefined>;
  /** For nobody in particular: one at a time, with rests, in the order in which it was asked for. */
  ahead(work: () => Promise<void>): Promise<void>;
}

/** Longer than this a visitor is better served by the bytes as they are. */
const PATIENCE_MS = 100;
/** More would not have their turn in time. */
const LONGEST_LINE = 32;

/** Times as long as it worked. Without rests five deploys a second of 8 MB each took three times as long themselves. */
const REST = 2;

/** As many at once as there are cores, and one ahead: more would only hold more memory. */
export function createEncoder(slots = Math.max(2, availableParallelism())): Encoder {
  const busy = new Error("all slots are taken");
  const gate = createGate({ width: slots, ms: PATIENCE_MS, late: () => busy });
  const lane = createGate({ width: 1 });
  let inside = 0;

  async function now(coding: Compression, read: Read, wanted: () => boolean): Promise<Bytes | null | undefined> {
    if (inside >= slots + LONGEST_LINE) return undefined;
    inside++;
    try {
      return await gate.run(async () => (wanted() ? await compress(coding, await read()) : undefined));
    } catch (error) {
      if (error === busy) return undefined;
      throw error;
    } finally {
      inside--;
    }
  }

  const ahead = (work: () => Promise<void>): Promise<void> =>
    lane.run(async () => {
      const started = performance.now();
      await work();
      await Bun.sleep(REST * (performance.now() - started));
    });

  return { now, ahead };
}

export async function compress(coding: Compression, bytes: Bytes): Promise<Bytes | null> {
  const coded = await COMPRESS[coding](bytes);
  return coded.byteLength + WORTH < bytes.byteLength ? ownBytes(coded) : null;
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
