/** A thread as its owner reads and answers it: the page and passage that it is pinned to, what was said and reported, what was
 *  decided, and the box for a reply. Its buttons belong to the form of the whole list (`DECIDE`), so that the reply can be a
 *  form of its own. */
import type { Refusal } from "../../base/errors.ts";
import { randomKey } from "../../base/random.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { NoteEvent, QueueItem, QueueState, StoredComment, StoredThread, ThreadReport } from "../../store/notes.ts";
import { count } from "../../base/units.ts";
import { csrfOf } from "../frame.ts";
import { badge, button, csrfField, hiddenField, siteLink } from "../parts.ts";
import type { SignedIn } from "../who.ts";
import { ago, isolated, onDay } from "../words.ts";
import { type Decision, decisionButton, type CommentReport, saidItem } from "./comment.ts";
import { commentsPath, type ListPlace } from "./comment-lists.ts";
import { versionUrl } from "./site-versions.ts";

/** A thread, with all that its card shows besides. */
interface ThreadLook {
  thread: StoredThread;
  /** The page's title, or its path. */
  page_name: string;
  /** The passage went then (epoch milliseconds); null if it is there, or if nobody knows. */
  gone_at: number | null;
  events: readonly NoteEvent[];
  reports: readonly ThreadReport[];
}

export interface ThreadPlace {
  ctx: SignedIn;
  site: Site;
  here: ListPlace;
  /** Whether anything may be decided of it, and answered. */
  may_decide: boolean;
  /** The reply that was refused: the fields with what was typed. */
  refused?: { refusal: Refusal; sent: URLSearchParams } | undefined;
}

type Pinned = Pick<StoredThread, "id" | "page"> & Partial<StoredThread>;

function carriedBadge({ carried }: Pinned, gone_at: number | null, now: number): Html | null {
  if (carried === "edited") return badge("Passage changed", "warn");
  if (carried !== "lost") return null;
  if (gone_at === null) return badge("Passage gone", "warn");
  const since = onDay(new Date(gone_at).toISOString(), now);
  return html`<span class="badge warn">Passage gone since ${since}</span>`;
}

/** `8 comments`, `passage`, `whole page`. */
function kindOf({ quote, carried, comments = [] }: Pinned): string | null {
  if (quote === undefined) return null;
  const amount = comments.length > 1 ? count(comments.length, "comment") : null;
  if (quote === null) return amount === null ? "whole page" : `whole page, ${amount}`;
  return amount ?? (carried === "exact" ? "passage" : null);
}

/** The version that it was written on, where the live one has not the passage as it was. */
function writtenOn({ ctx, site }: ThreadPlace, { version_id, version_created_at, page, carried }: Pinned) {
  if (version_id === undefined || (carried !== "edited" && carried !== "lost")) return false;
  if (version_id === site.live_version_id) return false;
  const day = onDay(version_created_at!, ctx.parts.now());
  return html`<span class="dim">${siteLink(versionUrl(ctx, site, version_id) + page, html`as of ${day}`)}</span>`;
}

/** Everybody may read the thread on the page; else its owner goes there as owner. */
const isOpenToAll = ({ comments_mode }: Site, { comments = [] }: Pinned): boolean =>
  (comments_mode === "anonymous" || comments_mode === "approved") && comments[0]?.visibility === "public";

function showOnPage({ ctx, site }: ThreadPlace, pinned: Pinned): Html | false {
  const { id, page } = pinned;
  if (site.comments_mode === "off" || site.disabled_reason !== null) return false;
  const label = html`Show on the page`;
  if (!isOpenToAll(site, pinned)) {
    return button(label, {
      kind: "quiet",
      small: true,
      attributes: html`form="${AS_OWNER}" name="thread" value="${id}"`,
    });
  }
  const url = siteUrl(ctx.parts.config, site.slug);
  return siteLink(`${url}${page}#svc-${id}`, label, html`class="button quiet small"`);
}

/** The forms of a list of threads and of the way to the site. */
export const DECIDE = "decide";
export const AS_OWNER = "as-owner";

function whereLine(place: ThreadPlace, pinned: Pinned, look: Partial<ThreadLook>, decision: Decision | null): Html {
  const { ctx, site, may_decide } = place;
  const { page, id } = pinned;
  const [url, kind] = [siteUrl(ctx.parts.config, site.slug), kindOf(pinned)];
  return html`<div class="where">
    ${siteLink(`${url}${page}`, look.page_name, html`class="name" dir="auto"`)}
    ${kind !== null && html`<span class="dim">${kind}</span>`}
    ${carriedBadge(pinned, look.gone_at ?? null, ctx.parts.now())} ${writtenOn(place, pinned)}
    <span class="push"
      >${showOnPage(place, pinned)} ${may_decide && decision !== null && decisionButton({ decision, id })}</span
    >
  </div>`;
}

/** The passage; nothing for a thread about the whole page. */
const passage = ({ quote, carried }: Pick<StoredThread, "quote" | "carried">): Html | false =>
  quote !== null &&
  html`<blockquote class="passage${carried === "lost" && " gone"}" dir="auto">${quote.exact}</blockquote>`;

/** The decisions on a comment that was not reported. One that waits can be approved, unless it waits only with its root; each
 *  can be deleted. An erased comment is a gap and has no decisions. */
function decisionsOf({ text, visibility, by }: StoredComment): Decision[] {
  if (text === null) return [];
  if (by?.kind !== "visitor") return ["delete"];
  return visibility === "pending" ? ["approve", "reject", "delete"] : ["reject", "delete"];
}

const VERBS = {
  approved: "Approved",
  rejected: "Hidden",
  resolved: "Resolved",
  reopened: "Reopened",
  deleted: "Deleted",
} as const;

const eventLine = ({ action, by, note, created_at }: NoteEvent, now: number): Html =>
  html`<li>
    ${VERBS[action]} by
    ${by.kind === "owner" ? "you" : isolated(by.name)}${by.kind === "agent" && html` ${badge("Agent")}`}
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

/** The middle of a longer thread is folded: the question, the first answers and the last word stay in sight. */
const UNFOLDED = { replies: 4, first: 3, last: 1 };

interface SaidComment {
  item: Html;
  /** It waits for its owner, who must not have to look for it. */
  waits: boolean;
}

const saidList = (said: readonly SaidComment[]): Html =>
  html`<ol class="says" role="list">
    ${said.map(({ item }) => item)}
  </ol>`;

function talk(said: readonly SaidComment[]): Html {
  if (said.length - 1 <= UNFOLDED.replies) return saidList(said);
  const middle = said.slice(UNFOLDED.first, -UNFOLDED.last);
  return html`${saidList(said.slice(0, UNFOLDED.first))}
    <details class="more" ${middle.some(({ waits }) => waits) && html`open`}>
      <summary>Show ${middle.length === 1 ? "1 more reply" : `${middle.length} more replies`}</summary>
      ${saidList(middle)}
    </details>
    ${saidList(said.slice(-UNFOLDED.last))}`;
}

/** The name stands in an attribute: these two characters keep its direction to itself. */
const apart = (name: string): string => `\u2068${name}\u2069`;

function replyLabel({ comments }: StoredThread): string {
  const by = comments.findLast(({ by }) => by !== null && by.kind !== "owner")?.by;
  return by ? `Reply to ${apart(by.name)} as Owner…` : "Reply as Owner…";
}

function replyForm({ ctx, site, here, refused }: ThreadPlace, thread: StoredThread): Html {
  const mine = refused?.sent.get("thread") === thread.id;
  const label = replyLabel(thread);
  // One press is one reply, however often it is sent.
  return html`<form class="reply" method="post" action="${commentsPath(site.site_id)}/${thread.id}/reply">
    ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${hiddenField("cursor", here.cursor)}
    ${hiddenField("thread", thread.id)} ${hiddenField("key", randomKey(16))}
    <textarea
      class="field"
      name="text"
      rows="1"
      required
      dir="auto"
      aria-label="${label.replace("…", "")}"
      placeholder="${label}"
      ${mine && html`aria-invalid="true" aria-describedby="problem" autofocus`}
    >
${mine && refused!.sent.get("text")}</textarea>
    ${button("Reply")}
  </form>`;
}

/** A thread of the lists of threads. */
export function threadItem(place: ThreadPlace, look: ThreadLook): Html {
  const { thread, events, reports } = look;
  const { may_decide, ctx } = place;
  const now = ctx.parts.now();
  const said = thread.comments.map((comment): SaidComment => {
    const about: CommentReport[] = reports.filter(({ comment_id }) => comment_id === comment.id);
    const decisions = may_decide ? decisionsOf(comment) : [];
    const item = saidItem(comment, { now, decisions, reports: about, may_decide });
    return { item, waits: about.length > 0 || comment.visibility === "pending" };
  });
  return html`<li class="thread card" id="${thread.id}">
    ${whereLine(place, thread, look, thread.status === "open" ? "resolve" : "reopen")} ${passage(thread)} ${talk(said)}
    ${history(events, now)} ${may_decide && replyForm(place, thread)}
  </li>`;
}

/** The decisions on a comment that waits for its owner. */
const DECISIONS: Record<QueueState, readonly Decision[]> = {
  pending: ["approve", "reject", "delete"],
  reported: ["delete"],
  rejected: ["approve", "delete"],
};

interface QueueLook {
  item: QueueItem;
  /** Null if the thread is hidden from everybody. */
  thread: StoredThread | null;
  state: QueueState;
  page_name: string;
}

/** A comment of the queues, with the passage that it is about. */
export function queueItem(place: ThreadPlace, { item, thread, state, page_name }: QueueLook): Html {
  const pinned = thread ?? { id: item.thread_id, page: item.page };
  const { may_decide, ctx } = place;
  const shown = { ...item, reply: item.id !== item.thread_id };
  const how = {
    now: ctx.parts.now(),
    decisions: may_decide ? DECISIONS[state] : [],
    reports: item.reports,
    may_decide,
  };
  return html`<li class="thread card">
    ${whereLine(place, pinned, { page_name }, null)} ${thread && passage(thread)}
    ${saidList([{ item: saidItem(shown, how), waits: true }])}
  </li>`;
}
