/** Random identifiers, slugs and bearer tokens (CONTRACT 2), and what deploy tokens, for CI, may do (BEYOND 7). Only a
 *  token's SHA-256 is ever stored. */
import { createHash, timingSafeEqual } from "node:crypto";
import { randomHex, randomKey, randomName, randomWord } from "./random.ts";
import { WORDS } from "./slugs.ts";

type TokenPrefix =
  "svc_manage_" | "svc_claim_" | "svc_session_" | "svc_deploy_" | "svc_device_" | "svc_invite_" | "svc_owner_" | "fau_";

/** 256 random bits behind a prefix that a secret scanner can see. */
export const newToken = (prefix: TokenPrefix): string => prefix + randomKey(32);

/** Lower-case hex SHA-256 of a token: what the store keeps and looks up. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares digests, for `timingSafeEqual` throws on unequal lengths. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());

export const newSiteId = (): string => `site_${randomName(20)}`;
export const newAccountId = (): string => `acct_${randomName(20)}`;
export const newSessionId = (): string => `sess_${randomName(20)}`;
export const newDeployTokenId = (): string => `tok_${randomName(20)}`;
export const newCommentId = (): string => `c_${randomName(20)}`;
export const newNoteEventId = (): string => `e_${randomName(20)}`;
export const newDeliveryId = (): string => `msg_${randomName(24)}`;
export const newAgentTokenId = (): string => `agent_${randomName(20)}`;
export const newReportId = (): string => `rep_${randomName(20)}`;

/** Every 404 of a site shows one, so it must cost next to nothing: hexadecimal takes a third of the time of other names. */
export const newRequestId = (): string => `req_${randomHex()}`;

export const isSiteId = (text: string): boolean => /^site_[0-9a-z]{20}$/.test(text);
export const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

/** Whether a key for signatures is one: behind `whsec_` it is Base64 (Standard Webhooks), else it is taken letter by letter. */
export const isSigningKey = (text: string): boolean =>
  !text.startsWith("whsec_") || /^whsec_(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);

/** The rights that a deploy token may have. */
export const SCOPES = ["read", "preview", "deploy", "create"] as const;
export type Scope = (typeof SCOPES)[number];

/** The purpose that the owner of a deploy token made it for. */
export interface DeployGrant {
  account_id: string;
  token_id: string;
  scopes: readonly Scope[];
  /** Null means all sites that the account has or will have. */
  site_ids: readonly string[] | null;
}

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ["read"],
  preview: ["read", "preview"],
  deploy: ["read", "preview", "deploy"],
  create: ["create"],
};

export const allows = ({ scopes }: Pick<DeployGrant, "scopes">, needed: Scope): boolean =>
  scopes.some((scope) => INCLUDED[scope].includes(needed));

/** Whether the token is for this site, whatever it may do there. */
export const reaches = (
  { account_id, site_ids }: Pick<DeployGrant, "account_id" | "site_ids">,
  { site_id, owner_account_id }: { site_id: string; owner_account_id: string | null },
): boolean => owner_account_id === account_id && (site_ids === null || site_ids.includes(site_id));

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** A name for a visitor who has not chosen one. */
export const newPseudonym = (): string =>
  `${capital(randomWord(WORDS.adjectives))} ${capital(randomWord(WORDS.nouns))}`;
