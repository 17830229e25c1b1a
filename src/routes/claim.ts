/** Anonymous sites become an account's: one by its claim_token, many by their manage_tokens (CONTRACT 4.4). */
import { Refusal } from "../base/errors.ts";
import type { NotAttached } from "../store/ownership.ts";
import { hashToken } from "../base/tokens.ts";
import { listMember, readJson, stringMember } from "../http/body.ts";
import { limitClient } from "../http/rate-limit.ts";
import { siteUrl } from "../http/hosts.ts";
import type { AccountCtx } from "./context.ts";

const LONGEST_TOKEN = 512;

/** What a claim sends. */
interface Sent {
  claim_token: string;
  /** Whoever gave the site away is to manage it no longer. */
  revoke_manage_tokens: boolean;
}

/** Also for the page of `claim_url`. */
export async function claimSite(ctx: AccountCtx, read: () => Promise<Sent>) {
  await limitClient(ctx, "rate_claim");
  const { claim_token, revoke_manage_tokens } = await read();
  const claim_hash = hashToken(claim_token);
  return ctx.parts.store.ownership.claim({
    site_id: ctx.params.id!,
    claim_hash,
    by: ctx.caller,
    revoke_manage_tokens,
  });
}

async function readClaim({ request }: AccountCtx): Promise<Sent> {
  const body = await readJson(request);
  const revoke_manage_tokens = Object.hasOwn(body, "revoke_manage_tokens") ? body.revoke_manage_tokens : false;
  if (typeof revoke_manage_tokens !== "boolean") {
    const field = "revoke_manage_tokens";
    throw new Refusal("invalid_input", `The member "${field}" must be true or false, or left out.`, { field });
  }
  return { claim_token: stringMember(body, "claim_token", LONGEST_TOKEN), revoke_manage_tokens };
}

/** `POST /sites/:id/claim`. */
export async function claim(ctx: AccountCtx) {
  const { site_id, slug, owner_account_id } = await claimSite(ctx, () => readClaim(ctx));
  return { ok: true, site_id, url: siteUrl(ctx.parts.config, slug), owner_account_id, expires_at: null };
}

interface Item {
  site_id: string;
  manage_token: string;
}
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TOKEN;
const isItem = (value: unknown): value is Item =>
  typeof value === "object" &&
  value !== null &&
  isText((value as Item).site_id) &&
  isText((value as Item).manage_token);

/** What a skipped item can be told apart by; null where it has no id. */
const idOf = (value: unknown): string | null => {
  const id = typeof value === "object" && value !== null ? (value as Partial<Item>).site_id : undefined;
  return isText(id) ? id : null;
};

/** `POST /account/bulk-attach`: an item that cannot be attached is skipped with its reason. */
export async function bulkAttach(ctx: AccountCtx) {
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
