/** Cursors that tell nothing: the number of a change would say how many others there were that one may not see. The same
 *  number is the same cursor, and one of another site, page or viewer is none. */
import { hmac } from "./keys.ts";

const BYTES = 8;
const LONGEST = 64;

/** Of the number under this scope: what is written, and what proves it. */
function mask(key: string, scope: string, tag: string): bigint {
  return hmac(key, `pad\0${scope}\0${tag}`).readBigUInt64BE(0);
}
const tagOf = (key: string, scope: string, number: bigint): string =>
  hmac(key, `tag\0${scope}\0${number}`).subarray(0, BYTES).toString("base64url");

export function cursorOf(key: string, scope: string, number: number): string {
  const tag = tagOf(key, scope, BigInt(number));
  const hidden = Buffer.alloc(BYTES);
  hidden.writeBigUInt64BE(BigInt(number) ^ mask(key, scope, tag));
  return tag + hidden.toString("base64url");
}

/** Null for what was never given out under this scope. */
export function numberIn(key: string, scope: string, cursor: string | null): number | null {
  if (cursor === null || cursor.length > LONGEST) return null;
  const [, tag = "", hidden = ""] = /^([\w-]{11})([\w-]{11})$/.exec(cursor) ?? [];
  const bytes = Buffer.from(hidden, "base64url");
  if (bytes.length !== BYTES) return null;
  const number = bytes.readBigUInt64BE(0) ^ mask(key, scope, tag);
  return tagOf(key, scope, number) === tag ? Number(number) : null;
}
