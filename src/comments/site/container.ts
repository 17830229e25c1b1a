/** The container that comments are sent to, as its address describes it (Annotation Protocol 4.1). */
import { siteFeedAddress } from "../../base/pages.ts";
import { COMMENTS, feedSite } from "../addresses.ts";
import { LD_JSON, optionsAnswer } from "../answers.ts";
import type { Ctx } from "../context.ts";
import { asksIris, preferred } from "../feed/asked.ts";
import type { FeedAsked, Identified } from "../types.ts";
import { isAdmitted, refuseOff, refuseReaders } from "../visitor/who.ts";
import { documentTag, preflight, sendDocument, sharing } from "./shared.ts";

const FIELDS = {
  link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type", <http://www.w3.org/TR/annotation-protocol/>; rel="http://www.w3.org/ns/ldp#constrainedBy"',
  allow: "GET, HEAD, OPTIONS, POST",
  "accept-post": LD_JSON,
};
const VARY = "Accept, Prefer";
/** Pages of other sites read, and never write. */
const READING = "GET, HEAD, OPTIONS";

async function describe({ parts, site, query, request }: Ctx): Promise<Identified> {
  const live = await parts.livePages(site);
  const place = feedSite(parts, site);
  const { total, modified_at } = await parts.store.notes.feed(site.site_id, null, 0, 0);
  const iris = preferred(request) === "iris" || asksIris(query);
  const asked: FeedAsked = { site: place, id: place.origin + COMMENTS, iris, page: null, total, modified_at };
  return parts.documents.container(asked, place.origin + siteFeedAddress(live));
}

export async function container(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const applied = preferred(ctx.request) !== null && { "preference-applied": "return=representation" };
  return sendDocument(ctx, await describe(ctx), { ...sharing(ctx, VARY), ...FIELDS, ...applied });
}

/** Every answer of a container has its tag, for whoever may see it. */
export async function containerOptions(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  const tag = (await isAdmitted(ctx)) && { etag: documentTag(await describe(ctx)) };
  return optionsAnswer(ctx, FIELDS.allow, { ...sharing(ctx, VARY), ...preflight(ctx, READING), ...FIELDS, ...tag });
}
