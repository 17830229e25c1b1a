/** `bun bench/codings.ts <file>…`: time and size of each coding and level, gzip 6 = 1: what src/serve/encode.ts chose by. */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

type Compress = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

const brotli =
  (quality: number): Compress =>
  (bytes) =>
    brotliAsync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    });
const METHODS: Record<string, Compress> = {
  "gzip 6": (bytes) => gzipAsync(bytes, { level: 6 }),
  "gzip 9": (bytes) => gzipAsync(bytes, { level: 9 }),
  "zstd 3": (bytes) => Bun.zstdCompress(bytes, { level: 3 }),
  "zstd 9": (bytes) => Bun.zstdCompress(bytes, { level: 9 }),
  "zstd 12": (bytes) => Bun.zstdCompress(bytes, { level: 12 }),
  "br 5": brotli(5),
  "br 7": brotli(7),
  "br 9": brotli(9),
  "br 11": brotli(11),
};

async function best(compress: Compress, bytes: Uint8Array<ArrayBuffer>): Promise<{ ms: number; size: number }> {
  let ms = Infinity;
  let size = 0;
  for (let round = 0; round < 5; round++) {
    const started = performance.now();
    size = (await compress(bytes)).length;
    ms = Math.min(ms, performance.now() - started);
  }
  return { ms, size };
}

const paths = process.argv.slice(2);
if (paths.length === 0) throw new Error("name the files to compress");
for (const path of paths) {
  const bytes = new Uint8Array(readFileSync(path));
  const base = await best(METHODS["gzip 6"]!, bytes);
  const cells: string[] = [];
  for (const [name, compress] of Object.entries(METHODS)) {
    const { ms, size } = await best(compress, bytes);
    cells.push(`${name}: ${(ms / base.ms).toFixed(1)}x ${(size / base.size).toFixed(3)}`);
  }
  console.log(`${path} (${bytes.length} bytes, gzip 6 ${base.ms.toFixed(1)} ms)\n  ${cells.join(", ")}`);
}
