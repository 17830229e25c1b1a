/** `GET view?page=…` and the POST of its forms: comments without a script (COMMENTS 2 and ruling 13). */
import { Refusal } from "../../base/errors.ts";
import { readForm } from "../../http/body.ts";
import { answerRedirect } from "../../http/answers.ts";
import { feedSite, pageOf } from "../addresses.ts";
import { checkText, MOST_BYTES } from "../annotation.ts";
import { answer, PRIVATE } from "../answers.ts";
import type { Ctx } from "../context.ts";
import { seal, single, unseal } from "../visitor/keys.ts";
import { limitPost } from "../visitor/limits.ts";
import { isAdmitted, refuseForeign, refuseOff, viewerOf, type Who, whoAsks, writer } from "../visitor/who.ts";
import { threadJson } from "../wire.ts";
import { enterPasscode } from "./enter.ts";
import { store, writerOf } from "./post.ts";
import { personsOf } from "./read.ts";
import { viewPage, type ViewedPage } from "./view-page.ts";

/** Nobody reads and writes in less. */
const SHORTEST_MS = 2000;

const HEADERS = {
  ...PRIVATE,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "x-robots-tag": "noindex",
};

/** When the form was given out, and on which site. */
const stampOf = ({ parts: { keys, now }, site }: Ctx): string =>
  seal("svc_cmt_form", single(keys.cursor), { s: site.site_id, t: now() });

function isTooFast({ parts: { keys, now }, site }: Ctx, stamp: string): boolean {
  const said = unseal("svc_cmt_form", single(keys.cursor), stamp);
  return said?.s !== site.site_id || typeof said.t !== "number" || now() - said.t < SHORTEST_MS;
}

const noPage = (): Refusal => new Refusal("not_found", "The site has no such page.");

async function askedPage({ parts, site }: Ctx, path: string): Promise<string> {
  const found = pageOf(await parts.livePages(site), path);
  if (found === null) throw noPage();
  return found.page;
}

async function show(ctx: Ctx, page: string, refused: ViewedPage["refused"], status = 200): Promise<Response> {
  const { parts, site } = ctx;
  const locked = !(await isAdmitted(ctx));
  const who = await whoAsks(ctx);
  const seen = locked ? [] : (await parts.store.notes.view(site.site_id, page, who.as, null)).threads;
  const mine = personsOf(who);
  const text = viewPage({
    page,
    threads: seen.map((thread) => threadJson(parts, site, thread, mine)),
    viewer: viewerOf(ctx, who),
    stamp: stampOf(ctx),
    refused,
    locked,
  });
  return answer(ctx, text, HEADERS, status);
}

export async function view(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  return show(ctx, await askedPage(ctx, ctx.query.get("page") ?? "/"), null);
}

/** The page again, with what it was refused for and what that says beside: when to come back. */
function showRefusal(ctx: Ctx, page: string, error: unknown, { thread = "", text = "" }: Fields): Promise<Response> {
  if (!(error instanceof Refusal)) throw error;
  Object.assign(ctx.headers, error.headers);
  return show(ctx, page, { sentence: error.message, thread_id: thread, text }, error.status);
}

type Fields = Readonly<Record<string, string>>;

const back = ({ exchange }: Ctx, page: string): Response =>
  answerRedirect(`/_svc/comments/view?page=${encodeURIComponent(page)}`, exchange);

async function enter(ctx: Ctx, page: string, passcode: string): Promise<Response> {
  refuseForeign(ctx, true);
  try {
    await enterPasscode(ctx, async () => passcode);
    return back(ctx, page);
  } catch (error) {
    return showRefusal(ctx, page, error, {});
  }
}

async function write(ctx: Ctx, who: Who, page: string, { text = "", thread = "" }: Fields): Promise<void> {
  const { author, cookies } = writerOf(ctx, who);
  const counted = await limitPost(ctx, author);
  const { origin } = feedSite(ctx.parts, ctx.site);
  const target = thread === "" ? page : `${origin}/_svc/comments/${thread}`;
  const motivation = thread === "" ? "commenting" : "replying";
  await counted.unless(async () => {
    const sent = { text: checkText(text), target, motivation, canonical: null, quote: null, element: null } as const;
    await store(ctx, sent, who, author);
  });
  for (const cookie of cookies) ctx.exchange.setCookie(cookie);
}

async function send(ctx: Ctx, who: Who, fields: Fields): Promise<Response> {
  const page = await askedPage(ctx, fields.page ?? "/");
  if ((fields.website ?? "") !== "" || isTooFast(ctx, fields.stamp ?? "")) {
    const sentence = "Look over what you wrote, then send it once more.";
    return show(ctx, page, { sentence, thread_id: fields.thread ?? "", text: fields.text ?? "" });
  }
  try {
    await write(ctx, who, page, fields);
    return back(ctx, page);
  } catch (error) {
    return showRefusal(ctx, page, error, fields);
  }
}

/** That somebody gives a passcode is known by the body alone; in other modes nothing of it counts before who they are. */
export async function postView(ctx: Ctx): Promise<Response> {
  refuseForeign(ctx, true);
  const who = ctx.site.comments_mode === "passcode" ? null : await writer(ctx);
  const fields = await readForm(ctx.request, MOST_BYTES);
  if (fields.passcode !== undefined) return enter(ctx, await askedPage(ctx, fields.page ?? "/"), fields.passcode);
  return send(ctx, who ?? (await writer(ctx)), fields);
}
