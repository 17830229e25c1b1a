/** Limits on writing comments (COMMENTS 2 and ruling 13). */
import { Refusal } from "../base/errors.ts";
import type { Counted } from "../http/rate-limit.ts";
import type { Author } from "../store/notes.ts";
import { UNIT_MS } from "../base/units.ts";
import type { RateWindow } from "../base/rates.ts";
import type { CommentParts, Ctx } from "./context.ts";
import { networkHash } from "./keys.ts";

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

/** Counts a call under several limits, in turn; if one refuses it, none of them counts it. */
async function countedByAll(limits: readonly (() => Promise<Counted>)[]): Promise<Counted[]> {
  const counted: Counted[] = [];
  try {
    for (const count of limits) counted.push(await count());
    return counted;
  } catch (error) {
    await Promise.all(counted.map(({ undo }) => undo()));
    throw error;
  }
}

/** One block of addresses has a quarter of what a site takes; an owner's words count with what owners decide, so that
 *  no visitor can silence the owner (RELIABILITY A26). */
export async function limitPost(ctx: Ctx, author: Author): Promise<Uncounted> {
  const { limit, limitWindows, site_share } = ctx.parts;
  const { site_id } = ctx.site;
  if (author.kind === "owner") {
    Object.assign(ctx.headers, await limitOwner(ctx));
    return uncounting([]);
  }
  await limitWriting(ctx);
  const counted = await countedByAll([
    () => limit("rate_comment_identity", `${site_id} ${author.id}`),
    () => limitWindows("comment-site-network", `${site_id} ${ctx.block()}`, site_share),
    () => limit("rate_comment_site", site_id),
  ]);
  return uncounting(counted);
}

const MOST_WAITING = 20;

/** How many of one block may wait for a site's owner. Where a site takes any number, as among people of one office, its queue
 *  does, too. */
export const mostWaiting = ({ site_share }: Pick<Ctx["parts"], "site_share">): number =>
  site_share.length === 0 ? Infinity : MOST_WAITING;

export async function limitRename(ctx: Ctx, author: Author): Promise<Uncounted> {
  await limitWriting(ctx);
  return uncounting([await ctx.parts.limit("rate_rename", `${ctx.site.site_id} ${author.id}`)]);
}

/** Wrong passcodes of all clients together that never had the right one (CONTRACT 4.4). */
const OF_SITE = [{ count: 50, window_ms: UNIT_MS.h }];

interface CountedPasscode {
  /** Takes it back: nobody has looked at it. */
  undo(): Promise<void>;
  /** It was right: it does not count, and strangers do not slow this customer any more. */
  right(): Promise<void>;
}

interface Guess {
  what: "passcode" | "access";
  site_id: string;
  customer: string;
  windows: readonly RateWindow[];
  /** False if another client's guess of the same is counted for the site already. */
  of_site?: boolean;
}

/** Counts a passcode or a site's password before it is known to be right, so that many at once do not pass as one. A customer, a whole
 *  IPv6 /48, is one client: else its 65,536 networks would use up what the site takes from all strangers (RELIABILITY A26). */
export async function limitGuess(
  { limitWindows, keys, store }: Pick<CommentParts, "limitWindows" | "keys" | "store">,
  { what, site_id, customer, windows, of_site = true }: Guess,
): Promise<CountedPasscode> {
  const hash = networkHash(keys, what, site_id, customer);
  const counts_for_site = of_site && !(await store.notes.knowsNetwork(site_id, hash));
  const counted = await countedByAll([
    () => limitWindows(what, `${site_id} ${customer}`, windows),
    ...(counts_for_site ? [() => limitWindows(`${what}-site`, site_id, OF_SITE)] : []),
  ]);
  const undo = async () => void (await Promise.all(counted.map((one) => one.undo())));
  return { undo, right: async () => void (await Promise.all([undo(), store.notes.noteNetwork(site_id, hash)])) };
}

export function limitPasscode({ parts, site: { site_id }, from }: Ctx): Promise<CountedPasscode> {
  const [customer = ""] = from();
  return limitGuess(parts, { what: "passcode", site_id, customer, windows: parts.passcode_windows });
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
