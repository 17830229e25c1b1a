/** Credentials that the owner makes on the API's host for others: a code for one browser, tokens for agents (COMMENTS 2). */
import { Refusal } from "../base/errors.ts";
import { normalForm } from "../base/normal-form.ts";
import { siteUrl } from "../http/hosts.ts";
import type { AgentToken, AgentScope, StoredThread } from "../store/notes.ts";
import { hashToken, newAgentTokenId, newToken } from "../base/tokens.ts";
import { UNIT_MS } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Site } from "../base/types.ts";
import { readMembers } from "./annotation.ts";
import type { OwnerCtx, OwnerHandler } from "./context.ts";
import { checkName } from "./visitor-names.ts";

const CODE_MS = 5 * UNIT_MS.m;
const SCOPES: readonly AgentScope[] = ["read", "reply", "resolve", "see_pending"];
const MOST_DAYS = 90;
const LONGEST_NAME = 40;

/** Makes a code that signs one browser in as the owner on the site's host, once. The link leads to the thread, or to the
 *  start page. */
export async function ownerCode(
  { parts, site, by }: Pick<OwnerCtx, "parts" | "site" | "by">,
  thread: Pick<StoredThread, "id" | "page"> | null = null,
) {
  const code = newToken("svc_owner_");
  const expires_at = parts.now() + CODE_MS;
  await parts.store.notes.addOwnerCode(site.site_id, by, hashToken(code), expires_at);
  const at = thread === null ? "" : `&svc-${thread.id}`;
  const url = `${siteUrl(parts.config, site.slug)}${thread?.page ?? "/"}#svc-owner=${code}${at}`;
  return { code, url, expires_at: new Date(expires_at).toISOString() };
}

async function makeOwnerCode(ctx: OwnerCtx) {
  await readMembers(ctx.request);
  return ownerCode(ctx);
}

const invalid = (field: string, why: string): Refusal => new Refusal("invalid_input", why, { field });

/** Agents' names stand beside those of people, so the same ones are refused: no agent is called "Owner". */
function nameIn(sent: unknown, { label }: Pick<Site, "label">): string {
  const name = typeof sent === "string" && sent.isWellFormed() ? normalForm(sent, "NFKC").trim() : "";
  if (name !== "" && [...name].length <= LONGEST_NAME && visible(name) === name) return checkName(name, label);
  throw invalid("name", `The member "name" must be 1 to ${LONGEST_NAME} visible characters.`);
}

function scopesIn(sent: unknown): AgentScope[] {
  const known = Array.isArray(sent) && sent.length > 0 && sent.every((one) => SCOPES.includes(one));
  if (!known) throw invalid("scopes", `The member "scopes" must be a list of some of ${SCOPES.join(", ")}.`);
  return SCOPES.filter((one) => sent.includes(one));
}

function daysIn(sent: unknown): number {
  if (sent === undefined) return MOST_DAYS;
  if (typeof sent === "number" && Number.isInteger(sent) && sent >= 1 && sent <= MOST_DAYS) return sent;
  throw invalid("expires_in_days", `The member "expires_in_days" must be a whole number from 1 to ${MOST_DAYS}.`);
}

const tokenJson = ({ token_id, name, scopes, created_at, last_used_at, expires_at }: AgentToken) => ({
  token_id,
  name,
  scopes,
  created_at,
  last_used_at,
  expires_at: new Date(expires_at).toISOString(),
});

/** This answer alone has the token: the store keeps only its hash. */
async function makeToken({ parts, site, by, request }: OwnerCtx) {
  const members = await readMembers(request);
  const token = newToken("fau_");
  const made = await parts.store.notes.addToken(by, {
    hash: hashToken(token),
    token_id: newAgentTokenId(),
    site_id: site.site_id,
    name: nameIn(members.name, site),
    scopes: scopesIn(members.scopes),
    expires_at: parts.now() + daysIn(members.expires_in_days) * UNIT_MS.d,
  });
  const { token_id, name, scopes, expires_at } = tokenJson(made);
  return { token_id, name, scopes, expires_at, token };
}

async function listTokens({ parts, site }: OwnerCtx) {
  return { tokens: (await parts.store.notes.tokens(site.site_id)).map(tokenJson) };
}

/** Throws 404 if the site has no such token. */
export async function endAgentToken(
  { parts, site, by }: Pick<OwnerCtx, "parts" | "site" | "by">,
  token_id: string,
): Promise<null> {
  const ended = await parts.store.notes.removeToken(site.site_id, by, token_id);
  if (!ended) throw new Refusal("not_found", "This site has no such token.");
  return null;
}

const endToken = (ctx: OwnerCtx): Promise<null> => endAgentToken(ctx, ctx.params.token!);

/** The rows of the API that this file answers for owners. */
export const OWNER_ACCESS = {
  "POST /sites/:id/comments/owner-code": makeOwnerCode,
  "POST /sites/:id/comments/tokens": makeToken,
  "GET /sites/:id/comments/tokens": listTokens,
  "DELETE /sites/:id/comments/tokens/:token": endToken,
} satisfies Readonly<Record<string, OwnerHandler>>;
