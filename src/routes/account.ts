/** The signed-in account: itself, its sessions and its sites, and how sites become its own (CONTRACT 4.4 and 5). */
import { Refusal } from "../base/errors.ts";
import { hashToken } from "../base/tokens.ts";
import { listMember, readJson, stringMember } from "../http/body.ts";
import { siteUrl } from "../http/hosts.ts";
import { limitClient } from "../http/rate-limit.ts";
import type { NotAttached, SiteChange } from "../store/ownership.ts";
import { refusals } from "../store/refusals.ts";
import { accountHolder, unauthorized } from "./caller.ts";
import type { AccountCtx, ApiHandlers, Ctx } from "./context.ts";
import { noteChange } from "./deploys/facts.ts";
import { cursorAt, cursorOf, limitOf, PAGE, readRecord } from "./sites.ts";

export const LONGEST_LABEL = 80;

/** `GET /account`. */
async function readAccount({ caller, parts }: AccountCtx) {
  const account = await parts.store.accounts.byId(caller.account_id);
  if (!account) throw unauthorized(); // deleted since the session was looked up
  return account;
}

/** `DELETE /account`: its sessions end with it. */
async function deleteAccount({ caller: by, parts, headers, cookie }: AccountCtx) {
  const deleted = await parts.store.accounts.remove(by);
  if (by.by === "cookie") headers["set-cookie"] = cookie.cleared;
  return { ok: true, deleted };
}

/** `GET /account/sessions`. */
async function listSessions({ caller, parts }: AccountCtx) {
  const { account_id, session_id: own } = caller;
  const sessions = await parts.store.sessions.list(account_id, PAGE + 1);
  return {
    sessions: sessions.slice(0, PAGE).map(({ session_id, created_at, last_used_at, client }) => ({
      session_id,
      created_at,
      last_used_at,
      client,
      current: session_id === own,
    })),
    ...(sessions.length > PAGE && { more: true }),
  };
}

/** `DELETE /account/sessions/:id`. */
async function endSession({ caller, params, parts }: AccountCtx) {
  const { account_id } = caller;
  const ended = await parts.store.sessions.end({ account_id, session_id: params.id! });
  if (!ended) throw new Refusal("not_found", "Your account has no such session.");
  return { ok: true };
}

/** `GET /account/usage`. */
export async function readUsage({ caller, parts }: Pick<AccountCtx, "caller" | "parts">) {
  const { account_id } = caller;
  const { sites, versions, previews, bytes } = await parts.store.accounts.usage(account_id);
  const tokens = (await parts.store.deploy_tokens.list(account_id)).length;
  const domains = (await parts.store.domains.countOfAccount(account_id))!.count;
  return { bytes, quota_bytes: parts.config.quota_account, sites, versions, previews, tokens, domains };
}

/** `GET /account/sites?limit=&cursor=`. */
async function listSites({ caller, query, parts }: AccountCtx) {
  const { account_id } = caller;
  const limit = limitOf(query);
  const found = await parts.store.ownership.list(account_id, { limit: limit + 1, after: cursorOf(query) });
  const sites = found.slice(0, limit);
  return {
    sites: sites.map(({ site_id, slug, label, created_at, live_version_id }) => ({
      site_id,
      slug,
      label,
      url: siteUrl(parts.config, slug),
      created_at,
      live_version_id,
    })),
    cursor: found.length > limit ? cursorAt(sites.at(-1)!) : null,
  };
}

const invalid = (field: string, must: string): Refusal =>
  new Refusal("invalid_input", `The member "${field}" must be ${must}.`, { field });

/** The label as it is stored; null if it is too long. */
export function fittingLabel(text: string): string | null {
  const label = text.toWellFormed().trim();
  return [...label].length > LONGEST_LABEL ? null : label;
}

function labelOf(value: unknown): string | null {
  const label = typeof value === "string" ? fittingLabel(value) : null;
  if (label === null) throw invalid("label", `a string of at most ${LONGEST_LABEL} characters`);
  return label === "" ? null : label;
}

function spaOf(value: unknown): 0 | 1 | null {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  throw invalid("spa", "true, false or null");
}

/** `PATCH /account/sites/:id`. */
async function changeSite({ request, caller: by, params, parts }: AccountCtx) {
  const body = await readJson(request);
  const change: SiteChange = {
    ...(Object.hasOwn(body, "label") && { label: labelOf(body.label) }),
    ...(Object.hasOwn(body, "spa") && { spa_override: spaOf(body.spa) }),
  };
  if (Object.keys(change).length === 0) {
    throw new Refusal("invalid_input", 'Send what is to change: "label", "spa" or both.');
  }
  return readRecord(parts, await parts.store.ownership.change(params.id!, change, by));
}

/** `DELETE /account/sites/:id`. */
async function deleteSite({ caller: by, params, parts }: AccountCtx) {
  const [reason] = await parts.store.ownership.remove([params.id!], by);
  if (reason) throw refusals.unknownSite();
  return { ok: true, deleted: [params.id!] };
}

/** `POST /account/sites/bulk-delete`. */
async function deleteSites({ request, caller: by, parts }: AccountCtx) {
  const site_ids = listMember(await readJson(request), "site_ids");
  if (!site_ids.every((id) => typeof id === "string")) throw invalid("site_ids", "a list of strings");
  const reasons = await parts.store.ownership.remove(site_ids, by);
  return {
    ok: true,
    deleted: site_ids.filter((_, i) => reasons[i] === null),
    skipped: site_ids.flatMap((site_id, i) => (reasons[i] ? [{ site_id, reason: reasons[i] }] : [])),
  };
}

const LONGEST_TOKEN = 512;

interface ClaimBody {
  claim_token: string;
  /** True ends the access of the person who gave the site away. */
  revoke_manage_tokens: boolean;
}

/** The claim that is asked for, once it is counted. Used by the page of `claim_url`, too. */
export async function askedClaim(ctx: AccountCtx, read: () => Promise<ClaimBody>) {
  await limitClient(ctx, "rate_claim");
  const { claim_token, revoke_manage_tokens } = await read();
  return { site_id: ctx.params.id!, claim_hash: hashToken(claim_token), by: ctx.caller, revoke_manage_tokens };
}

/** Claims, and notes it for the log. Used by the page of `claim_url`, too. */
export async function claimSite(ctx: AccountCtx, wanted: Awaited<ReturnType<typeof askedClaim>>) {
  const claimed = await ctx.parts.store.ownership.claim(wanted);
  if (claimed.changed) noteChange(ctx.exchange, ctx.caller, { event: "claim", site: claimed.site });
  return claimed;
}

async function readClaim({ request }: Ctx): Promise<ClaimBody> {
  const body = await readJson(request);
  const revoke_manage_tokens = Object.hasOwn(body, "revoke_manage_tokens") ? body.revoke_manage_tokens : false;
  if (typeof revoke_manage_tokens !== "boolean") {
    const field = "revoke_manage_tokens";
    throw new Refusal("invalid_input", `The member "${field}" must be true or false, or left out.`, { field });
  }
  return { claim_token: stringMember(body, "claim_token", LONGEST_TOKEN), revoke_manage_tokens };
}

/** `POST /sites/:id/claim?look=1`: which site a claim_token is of. */
async function lookBeforeClaim(ctx: Ctx) {
  const { caller, params, parts } = ctx;
  const account_id = caller.kind === "anonymous" ? null : accountHolder(caller).account_id;
  await limitClient(ctx, "rate_claim", "look");
  const { claim_token } = await readClaim(ctx);
  const wanted = { site_id: params.id!, claim_hash: hashToken(claim_token), account_id };
  const { slug, ...found } = await parts.store.ownership.look(wanted);
  return { url: siteUrl(parts.config, slug), ...found };
}

/** `POST /sites/:id/claim`. */
async function claim(asked: Ctx) {
  if (asked.query.get("look") === "1") return lookBeforeClaim(asked);
  const ctx = { ...asked, caller: accountHolder(asked.caller) };
  const { site } = await claimSite(ctx, await askedClaim(ctx, () => readClaim(ctx)));
  const { site_id, slug, owner_account_id } = site;
  return { ok: true, site_id, url: siteUrl(ctx.parts.config, slug), owner_account_id, expires_at: null };
}

interface SiteToAttach {
  site_id: string;
  manage_token: string;
}
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TOKEN;
const isItem = (value: unknown): value is SiteToAttach =>
  typeof value === "object" &&
  value !== null &&
  isText((value as SiteToAttach).site_id) &&
  isText((value as SiteToAttach).manage_token);

/** The id of a skipped item; null if it has none. */
const idOf = (value: unknown): string | null => {
  const id = typeof value === "object" && value !== null ? (value as Partial<SiteToAttach>).site_id : undefined;
  return isText(id) ? id : null;
};

/** `POST /account/bulk-attach`: an item that cannot be attached is skipped with its reason. */
async function bulkAttach(ctx: AccountCtx) {
  await limitClient(ctx, "rate_bulk_attach");
  const items = listMember(await readJson(ctx.request), "sites");
  const usable = items.filter(isItem);
  const wanted = usable.map(({ site_id, manage_token }) => ({ site_id, manage_hash: hashToken(manage_token) }));
  const answers = await ctx.parts.store.ownership.attach(wanted, ctx.caller);
  const reasonOf = new Map<unknown, NotAttached | null>(usable.map((item, i) => [item, answers[i]!]));
  const attached: string[] = [];
  const skipped: { site_id: string | null; reason: NotAttached | "invalid_input" }[] = [];
  for (const item of items) {
    const reason = isItem(item) ? reasonOf.get(item)! : "invalid_input";
    if (reason) skipped.push({ site_id: idOf(item), reason });
    else attached.push(idOf(item)!);
  }
  return { attached, skipped };
}

/** The rows of the API that this file answers. */
export const ACCOUNT_HANDLERS = {
  "POST /sites/:id/claim": claim,
  "POST /account/bulk-attach": bulkAttach,
  "GET /account/sites": listSites,
  "GET /account/usage": readUsage,
  "PATCH /account/sites/:id": changeSite,
  "DELETE /account/sites/:id": deleteSite,
  "POST /account/sites/bulk-delete": deleteSites,
  "GET /account": readAccount,
  "DELETE /account": deleteAccount,
  "GET /account/sessions": listSessions,
  "DELETE /account/sessions/:id": endSession,
} satisfies Partial<ApiHandlers>;
