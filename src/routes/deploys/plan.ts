/** `POST /sites/:id/plan` (BEYOND 6): which version an upload would be, and what of it the site lacks, so that a delta can
 *  leave out the rest. It is read and judged in a deploy's process: a list may be as long as a zip. */
import { customerOf, networkOf } from "../../http/context.ts";
import { limitAccount, limitClient } from "../../http/rate-limit.ts";
import type { SiteCtx } from "../context.ts";
import { readPlan } from "./request.ts";

export async function planDeploy(ctx: SiteCtx) {
  const { site_id, owner_account_id } = ctx.site;
  if (owner_account_id === null) await limitClient(ctx, "rate_redeploy", true);
  else await limitAccount(ctx, owner_account_id, true);
  const list = await readPlan(ctx);
  const address = ctx.client_address();
  return ctx.parts.pool.plan({ plan: { site_id }, list, customer: customerOf(address), network: networkOf(address) });
}
