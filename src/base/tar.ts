/** A tar archive (POSIX ustar): the same bytes for the same files, on any machine and any day. */

/** A file of an archive. */
export interface PackedFile {
  name: string;
  bytes: Uint8Array;
  /** Permissions as Unix has them. */
  mode: number;
}

const BLOCK = 512;
/** 1980-01-01: the first day of zip's calendar, too, and none that tar calls implausible. */
const MTIME = 315_532_800;

/** A field of a header: its place, and its text. Numbers are octal digits and a NUL. */
type TarField = readonly [at: number, text: string];

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;

const fields = ({ name, bytes, mode }: PackedFile, checksum: string): TarField[] => [
  [0, name],
  [100, octal(mode, 7)],
  [108, octal(0, 7)], // owner and group: whoever unpacks it
  [116, octal(0, 7)],
  [124, octal(bytes.length, 11)],
  [136, octal(MTIME, 11)],
  [148, checksum],
  [156, "0"], // a regular file
  [257, "ustar\x0000"],
];

function header(entry: PackedFile): Buffer {
  if (Buffer.byteLength(entry.name) > 100) throw new Error(`${entry.name} is too long a name for this tar`);
  const block = Buffer.alloc(BLOCK);
  for (const [at, text] of fields(entry, " ".repeat(8))) block.write(text, at);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

export function tarOf(entries: readonly PackedFile[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const rest = -entry.bytes.length & (BLOCK - 1);
    return [header(entry), entry.bytes, Buffer.alloc(rest)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}
