/** Damaged archives by the thousand. Each must be refused, or be read as exactly the files of the honest one.
 *  `fuzzArchives(count)` is the long form, for whoever has the time. */
import { readdirSync, readFileSync } from "node:fs";
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { Refusal } from "../../src/base/errors.ts";
import { ingest } from "../../src/pipeline/archive/index.ts";
import { contentHash, deployDigest } from "../../src/base/version-id.ts";
import { cpuOf } from "../kit/cpu.ts";
import { LIMITS } from "../kit/ingesting.ts";
import { FIXTURES } from "../kit/paths.ts";

const ARCHIVES = join(FIXTURES, "archives");
/** Of processor time. */
const DEADLINE_MS = 2000;

/** The digest of an archive's files, or null where it is refused. Any other error, and a slow answer, is thrown. */
export function digestOf(zip: Uint8Array): string | null {
  let digest: string | null = null;
  const took = cpuOf(() => {
    try {
      digest = ingest(zip, LIMITS, () => {}).digest;
    } catch (error) {
      if (!(error instanceof Refusal && error.status >= 400 && error.status < 500)) throw error;
    }
  });
  if (took > DEADLINE_MS) throw new Error(`an archive of ${zip.length} bytes took ${took} ms`);
  return digest;
}

export function* bitFlips(zip: Uint8Array): Generator<[what: string, damaged: Uint8Array]> {
  for (let bit = 0; bit < zip.length * 8; bit++) {
    const damaged = zip.slice();
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    yield [`bit ${bit & 7} of byte ${bit >> 3}`, damaged];
  }
}

export function* truncations(zip: Uint8Array): Generator<[what: string, damaged: Uint8Array]> {
  for (let length = 0; length < zip.length; length++) yield [`the first ${length} bytes`, zip.slice(0, length)];
}

/** Numbers below `limit` that are the same for the same seed. */
export function dice(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % limit;
  };
}

/** Noise that does not deflate, the same for the same seed. */
export function noise(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const roll = dice(seed);
  return new Uint8Array(Uint32Array.from({ length: Math.ceil(length / 4) }, () => roll(2 ** 32)).buffer, 0, length);
}

type Damage = (zip: Buffer, roll: (limit: number) => number) => Uint8Array;

const span = (zip: Buffer, roll: (limit: number) => number): Buffer => {
  const start = roll(zip.length);
  return zip.subarray(start, start + 1 + roll(Math.min(64, zip.length - start)));
};

const DAMAGES: readonly Damage[] = [
  (zip, roll) => zip.fill(roll(256), roll(zip.length)).subarray(0),
  (zip, roll) => zip.subarray(0, roll(zip.length)),
  (zip, roll) => Buffer.concat([zip, span(zip, roll)]),
  (zip, roll) => {
    zip[roll(zip.length)]! ^= 1 << roll(8);
    return zip;
  },
  (zip, roll) => {
    zip[roll(zip.length)] = [0, 1, 255, roll(256)][roll(4)]!;
    return zip;
  },
  (zip, roll) => {
    const from = span(zip, roll);
    from.copy(zip, roll(zip.length));
    return zip;
  },
  (zip, roll) => {
    const at = roll(zip.length);
    return Buffer.concat([zip.subarray(0, at), span(zip, roll), zip.subarray(at)]);
  },
  (zip, roll) => {
    const at = roll(zip.length);
    return Buffer.concat([zip.subarray(0, at), zip.subarray(at + 1 + roll(16))]);
  },
];

function damage(zip: Uint8Array, roll: (limit: number) => number): Uint8Array {
  let damaged = Buffer.from(zip);
  for (let rounds = 1 + roll(3); rounds > 0 && damaged.length > 1; rounds--)
    damaged = Buffer.from(DAMAGES[roll(DAMAGES.length)]!(damaged, roll));
  return damaged;
}

/** The upper half of code page 437, in which names are that are no UTF-8 and not said to be. */
const CP437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0";

const inCodePage = (name: string): string =>
  name.replace(/[\x80-\xff]/g, (letter) => CP437[letter.charCodeAt(0) - 0x80]!);

/** What a name may be, of which fflate takes the bytes for Latin-1 where they are not said to be UTF-8, and does not tell
 *  whether they were: one that cannot be UTF-8 is either as it stands or in code page 437. */
function readingsOf(given: string): string[] {
  const name = given.replace(/^\.\//, ""); // as bsdtar has it
  const bytes = Buffer.from(name, "latin1");
  if (/[^\0-\xff]/.test(name)) return [name];
  return isUtf8(bytes) ? [bytes.toString("utf8")] : [name, inCodePage(name)];
}

type Named = [path: string, sha256: string];

/** Of the files as a reader finds them that checks nothing: once in millions damage makes an honest archive of other
 *  files, the same letter of a name in both of its places. Empty where it finds none. */
function digestsByOthers(zip: Uint8Array): string[] {
  try {
    const files = Object.entries(unzipSync(zip)).filter(([name]) => !name.endsWith("/"));
    let all: Named[][] = [[]];
    for (const [name, bytes] of files) {
      const hash = contentHash(bytes);
      all = all.flatMap((before) => readingsOf(name).map((path): Named[] => [...before, [path, hash]]));
    }
    return all.map(deployDigest);
  } catch {
    return [];
  }
}

/** Damages the fixtures `count` times. Throws at the first archive that is read as other files than the honest one. */
export function fuzzArchives(count: number, seed = 1): { refused: number; same: number } {
  const honest = readdirSync(ARCHIVES)
    .filter((name) => name.endsWith(".zip"))
    .map((name) => ({ name, zip: readFileSync(join(ARCHIVES, name)) }))
    .map((fixture) => ({ ...fixture, digest: digestOf(fixture.zip) }));
  const roll = dice(seed);
  const seen = { refused: 0, same: 0 };
  for (let round = 0; round < count; round++) {
    const { name, zip, digest } = honest[roll(honest.length)]!;
    const damaged = damage(zip, roll);
    const found = digestOf(damaged);
    if (found !== null && found !== digest && !digestsByOthers(damaged).includes(found))
      throw new Error(`round ${round} of seed ${seed}: a damaged ${name} was read as other files`);
    seen[found === null ? "refused" : "same"]++;
  }
  return seen;
}
