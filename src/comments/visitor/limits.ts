/** How much one may write (COMMENTS 2 and ruling 13). */
import { Refusal } from "../../base/errors.ts";
import type { Counted } from "../../http/rate-limit.ts";
import type { Author } from "../../store/notes.ts";
import { UNIT_MS } from "../../base/units.ts";
import type { Ctx } from "../context.ts";

/** Posts, edits, deletions and renames of one network, whatever comes of them. */
export async function limitClient(ctx: Ctx): Promise<void> {
  Object.assign(ctx.headers, (await ctx.parts.limit("rate_comment", ctx.network())).headers);
}

interface Uncounted {
  /** What `work` refuses does not count for the visitor or the site: else whoever sends nonsense would silence a site. */
  unless<T>(work: () => Promise<T>): Promise<T>;
}

const uncounting = (counted: readonly Counted[]): Uncounted => ({
  async unless(work) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal) await Promise.all(counted.map(({ undo }) => undo()));
      throw error;
    }
  },
});

export async function limitPost(ctx: Ctx, author: Author): Promise<Uncounted> {
  const { limit } = ctx.parts;
  const { site_id } = ctx.site;
  await limitClient(ctx);
  const visitor = author.kind === "visitor" ? [await limit("rate_comment_identity", `${site_id} ${author.id}`)] : [];
  try {
    return uncounting([...visitor, await limit("rate_comment_site", site_id)]);
  } catch (error) {
    await Promise.all(visitor.map(({ undo }) => undo()));
    throw error;
  }
}

export async function limitRename(ctx: Ctx, author: Author): Promise<Uncounted> {
  await limitClient(ctx);
  return uncounting([await ctx.parts.limit("rate_rename", `${ctx.site.site_id} ${author.id}`)]);
}

/** Wrong ones of all clients together (CONTRACT 4.4). */
const OF_SITE = [{ count: 50, window_ms: UNIT_MS.h }];

/** Counted before it is known whether it is right, so that many at once are not one; `undo` takes it back. */
export async function limitPasscode({ parts, site, network }: Ctx): Promise<{ undo(): Promise<void> }> {
  const of_client = await parts.limitWindows("passcode", `${site.site_id} ${network()}`, parts.passcode_windows);
  const of_site = await parts.limitWindows("passcode-site", site.site_id, OF_SITE).catch(async (error: unknown) => {
    await of_client.undo();
    throw error;
  });
  return { undo: async () => void (await Promise.all([of_client.undo(), of_site.undo()])) };
}

/** As a passcode: wrong ones alone count. */
export const limitOwnerCode = ({ parts, network }: Ctx): Promise<Pick<Counted, "undo">> =>
  parts.limit("rate_owner_code", network());

/** What owners decide and set, on either host, whatever comes of it. */
export async function limitOwner({ parts, site }: Pick<Ctx, "site" | "parts">): Promise<Record<string, string>> {
  return (await parts.limit("rate_moderation", site.site_id)).headers;
}

/** False past the limit: nobody is told. */
export async function isReportCounted({ parts, network }: Ctx): Promise<boolean> {
  try {
    await parts.limit("rate_report", `comments ${network()}`);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === "rate_limited") return false;
    throw error;
  }
}
