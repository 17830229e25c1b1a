/** Random identifiers and bearer tokens (CONTRACT 2). Only a token's SHA-256 is ever stored. */
import { createHash, timingSafeEqual } from "node:crypto";
import { randomHex, randomKey, randomName } from "./random.ts";

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

/** Every 404 of a site shows one, so it must cost next to nothing: in hexadecimal it takes a third of other names. */
export const newRequestId = (): string => `req_${randomHex()}`;

export const isSiteId = (text: string): boolean => /^site_[0-9a-z]{20}$/.test(text);
export const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);
