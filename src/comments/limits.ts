/** Limits on writing comments (COMMENTS 2 and ruling 13). */
import { Refusal } from "../base/errors.ts";
import type { Counted } from "../http/rate-limit.ts";
import type { Author } from "../store/notes.ts";
import { UNIT_MS } from "../base/units.ts";
import type { Ctx } from "./context.ts";

/** Counts a post, an edit, a deletion or a rename for the client's network, whether it succeeds or not. */
export async function limitWriting(ctx: Ctx): Promise<void> {
  Object.assign(ctx.headers, (await ctx.parts.limit("rate_comment", ctx.network())).headers);
}

interface Uncounted {
  /** Runs `work`. If it refuses, the call does not count for the visitor or the site: else nonsense could silence a site. */
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
  await limitWriting(ctx);
  const visitor = author.kind === "visitor" ? [await limit("rate_comment_identity", `${site_id} ${author.id}`)] : [];
  try {
    return uncounting([...visitor, await limit("rate_comment_site", site_id)]);
  } catch (error) {
    await Promise.all(visitor.map(({ undo }) => undo()));
    throw error;
  }
}

export async function limitRename(ctx: Ctx, author: Author): Promise<Uncounted> {
  await limitWriting(ctx);
  return uncounting([await ctx.parts.limit("rate_rename", `${ctx.site.site_id} ${author.id}`)]);
}

/** Wrong passcodes of all clients together (CONTRACT 4.4). */
const OF_SITE = [{ count: 50, window_ms: UNIT_MS.h }];

/** Counts a passcode before it is known to be right, so that many at once do not pass as one; `undo` takes it back. */
export async function limitPasscode({ parts, site, network }: Ctx): Promise<{ undo(): Promise<void> }> {
  const of_client = await parts.limitWindows("passcode", `${site.site_id} ${network()}`, parts.passcode_windows);
  const of_site = await parts.limitWindows("passcode-site", site.site_id, OF_SITE).catch(async (error: unknown) => {
    await of_client.undo();
    throw error;
  });
  return { undo: async () => void (await Promise.all([of_client.undo(), of_site.undo()])) };
}

/** Counts an owner code like a passcode: only wrong ones count. */
export const limitOwnerCode = ({ parts, network }: Ctx): Promise<Pick<Counted, "undo">> =>
  parts.limit("rate_owner_code", network());

/** Counts a decision or a setting of an owner, on either host, whether it succeeds or not. */
export async function limitOwner({ parts, site }: Pick<Ctx, "site" | "parts">): Promise<Record<string, string>> {
  return (await parts.limit("rate_moderation", site.site_id)).headers;
}

/** False past the limit; the reporter does not hear of it. */
export async function isReportCounted({ parts, network }: Ctx): Promise<boolean> {
  try {
    await parts.limit("rate_report", `comments ${network()}`);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === "rate_limited") return false;
    throw error;
  }
}
