/** Random identifiers and bearer tokens (CONTRACT.md 2). Only a token's SHA-256 is ever stored. */
import { createHash, timingSafeEqual } from "node:crypto";

const DIGITS_AND_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** `length` characters of 0-9a-z without bias: bytes past the last whole multiple of 36 are thrown away. */
export function randomName(length: number): string {
  let name = "";
  while (name.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 252 && name.length < length) name += DIGITS_AND_LETTERS[byte % 36];
    }
  }
  return name;
}

export type TokenPrefix = "svc_manage_" | "svc_claim_" | "svc_session_" | "svc_device_" | "svc_invite_";

/** 256 random bits behind a prefix that a secret scanner can see. */
export const newToken = (prefix: TokenPrefix): string =>
  prefix + crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });

/** Lower-case hex SHA-256 of a token: what the store keeps and looks up. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares digests, for `timingSafeEqual` throws on unequal lengths. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());

export const newSiteId = (): string => `site_${randomName(20)}`;
export const newAccountId = (): string => `acct_${randomName(20)}`;
export const newSessionId = (): string => `sess_${randomName(20)}`;
export const newRequestId = (): string => `req_${randomName(16)}`;
export const newReportId = (): string => `rep_${randomName(20)}`;
export const isSiteId = (text: string): boolean => /^site_[0-9a-z]{20}$/.test(text);
export const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);
