/** A thread as its owner reads it: the passage it is pinned to, what was said, what was decided. */
import { html, type Html } from "../../../html/template.ts";
import { siteUrl } from "../../../http/hosts.ts";
import { decodePath } from "../../../base/percent.ts";
import type { NoteEvent, StoredComment, StoredThread } from "../../../store/notes.ts";
import type { Site } from "../../../base/types.ts";
import { badge, siteLink } from "../../parts.ts";
import type { SignedIn } from "../../who.ts";
import { ago, isolated } from "../../words.ts";
import { versionUrl } from "../site-versions.ts";
import { commentBox, type Decision, decisionButton } from "./comment.ts";

const PASSAGE = { exact: null, edited: badge("Passage changed", "warn"), lost: badge("Passage gone", "warn") } as const;

/** The path in readable letters; an address that cannot be decoded is shown as it is. */
const readable = (page: string): string => decodePath(page) ?? page;

type Pinned = Pick<StoredThread, "id" | "page"> & Partial<Pick<StoredThread, "version_id" | "carried" | "quote">>;

/** The page, with the thread opened on it, and the version that it was written on. */
export function whereLine(ctx: SignedIn, site: Site, { id, page, version_id, carried, quote }: Pinned): Html {
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
export const passage = ({ quote }: Pick<StoredThread, "quote">): Html | false =>
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
    ${VERBS[action]} by ${isolated(by.name)} ${ago(created_at, now)}${note !== null && html`: ${isolated(note)}`}
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

export function threadItem(ctx: SignedIn, site: Site, { thread, events, may_decide }: ThreadLook): Html {
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
