/** If-Match and If-None-Match (RFC 9110, 13.1). Paths hold commas, so the quotes are parsed; nothing is split at commas. */

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

/** What follows a malformed member is not looked at: the answer is then whole, and right. */
export const ifNoneMatch = (header: string, etag: string): boolean => names(header, etag, true);

/** Strong: a weak validator does not promise the same bytes. */
export const ifMatch = (header: string, etag: string): boolean => names(header, etag, false);

/** The tags that an If-Match names and that may match, with their quotes; null for any. */
export const matchable = (header: string): string[] | null =>
  header.trim() === "*" ? null : [...tagsOf(header)].flatMap(({ weak, tag }) => (weak ? [] : [tag]));
