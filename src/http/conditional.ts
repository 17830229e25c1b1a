/** Conditions and ranges of a request: If-Match and If-None-Match (RFC 9110, 13.1), and one byte range (14). */

/** Paths hold commas, so the quotes are parsed; nothing is split at commas. */
const ENTITY_TAG = /[\s,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

interface Tag {
  weak: boolean;
  tag: string;
}

function* tagsOf(header: string): Generator<Tag> {
  for (let at = 0; ;) {
    ENTITY_TAG.lastIndex = at;
    const found = ENTITY_TAG.exec(header);
    if (found === null) return;
    at = ENTITY_TAG.lastIndex;
    yield { weak: found[1] !== undefined, tag: found[2]! };
  }
}

function names(header: string, etag: string, weak: boolean): boolean {
  if (header === etag || header === "*") return true;
  for (const one of tagsOf(header)) if (one.tag === etag && (weak || !one.weak)) return true;
  return false;
}

/** The header is read up to its first malformed member: at worst the whole file goes out, which is right. */
export const ifNoneMatch = (header: string, etag: string): boolean => names(header, etag, true);

/** Strong: a weak validator does not promise the same bytes. */
export const ifMatch = (header: string, etag: string): boolean => names(header, etag, false);

/** The tags that an If-Match names and that may match, with their quotes; null for any. */
export const matchable = (header: string): string[] | null =>
  header.trim() === "*" ? null : [...tagsOf(header)].flatMap(({ weak, tag }) => (weak ? [] : [tag]));

/** Both ends count. */
export interface ByteRange {
  first: number;
  last: number;
}

/** Fifteen digits are exact in a double, and no file is longer. */
const ONE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/** Reads a Range header. Null if it is malformed, has several ranges or another unit: the whole file goes out then. */
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
