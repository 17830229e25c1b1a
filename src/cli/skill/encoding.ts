/** Turns bytes into text and back without losing one: what stands around the block may be in any encoding. */

interface Encoding {
  /** What the file began with. */
  bom: Buffer;
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
}

const NONE = Buffer.alloc(0);
const swapped = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();

/** One character a byte, so that Latin-1 and broken UTF-8 survive. The block is ASCII. */
const bytewise = (bom: Buffer): Encoding => ({
  bom,
  decode: (bytes) => bytes.toString("latin1"),
  encode: (text) => Buffer.from(text, "latin1"),
});

const ENCODINGS: readonly Encoding[] = [
  bytewise(Buffer.from([0xef, 0xbb, 0xbf])),
  {
    bom: Buffer.from([0xff, 0xfe]),
    decode: (bytes) => bytes.toString("utf16le"),
    encode: (text) => Buffer.from(text, "utf16le"),
  },
  {
    bom: Buffer.from([0xfe, 0xff]),
    decode: (bytes) => swapped(bytes).toString("utf16le"),
    encode: (text) => swapped(Buffer.from(text, "utf16le")),
  },
];

const encodingOf = (bytes: Buffer): Encoding =>
  ENCODINGS.find(({ bom }) => bytes.subarray(0, bom.length).equals(bom)) ?? bytewise(NONE);

/** The same file with its text changed. */
export function changeText(bytes: Buffer, change: (text: string) => string): Buffer {
  const { bom, decode, encode } = encodingOf(bytes);
  return Buffer.concat([bom, encode(change(decode(bytes.subarray(bom.length))))]);
}
