/** Whether a path is named after its content, as bundlers name what they build: then no later version has other bytes there
 *  (BEYOND 4). */

const CUTS = /[.\-_~]/;
/** Long enough for a hash, and no word in lower case. */
const HASH = /^(?=.*[A-Z\d])[A-Za-z\d]{8,}$/;
/** In base64 a hash may hold the characters at which names are cut. */
const EIGHT = /^[-.](?=.*[A-Z\d])[\w-]{8}$/;

/** What stands before the extension, with the character ahead of it. */
const lastEight = (segment: string): string => {
  const dot = segment.lastIndexOf(".");
  return dot < 9 ? "" : segment.slice(dot - 9, dot);
};

/** `name` is decoded. */
export const hasContentHash = (name: string): boolean =>
  name
    .split("/")
    .some((segment) => EIGHT.test(lastEight(segment)) || segment.split(CUTS).some((part) => HASH.test(part)));
