/** A site's comments in the dashboard. `/dashboard/sites/<site_id>/comments`: what visitors wrote on a site's pages, and
 *  who may (WEB 7). */
import type { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { CommentsMode, Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { isTrustworthy, siteUrl } from "../../http/hosts.ts";
import type { CommentSettings, NoteCounts, QueueState, Status, StoredThread } from "../../store/notes.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, button, command, csrfField, field, hiddenField, icon, radios, warningBox } from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { accessSection } from "./access.ts";
import { ownSite } from "./pages.ts";
import { answerSitePage, factsOf } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";
import { webhookCard } from "./comment.ts";
import {
  commentsPath,
  type ListPlace,
  LISTS,
  listsNav,
  nextPlace,
  pageNames,
  placeOf,
  placesNav,
  rowOf,
  type Show,
} from "./comment-lists.ts";
import { AS_OWNER, DECIDE, queueItem, threadItem, type ThreadPlace } from "./thread.ts";

const PER_PAGE = 20;

/** A form of the page that was refused. */
interface Refused {
  refusal: Refusal;
  sent: URLSearchParams;
}

interface ListedThreads {
  items: Html[];
  next: number | null;
}

/** The time at which the passage of a lost thread was on the page last. */
const goneAt = async ({ parts }: SignedIn, { site_id }: Site, { carried, place }: StoredThread) =>
  carried === "lost" && place !== null ? parts.store.versions.leftAt(site_id, place.version_id) : null;

async function listThreads(place: ThreadPlace, status: Status, after: number | null): Promise<ListedThreads> {
  const { ctx, site } = place;
  const { notes } = ctx.parts.store;
  const asked = { page: null, status, since: null, after, limit: PER_PAGE };
  const { threads, next } = await notes.threads(site.site_id, { kind: "owner" }, asked);
  const ids = threads.map(({ id }) => id);
  const [names, reports] = await Promise.all([
    pageNames(ctx, site, threads.map(({ page }) => page)), // prettier-ignore
    notes.reportsIn(site.site_id, ids),
  ]);
  const told = threads.map(async (thread) => {
    const [events, gone_at] = [await notes.history(site.site_id, thread.id), await goneAt(ctx, site, thread)];
    return threadItem(place, { thread, events, gone_at, reports, page_name: names.get(thread.page)! });
  });
  return { items: await Promise.all(told), next };
}

async function listQueue(place: ThreadPlace, state: QueueState, after: number | null): Promise<ListedThreads> {
  const { ctx, site } = place;
  const { notes } = ctx.parts.store;
  const { items, next } = await notes.queue(site.site_id, state, after, PER_PAGE);
  const names = await pageNames(ctx, site, items.map(({ page }) => page)); // prettier-ignore
  const told = items.map(async (item) => {
    const found = await notes.find(site.site_id, item.thread_id, { kind: "owner" });
    const thread = found === null || found === "deleted" ? null : found.thread;
    return queueItem(place, { item, thread, state, page_name: names.get(item.page)! });
  });
  return { items: await Promise.all(told), next };
}

function listOf(place: ThreadPlace): Promise<ListedThreads> {
  const { ctx, site, here } = place;
  const after = rowOf(ctx.parts.comments.keys.cursor, site.site_id, here);
  const { show } = here;
  return show === "open" || show === "resolved" ? listThreads(place, show, after) : listQueue(place, show, after);
}

const NOTHING: Record<Show, readonly [heading: string, sentence: string]> = {
  open: ["No open threads", "Select a passage on the site and press Comment: the thread appears here at once."],
  resolved: ["Nothing is resolved yet", "A thread that you resolve goes from the list of open ones to this one."],
  pending: ["Nothing waits for you", "What needs your approval before others see it appears here."],
  reported: [
    "Nothing was reported",
    "What visitors report appears here until you say that it is fine, hide or delete it.",
  ],
  rejected: ["Nothing is hidden", "Nobody sees what you hide; it is listed here."],
};

const emptyList = (show: Show): Html =>
  html`<div class="card empty">
    ${icon("comment", 40)}
    <h2>${NOTHING[show][0]}</h2>
    <p>${NOTHING[show][1]}</p>
  </div>`;

const neverOn = (ctx: SignedIn, { site_id }: Site): Html =>
  html`<div class="card empty">
    ${icon("comment", 40)}
    <h2>Comments are off</h2>
    <p>
      Turn them on, and visitors pin threads to passages of your pages. Anyone may write, and everybody sees it at once;
      you can change that.
    </p>
    <form method="post" action="${commentsPath(site_id)}/settings">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("mode", "anonymous")} ${button("Turn on comments", { kind: "primary" })}
    </form>
    <p class="dim small">From a terminal:</p>
    ${command("enable-comments", `svc comments enable --site ${site_id}`)}
  </div>`;

const list = ({ ctx, site: { site_id }, here }: ThreadPlace, { items, next }: ListedThreads): Html =>
  html`<form method="post" action="${commentsPath(site_id)}/decide" id="${DECIDE}">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${hiddenField("cursor", here.cursor)}
    </form>
    <h2 class="hidden">${LISTS[here.show]}</h2>
    <ul class="threads" role="list" aria-label="${LISTS[here.show]}">
      ${items}
    </ul>
    ${placesNav(site_id, here, nextPlace(ctx.parts.comments.keys.cursor, site_id, here.show, next))}`;

/** There is nothing to read, and one thing to do: to turn comments on. */
const isUnused = ({ comments_mode }: Site, counts: NoteCounts): boolean =>
  comments_mode === "off" && Object.values(counts).every((amount) => amount === 0);

async function threadsSection(place: ThreadPlace, counts: NoteCounts): Promise<Html> {
  const { ctx, site, here } = place;
  if (isUnused(site, counts)) return neverOn(ctx, site);
  const listed = await listOf(place);
  return html`${listsNav(site.site_id, here.show, counts)}
  ${listed.items.length === 0 ? emptyList(here.show) : list(place, listed)}`;
}

/** The form that opens the site itself as its owner, on the newest open thread; buttons of threads belong to it, too. */
async function ownerCard(ctx: SignedIn, { site_id }: Site): Promise<Html> {
  const asked = { page: null, status: "open", since: null, after: null, limit: 1 } as const;
  const [newest] = (await ctx.parts.store.notes.threads(site_id, { kind: "owner" }, asked)).threads;
  return html`<section class="card" aria-labelledby="on-the-page">
    <h2 id="on-the-page">On the page itself</h2>
    <p class="small dim">For one hour this browser may answer, approve and resolve beside the text.</p>
    <form method="post" action="${commentsPath(site_id)}/owner" id="${AS_OWNER}">
      ${csrfField(csrfOf(ctx)!)}
      ${button("Open as owner", { small: true, attributes: html`name="thread" value="${newest?.id}"` })}
    </form>
  </section>`;
}

const offNotice = (): Html =>
  warningBox("Comments are off: nobody sees these threads. Turn comments on to decide on them.");

/** The webhook and its last letters; null if the site has none. */
async function webhookSection(ctx: SignedIn, { site_id }: Site, { webhook }: CommentSettings): Promise<Html | null> {
  if (webhook === null) return null;
  const { notes } = ctx.parts.store;
  const [state, deliveries] = await Promise.all([notes.webhookState(site_id), notes.deliveries(site_id)]);
  return webhookCard(site_id, { webhook, state, deliveries, csrf: csrfOf(ctx)!, now: ctx.parts.now() });
}

/** The page, also after a form of it was refused. */
export async function commentsPage(ctx: SignedIn, site: Site, refused?: Refused): Promise<Response> {
  const state = siteState(site, ctx.parts.now());
  const is_on = site.comments_mode !== "off";
  const here = placeOf(refused?.sent ?? ctx.query);
  const settings = await ctx.parts.store.notes.settings(site);
  const facts = await factsOf(ctx, site);
  const place = { ctx, site, here, may_decide: is_on && state === "live", refused };
  const threads = await threadsSection(place, facts.notes);
  const body = html`${alertBox(refused?.refusal)} ${heldNotice(ctx, site)} ${cookieWarning(ctx, site)}
    ${!is_on && !isUnused(site, facts.notes) && offNotice()}
    <div class="two comments">
      <div class="stack tight">${threads}</div>
      <div class="side">
        ${commentSettings(ctx, { site, settings, here, ...refused, sent: refused?.sent, refusal: refused?.refusal })}
        ${is_on && state !== "disabled" && (await ownerCard(ctx, site))} ${await accessSection(ctx, site, settings)}
        ${await webhookSection(ctx, site, settings)}
      </div>
    </div>`;
  const has_primary = isUnused(site, facts.notes);
  return answerSitePage(ctx, site, { tab: "comments", facts, body, has_primary, refusal: refused?.refusal });
}

/** `GET …/comments?show=&cursor=&done=`. */
export const showComments = accountPage(async (ctx) => commentsPage(ctx, await ownSite(ctx)));

/** Whether visitors may comment on a site, and who reads it: the form (WEB 7). */
const MODES: readonly [mode: CommentsMode, label: string, hint?: string][] = [
  ["anonymous", "Anyone, shown at once", "Names are chosen by visitors."],
  ["approved", "Anyone, shown once you approve"],
  ["passcode", "People with a passcode", "It guards the comments, not the pages."],
  ["off", "Off", "Threads are kept, nobody sees them."],
];

const PASSCODE_HINT = "At least 8 characters. A new one locks out everybody who knows the old one.";

/** The stylesheet shows it while that mode is chosen. */
const passcodeField = (is_set: boolean, refusal: Refusal | undefined): Html =>
  html`<div class="of-passcode">
    ${field({
      name: "passcode",
      label: is_set ? "New passcode" : "Passcode",
      type: "password",
      refusal,
      hint: is_set ? `One is set, and is never shown again. ${PASSCODE_HINT}` : PASSCODE_HINT,
      attributes: html`autocomplete="new-password"`,
    })}
  </div>`;

interface Settings {
  site: Site;
  settings: CommentSettings;
  here: ListPlace;
  /** The values of the form that was refused. */
  sent: URLSearchParams | undefined;
  refusal: Refusal | undefined;
}

function commentSettings(ctx: SignedIn, { site, settings, here, sent, refusal }: Settings): Html {
  const mode = sent?.get("mode") ?? settings.mode;
  const choices = MODES.map(([value, label, hint]) => {
    return { name: "mode", value, label, checked: value === mode, ...(hint && { hint }) };
  });
  return html`<section class="card who" aria-label="Who may write">
    <form class="fields" method="post" action="${commentsPath(site.site_id)}/settings">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${radios("Who may write", choices, refusal)}
      ${passcodeField(settings.passcode_hash !== null, refusal)} ${button("Save", { wide: true })}
    </form>
  </section>`;
}

/** Browsers keep visitors' cookies on https and on localhost alone (COMMENTS, ruling 9). */
function cookieWarning({ parts }: SignedIn, { slug, comments_mode }: Site): Html | null {
  const url = siteUrl(parts.config, slug);
  if (comments_mode === "off" || isTrustworthy(url)) return null;
  return warningBox(
    html`Visitors can read comments and cannot write any: browsers keep their identity over https alone, and ${url} is
    not. Serve the sites over https.`,
  );
}
