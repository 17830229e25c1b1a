/** A single byte range (RFC 9110, 14). What is malformed, several or of another unit is ignored: the whole file goes out. */

/** Both ends count. */
export interface ByteRange {
  first: number;
  last: number;
}

/** Fifteen digits are exact in a double, and no file is longer. */
const ONE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/** Null: answer as if there were no Range. */
export function parseRange(header: string, size: number): ByteRange | "unsatisfiable" | null {
  const [, from = "", to = ""] = ONE_RANGE.exec(header) ?? [];
  if (from === "") return to === "" ? null : suffix(Number(to), size);
  const first = Number(from);
  const last = to === "" ? size - 1 : Number(to);
  if (to !== "" && last < first) return null;
  return first >= size ? "unsatisfiable" : { first, last: Math.min(last, size - 1) };
}

const suffix = (length: number, size: number): ByteRange | "unsatisfiable" =>
  length === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - length), last: size - 1 };
