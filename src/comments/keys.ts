/** The keys that comments are signed and hidden with, and values that carry their own proof. */

import { createHmac, timingSafeEqual } from "node:crypto";

interface Key {
  kid: string;
  key: string;
}

/** A ring of keys: the newest signs, and a signature of any of them counts. */
interface Ring {
  newest(): Key;
  find(kid: string): Key | undefined;
}

export interface Keys {
  visitor: Ring;
  grant: Ring;
  owner: string;
  /** Derives a person's public id from the identity in their cookie; the way back is impossible. */
  people: string;
  cursor: string;
}

type Label = "svc_cmt" | "svc_cmt_host" | "svc_cmt_pass" | "svc_cmt_own" | "svc_cmt_form" | "svc_claim_ended";

/** Raw HMAC-SHA256. */
const hmac = (key: string, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const VALUE = /^v1\.([0-9a-z]{1,8})\.([A-Za-z0-9_-]{1,1500})\.([A-Za-z0-9_-]{43})$/;

const macOf = ({ kid, key }: Key, label: Label, payload: string): Buffer => hmac(key, `${label}\0v1\0${kid}${payload}`);

/** `v1.<kid>.<payload>.<mac>`, the payload JSON as base64url. */
export function seal(label: Label, ring: Ring, payload: object): string {
  const newest = ring.newest();
  const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
  return `v1.${newest.kid}.${text}.${macOf(newest, label, text).toString("base64url")}`;
}

/** The payload of a sealed value; null unless a key of the ring signed exactly this value under this label. */
export function unseal(label: Label, ring: Ring, value: string): Readonly<Record<string, unknown>> | null {
  const [, kid, payload = "", mac = ""] = VALUE.exec(value) ?? [];
  const key = kid === undefined ? undefined : ring.find(kid);
  if (key === undefined) return null;
  const given = Buffer.from(mac, "base64url");
  const text = Buffer.from(payload, "base64url");
  // The unused bits of base64url would allow several spellings of one value.
  if (given.toString("base64url") !== mac || text.toString("base64url") !== payload) return null;
  if (given.length !== 32 || !timingSafeEqual(given, macOf(key, label, payload))) return null;
  return JSON.parse(text.toString()) as Record<string, unknown>;
}

/** A ring of one key that never changes, for values that do not last. */
export const single = (key: string): Ring => {
  const only = { kid: "0", key };
  return { newest: () => only, find: (kid) => (kid === only.kid ? only : undefined) };
};

/** The public id of the person with this identity on this site. */
export const personId = ({ people }: Keys, site_id: string, identity: string): string =>
  `p_${hmac(people, `${site_id}\0${identity}`).toString("base64url").slice(0, 16)}`;

/** By what a site remembers a network without its address; of two sites nobody can tell that it is one. */
export const networkHash = (
  { people }: Keys,
  what: "comments" | "passcode" | "access",
  site_id: string,
  network: string,
): string => hmac(people, `${what}\0${site_id}\0${network}`).toString("base64url").slice(0, 22);

/** The name of a provider's customer (an IPv4 address, an IPv6 /48) that no address can be read out of. */
export const customerKey = ({ people }: Keys, customer: string): string =>
  hmac(people, `customer\0${customer}`).toString("base64url").slice(0, 22);

// Cursors below hide the number of a change, which would say how many changes there were that a viewer may not see. Equal
// numbers give equal cursors; a cursor of another site, page or viewer is invalid.

const BYTES = 8;
const LONGEST = 64;

/** The bits that hide a number under this scope, by its tag. */
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

/** The number in a cursor; null if it was never given out under this scope. */
export function numberIn(key: string, scope: string, cursor: string | null): number | null {
  if (cursor === null || cursor.length > LONGEST) return null;
  const [, tag = "", hidden = ""] = /^([\w-]{11})([\w-]{11})$/.exec(cursor) ?? [];
  const bytes = Buffer.from(hidden, "base64url");
  if (bytes.length !== BYTES) return null;
  const number = bytes.readBigUInt64BE(0) ^ mask(key, scope, tag);
  return tagOf(key, scope, number) === tag ? Number(number) : null;
}
