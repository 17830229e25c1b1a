/** A site's comments in the dashboard. `/dashboard/sites/<site_id>/comments`: what visitors wrote on a site's pages, and
 *  who may (WEB 7). */
import type { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { CommentsMode, Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { isTrustworthy, siteUrl } from "../../http/hosts.ts";
import type {
  CommentSettings,
  NoteCounts,
  NoteEvent,
  QueueItem,
  QueueState,
  Status,
  StoredComment,
  StoredThread,
} from "../../store/notes.ts";
import { answerPage, csrfOf } from "../frame.ts";
import {
  alertBox,
  badge,
  button,
  command,
  csrfField,
  field,
  hiddenField,
  icon,
  linkButton,
  radios,
  siteLink,
  warningBox,
} from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { ago, isolated } from "../words.ts";
import { accessSection } from "./access.ts";
import { nameOf, ownSite, pathOfSite } from "./pages.ts";
import { heldNotice } from "./state-badges.ts";
import { commentBox, type Decision, decisionButton, reportsOf, webhookCard } from "./comment.ts";
import {
  commentsPath,
  type ListPlace,
  LISTS,
  listsNav,
  nextPlace,
  placeOf,
  placesNav,
  rowOf,
  type Show,
} from "./comment-lists.ts";
import { decodePath } from "../../base/percent.ts";
import { versionUrl } from "./site-versions.ts";

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

async function listThreads(ctx: SignedIn, site: Site, status: Status, after: number | null, may_decide: boolean) {
  const { notes } = ctx.parts.store;
  const asked = { page: null, status, since: null, after, limit: PER_PAGE };
  const { threads, next } = await notes.threads(site.site_id, { kind: "owner" }, asked);
  const told = threads.map(async (thread) => {
    const events = await notes.history(site.site_id, thread.id);
    return threadItem(ctx, site, { thread, events, may_decide });
  });
  return { items: await Promise.all(told), next };
}

async function listQueue(ctx: SignedIn, site: Site, state: QueueState, after: number | null, may_decide: boolean) {
  const { notes } = ctx.parts.store;
  const { items, next } = await notes.queue(site.site_id, state, after, PER_PAGE);
  const told = items.map(async (item) => {
    const found = await notes.find(site.site_id, item.thread_id, { kind: "owner" });
    const thread = found === null || found === "deleted" ? null : found.thread;
    return queueItem(ctx, site, { item, thread, state, may_decide });
  });
  return { items: await Promise.all(told), next };
}

const listOf = (ctx: SignedIn, site: Site, here: ListPlace, may_decide: boolean): Promise<ListedThreads> => {
  const after = rowOf(ctx.parts.comments.keys.cursor, site.site_id, here);
  const { show } = here;
  return show === "open" || show === "resolved"
    ? listThreads(ctx, site, show, after, may_decide)
    : listQueue(ctx, site, show, after, may_decide);
};

const NOTHING: Record<Show, readonly [heading: string, sentence: string]> = {
  open: ["No open threads", "Select a passage on the site and press Comment: the thread appears here at once."],
  resolved: ["Nothing is resolved yet", "A thread that you resolve goes from the list of open ones to this one."],
  pending: ["Nothing waits for you", "What needs your approval before others see it appears here."],
  reported: ["Nothing was reported", "What visitors report appears here until you approve, reject or delete it."],
  rejected: ["Nothing was rejected", "Nobody sees what you reject; it is listed here."],
};

const emptyList = (show: Show): Html =>
  html`<div class="card empty">
    ${icon("comment", 40)}
    <h2>${NOTHING[show][0]}</h2>
    <p>${NOTHING[show][1]}</p>
  </div>`;

const neverOn = ({ site_id }: Site): Html =>
  html`<div class="card empty">
    ${icon("comment", 40)}
    <h2>Comments are off</h2>
    <p>Turn them on, and visitors pin threads to passages of your pages.</p>
    <p class="dim small">From a terminal:</p>
    ${command("enable-comments", `svc comments enable --site ${site_id}`)}
  </div>`;

const list = (ctx: SignedIn, { site_id }: Site, here: ListPlace, { items, next }: ListedThreads): Html =>
  html`<form method="post" action="${commentsPath(site_id)}/decide">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${hiddenField("cursor", here.cursor)}
      <h2 class="hidden">${LISTS[here.show]}</h2>
      <ul class="threads" role="list" aria-label="${LISTS[here.show]}">
        ${items}
      </ul>
    </form>
    ${placesNav(site_id, here, nextPlace(ctx.parts.comments.keys.cursor, site_id, here.show, next))}`;

const isNone = (counts: NoteCounts): boolean => Object.values(counts).every((amount) => amount === 0);

async function threadsSection(ctx: SignedIn, site: Site, here: ListPlace, may_decide: boolean): Promise<Html> {
  const counts = await ctx.parts.store.notes.counts(site.site_id);
  if (site.comments_mode === "off" && isNone(counts)) return neverOn(site);
  const listed = await listOf(ctx, site, here, may_decide);
  return html`${listsNav(site.site_id, here.show, counts)}
  ${listed.items.length === 0 ? emptyList(here.show) : list(ctx, site, here, listed)}`;
}

/** The form that opens the site itself as its owner. */
const ownerForm = (ctx: SignedIn, { site_id }: Site): Html =>
  html`<form method="post" action="${commentsPath(site_id)}/owner">
    ${csrfField(csrfOf(ctx)!)} ${button("Open on the site as owner", { kind: "primary" })}
  </form>`;

function head(ctx: SignedIn, site: Site, can_open: boolean): Html {
  const url = siteUrl(ctx.parts.config, site.slug);
  return html`<div class="pagehead">
    <div>
      <p class="small dim">${isolated(nameOf(site))}</p>
      <h1>Comments</h1>
      <p class="facts">${siteLink(url)}</p>
    </div>
    <div class="actions">
      ${linkButton(pathOfSite(site.site_id), "Back to the site")} ${can_open && ownerForm(ctx, site)}
    </div>
  </div>`;
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
  const threads = await threadsSection(ctx, site, here, is_on && state === "live");
  const body = html`${head(ctx, site, is_on && state !== "disabled")} ${alertBox(refused?.refusal)}
    ${heldNotice(ctx, site)} ${cookieWarning(ctx, site)} ${!is_on && settings.last_mode !== null && offNotice()}
    <div class="two comments">
      <div class="stack tight">${threads}</div>
      <div class="side">
        ${commentSettings(ctx, { site, settings, here, ...refused, sent: refused?.sent, refusal: refused?.refusal })}
        ${await accessSection(ctx, site, settings)} ${await webhookSection(ctx, site, settings)}
      </div>
    </div>`;
  return answerPage(ctx, {
    title: `Comments on ${nameOf(site)}`,
    body,
    current: "sites",
    width: "list",
    scripts: ["copy"],
    refusal: refused?.refusal,
  });
}

/** `GET …/comments?show=&cursor=&done=`. */
export const showComments = accountPage(async (ctx) => commentsPage(ctx, await ownSite(ctx)));

/** Comments that wait for the owner, each with the passage that it is about. */
const DECISIONS: Record<QueueState, readonly Decision[]> = {
  pending: ["approve", "reject", "delete"],
  reported: ["approve", "reject", "delete"],
  rejected: ["approve", "delete"],
};

interface Waiting {
  item: QueueItem;
  /** Null if the thread is hidden from everybody. */
  thread: StoredThread | null;
  state: QueueState;
  may_decide: boolean;
}

function queueItem(ctx: SignedIn, site: Site, { item, thread, state, may_decide }: Waiting): Html {
  const now = ctx.parts.now();
  const shown = { ...item, reply: item.id !== item.thread_id };
  const pinned = thread ?? { id: item.thread_id, page: item.page };
  return html`<li class="thread card">
    ${whereLine(ctx, site, pinned)} ${thread && passage(thread)}
    <div>${commentBox(shown, now, may_decide ? DECISIONS[state] : [], reportsOf(item.reports, now))}</div>
  </li>`;
}

/** Whether visitors may comment on a site, and who reads it: the form (WEB 7). */
const MODES: readonly [mode: CommentsMode, label: string, hint: string][] = [
  ["off", "Off", "Threads are kept, and nobody sees them."],
  ["anonymous", "Anonymous", "Anyone reads and writes. What is written shows at once."],
  ["passcode", "Passcode", "Everyone who knows the passcode reads and writes. It guards the comments, not the pages."],
  ["approved", "Approved", "Anyone reads and writes. What is written shows once you approve it."],
];

const PASSCODE_HINT = "At least 8 characters. A new one locks out everybody who knows the old one.";

const passcodeField = (is_set: boolean, refusal: Refusal | undefined): Html =>
  field({
    name: "passcode",
    label: is_set ? "New passcode" : "Passcode",
    type: "password",
    refusal,
    hint: is_set ? `One is set, and is never shown again. ${PASSCODE_HINT}` : PASSCODE_HINT,
    attributes: html`autocomplete="new-password"`,
  });

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
  const choices = MODES.map(([value, label, hint]) => ({ name: "mode", value, label, hint, checked: value === mode }));
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <form class="fields" method="post" action="${commentsPath(site.site_id)}/settings">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${radios("Comments", choices, refusal)}
      ${passcodeField(settings.passcode_hash !== null, refusal)} ${button("Save settings", { wide: true })}
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

// A thread as its owner reads it: the passage it is pinned to, what was said, what was decided.

const PASSAGE = { exact: null, edited: badge("Passage changed", "warn"), lost: badge("Passage gone", "warn") } as const;

/** The path in readable letters; an address that cannot be decoded is shown as it is. */
const readable = (page: string): string => decodePath(page) ?? page;

type Pinned = Pick<StoredThread, "id" | "page"> & Partial<Pick<StoredThread, "version_id" | "carried" | "quote">>;

/** The page, with the thread opened on it, and the version that it was written on. */
function whereLine(ctx: SignedIn, site: Site, { id, page, version_id, carried, quote }: Pinned): Html {
  const now_at = `${siteUrl(ctx.parts.config, site.slug)}${page}#svc-${id}`;
  return html`<p class="where">
    ${siteLink(now_at, readable(page), html`class="name" dir="auto"`)}
    ${
      version_id !== undefined &&
      html`<span class="dim"
        >written on ${siteLink(versionUrl(ctx, site, version_id) + page, html`<code>${version_id}</code>`)}</span
      >`
    }
    ${quote === null && html`<span class="dim">the whole page</span>`} ${carried && PASSAGE[carried]}
  </p>`;
}

/** The passage; nothing for a thread about the whole page. */
const passage = ({ quote }: Pick<StoredThread, "quote">): Html | false =>
  quote !== null && html`<blockquote class="passage" dir="auto">${quote.exact}</blockquote>`;

/** The decisions on a comment. One that waits can be approved, unless it waits only with its root; each can be deleted.
 *  An erased comment is a gap and has no decisions. */
function decisionsOf({ text, visibility, by }: StoredComment): Decision[] {
  if (text === null) return [];
  if (by?.kind !== "visitor") return ["delete"];
  return visibility === "pending" ? ["approve", "reject", "delete"] : ["reject", "delete"];
}

const VERBS = {
  approved: "Approved",
  rejected: "Rejected",
  resolved: "Resolved",
  reopened: "Reopened",
  deleted: "Deleted",
} as const;

const eventLine = ({ action, by, note, created_at }: NoteEvent, now: number): Html =>
  html`<li>
    ${VERBS[action]} by ${isolated(by.name)}${by.kind === "agent" && html` ${badge("Agent")}`}
    ${ago(created_at, now)}${note !== null && html`: ${isolated(note)}`}
  </li>`;

const history = (events: readonly NoteEvent[], now: number): Html | false =>
  events.length > 0 &&
  html`<details class="history">
    <summary>What was decided</summary>
    <ul class="bullets small dim">
      ${events.map((event) => eventLine(event, now))}
    </ul>
  </details>`;

interface ThreadLook {
  thread: StoredThread;
  events: readonly NoteEvent[];
  /** Whether anything may be decided of it. */
  may_decide: boolean;
}

function threadItem(ctx: SignedIn, site: Site, { thread, events, may_decide }: ThreadLook): Html {
  const now = ctx.parts.now();
  const { id, status, comments } = thread;
  return html`<li class="thread card">
    <div class="pinned">
      ${whereLine(ctx, site, thread)}
      ${may_decide && html`<p>${decisionButton(status === "open" ? "resolve" : "reopen", id)}</p>`}
    </div>
    ${passage(thread)}
    <ol class="talk" role="list" aria-label="Comments">
      ${comments.map((one) => html`<li>${commentBox(one, now, may_decide ? decisionsOf(one) : [])}</li>`)}
    </ol>
    ${history(events, now)}
  </li>`;
}
