/** `bun bench/ingest.ts [rounds]`: a full upload (200 files, 10 MB) through `ingest`, beside the floor that any reader
 *  pays (inflate, CRC-32 and SHA-256 of the same bytes), in interleaved rounds; then what hostile archives cost. */
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { ingest } from "../src/pipeline/archive/index.ts";
import type { Limits } from "../src/base/types.ts";
import { contentHash } from "../src/base/version-id.ts";
import { noise } from "../test/archives/archive-fuzz.ts";
import { liar, quotedOverlap, sharedEntry, zeros, countless } from "../test/archives/zip-bombs.ts";
import { buildZip, concat, zipOf } from "../test/kit/zip.ts";

const [rounds = 40] = process.argv.slice(2).map(Number);
const LIMITS: Limits = { max_files: 200, max_bytes: 10_485_760, max_zip_bytes: 5_242_880 };

/** Like a build: text that deflates to about a third, and pictures that do not. */
function fullUpload(): Map<string, Uint8Array> {
  const words = noise(2000, 1).toHex();
  const text = (seed: number): Uint8Array =>
    Buffer.from(Array.from(noise(13_000, seed), (byte) => words.slice((byte & 63) * 8, (byte & 63) * 8 + 4)).join(""));
  const files = new Map<string, Uint8Array>([["index.html", text(1)]]);
  for (let at = 1; at < 200; at++)
    files.set(`assets/file-${at}.bin`, concat(noise(7_000, at + 2), text(at + 2).subarray(0, 43_000)));
  return files;
}

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const files = fullUpload();
const zip = zipOf(files);
const streams = [...files.values()].map((bytes) => ({ stream: deflateRawSync(bytes), size: bytes.length }));
const bytes = streams.reduce((sum, { size }) => sum + size, 0);
/** The sum keeps the work from being optimised away. */
let kept = 0;

const floor = (): void => {
  for (const { stream, size } of streams) {
    const plain = inflateRawSync(stream, { maxOutputLength: size, chunkSize: size + 1 });
    kept += crc32(plain) + contentHash(plain).length;
  }
};
const ours = (): void => {
  kept += ingest(zip, LIMITS, () => {}).hashes.size;
};

const times: { ours: number[]; floor: number[] } = { ours: [], floor: [] };
for (let round = 0; round < rounds + 3; round++) {
  const pair = { floor: timed(floor), ours: timed(ours) };
  // The first rounds warm the code up.
  if (round >= 3) for (const side of ["ours", "floor"] as const) times[side].push(pair[side]);
}
const [own, least] = [median(times.ours), median(times.floor)];
console.log(
  `full upload: ${files.size} files, ${(bytes / 1e6).toFixed(1)} MB out of ${(zip.length / 1e6).toFixed(1)} MB`,
);
console.log(
  `  ingest ${own.toFixed(1)} ms, floor ${least.toFixed(1)} ms, ratio ${(own / least).toFixed(2)} (median of ${rounds})`,
);

const hostile: Record<string, () => Uint8Array> = {
  "Z9 zeros, 11 MiB in 11 KB": zeros,
  "Z10 50 MB said to be 100 bytes": liar,
  "Z14 100 records of one 4 MiB entry": sharedEntry,
  "Z15 quoted overlap, 6 KB to 64 MB": quotedOverlap,
  "Z19 ZIP64 count of 2^32 - 1": () => countless(),
  "Z70 62,000 entries": () => buildZip(Array.from({ length: 62_000 }, (_, at) => ({ name: at.toString(16) }))),
  "Z79 5 MiB of noise": () => noise(5 << 20, 5),
  "5 MiB of end record signatures": () => noise(5 << 20, 5).map((_, at) => [80, 75, 5, 6][at & 3]!),
};

function refused(archive: Uint8Array): void {
  try {
    ingest(archive, LIMITS, () => {});
  } catch {
    return;
  }
  throw new Error("a hostile archive was accepted");
}

console.log("hostile archives, refused in (first run, median):");
for (const [name, make] of Object.entries(hostile)) {
  const archive = make();
  const runs = Array.from({ length: 21 }, () => timed(() => refused(archive)));
  console.log(`  ${name.padEnd(36)} ${runs[0]!.toFixed(2).padStart(8)} ms ${median(runs).toFixed(2).padStart(8)} ms`);
}
if (kept === 0) throw new Error("nothing was measured");
