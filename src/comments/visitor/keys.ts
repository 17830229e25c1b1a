/** What comments are signed and hidden with: the keys, and values that carry their own proof. */
import { createHmac, timingSafeEqual } from "node:crypto";

interface Key {
  kid: string;
  key: string;
}

/** The newest signs, and what any of them signed counts. */
interface Ring {
  newest(): Key;
  find(kid: string): Key | undefined;
}

export interface Keys {
  visitor: Ring;
  grant: Ring;
  owner: string;
  /** What a person is called in public follows from what their cookie holds, and not the other way. */
  people: string;
  cursor: string;
}

type Label = "svc_cmt" | "svc_cmt_host" | "svc_cmt_pass" | "svc_cmt_own" | "svc_cmt_form";

/** Raw HMAC-SHA256. */
export const hmac = (key: string, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const VALUE = /^v1\.([0-9a-z]{1,8})\.([A-Za-z0-9_-]{1,1500})\.([A-Za-z0-9_-]{43})$/;

const macOf = ({ kid, key }: Key, label: Label, payload: string): Buffer => hmac(key, `${label}\0v1\0${kid}${payload}`);

/** `v1.<kid>.<payload>.<mac>`, the payload JSON as base64url. */
export function seal(label: Label, ring: Ring, payload: object): string {
  const newest = ring.newest();
  const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
  return `v1.${newest.kid}.${text}.${macOf(newest, label, text).toString("base64url")}`;
}

/** Null for what no key of the ring signed under this label, however little it differs. */
export function unseal(label: Label, ring: Ring, value: string): Readonly<Record<string, unknown>> | null {
  const [, kid, payload = "", mac = ""] = VALUE.exec(value) ?? [];
  const key = kid === undefined ? undefined : ring.find(kid);
  if (key === undefined) return null;
  const given = Buffer.from(mac, "base64url");
  const text = Buffer.from(payload, "base64url");
  // Bits that the encoding leaves over would let one value be written in several ways.
  if (given.toString("base64url") !== mac || text.toString("base64url") !== payload) return null;
  if (given.length !== 32 || !timingSafeEqual(given, macOf(key, label, payload))) return null;
  return JSON.parse(text.toString()) as Record<string, unknown>;
}

/** One key that is never changed, for what does not last. */
export const single = (key: string): Ring => {
  const only = { kid: "0", key };
  return { newest: () => only, find: (kid) => (kid === only.kid ? only : undefined) };
};

/** Public name of whoever holds this identity on this site. */
export const personId = ({ people }: Keys, site_id: string, identity: string): string =>
  `p_${hmac(people, `${site_id}\0${identity}`).toString("base64url").slice(0, 16)}`;
