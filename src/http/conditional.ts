/** If-Match and If-None-Match (RFC 9110, 13.1). Paths hold commas, so the quotes are parsed; nothing is split at commas. */

const ENTITY_TAG = /[\s,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

function names(header: string, etag: string, weak: boolean): boolean {
  if (header === etag || header === "*") return true;
  ENTITY_TAG.lastIndex = 0;
  for (let tag = ENTITY_TAG.exec(header); tag !== null; tag = ENTITY_TAG.exec(header)) {
    if (tag[2] === etag && (weak || tag[1] === undefined)) return true;
  }
  return false;
}

/** What follows a malformed member is not looked at: the answer is then whole, and right. */
export const ifNoneMatch = (header: string, etag: string): boolean => names(header, etag, true);

/** Strong: a weak validator does not promise the same bytes. */
export const ifMatch = (header: string, etag: string): boolean => names(header, etag, false);
