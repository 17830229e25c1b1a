/** `/account/tokens`: deploy tokens, which an account gives to its CI (BEYOND 7). A session makes, lists and revokes them. */
import { ownMember } from "../base/json.ts";
import { normalForm } from "../base/normal-form.ts";
import { duration } from "../config/setting.ts";
import { Refusal } from "../base/errors.ts";
import { readJson } from "../http/body.ts";
import { limitAccount } from "../http/rate-limit.ts";
import type { DeployToken } from "../store/people/deploy-tokens.ts";
import { hashToken, isSiteId, newDeployTokenId, newToken, type Scope, SCOPES } from "../base/tokens.ts";
import { UNIT_MS } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { AccountCtx, ApiHandlers } from "./context.ts";

export const LONGEST_TOKEN_NAME = 80;
export const MOST_SITES = 20;
const LONGEST_LIFE_MS = 366 * UNIT_MS.d;
const LIFE_MS = 90 * UNIT_MS.d;

const invalid = (field: string, must: string): Refusal =>
  new Refusal("invalid_input", `The member "${field}" must be ${must}.`, { field });

function nameIn(sent: unknown): string {
  const name = typeof sent === "string" && sent.isWellFormed() ? normalForm(sent).trim() : "";
  if (name !== "" && [...name].length <= LONGEST_TOKEN_NAME && visible(name) === name) return name;
  throw invalid("name", `1 to ${LONGEST_TOKEN_NAME} visible characters`);
}

function scopesIn(sent: unknown): Scope[] {
  const known = Array.isArray(sent) && sent.length > 0 && sent.every((one) => SCOPES.includes(one));
  if (!known) throw invalid("scopes", `a list of some of ${SCOPES.join(", ")}`);
  return SCOPES.filter((one) => sent.includes(one));
}

function sitesIn(sent: unknown, scopes: readonly Scope[]): string[] | null {
  if (sent === undefined) return null;
  if (scopes.includes("create")) throw invalid("site_ids", "left out with the scope create: a new site is in no list");
  const listed = Array.isArray(sent) && sent.length >= 1 && sent.length <= MOST_SITES;
  if (listed && sent.every((id) => typeof id === "string" && isSiteId(id))) return [...new Set<string>(sent)];
  throw invalid("site_ids", `a list of 1 to ${MOST_SITES} site_ids of your account, or be left out for all its sites`);
}

function lifeIn(sent: unknown): number {
  if (sent === undefined) return LIFE_MS;
  const life = typeof sent === "string" ? duration(sent) : undefined;
  if (life !== undefined && life <= LONGEST_LIFE_MS) return life;
  throw invalid("expires_in", 'a duration from "1s" to "366d", such as "90d"');
}

const tokenJson = ({ token_id, name, scopes, site_ids, created_at, expires_at }: DeployToken) => ({
  token_id,
  name,
  scopes,
  site_ids,
  created_at,
  expires_at,
});

/** `read` returns what was sent, by the names of the API's members. The token is in the answer and nowhere else. Making one
 *  counts as a deploy of the account, for each is a line in the audit. */
export async function makeDeployToken(ctx: AccountCtx, read: () => Promise<Readonly<Record<string, unknown>>>) {
  const { caller: by, parts } = ctx;
  await limitAccount(ctx, by.account_id);
  const sent = await read();
  const scopes = scopesIn(ownMember(sent, "scopes"));
  const token = newToken("svc_deploy_");
  const made = await parts.store.deploy_tokens.add(by, {
    hash: hashToken(token),
    token_id: newDeployTokenId(),
    account_id: by.account_id,
    name: nameIn(ownMember(sent, "name")),
    scopes,
    site_ids: sitesIn(ownMember(sent, "site_ids"), scopes),
    lives_ms: lifeIn(ownMember(sent, "expires_in")),
  });
  const { token_id, ...rest } = tokenJson(made);
  return { token_id, token, ...rest };
}

/** `POST /account/tokens`. */
const createDeployToken = (ctx: AccountCtx) => makeDeployToken(ctx, () => readJson(ctx.request));

/** `GET /account/tokens`. */
async function listDeployTokens({ caller, parts }: AccountCtx) {
  const tokens = await parts.store.deploy_tokens.list(caller.account_id);
  return { tokens: tokens.map((token) => ({ ...tokenJson(token), last_used_at: token.last_used_at })) };
}

/** `DELETE /account/tokens/:id`. */
async function revokeDeployToken({ caller, params, parts }: AccountCtx) {
  const revoked = await parts.store.deploy_tokens.revoke(caller, params.id!);
  if (!revoked) throw new Refusal("not_found", "Your account has no such deploy token: it has ended, or never was.");
  return { ok: true };
}

/** The rows of the API that this file answers. */
export const DEPLOY_TOKEN_HANDLERS = {
  "POST /account/tokens": createDeployToken,
  "GET /account/tokens": listDeployTokens,
  "DELETE /account/tokens/:id": revokeDeployToken,
} satisfies Partial<ApiHandlers>;
