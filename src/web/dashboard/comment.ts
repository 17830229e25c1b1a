/** One comment as its owner reads it: who wrote it, when, what they said, what others reported, and what can be decided. */
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import type {
  Author,
  LetterOutcome,
  ListedDelivery,
  NoteCounts,
  QueueItem,
  StoredComment,
  Visibility,
  Webhook,
  WebhookState,
} from "../../store/notes.ts";
import { badge, button, csrfField, icon, linkButton, visuallyHidden, warningBox } from "../parts.ts";
import { count, figure } from "../../base/units.ts";
import { ago, isolated } from "../words.ts";
import { commentsPath, placeHref } from "./comment-lists.ts";

/** The buttons of a list of comments. */
export const DECISIONS = {
  approve: "Approve",
  reject: "Hide",
  "reject-visitor": "Hide all of this visitor",
  "reject-network": "Hide all of this network",
  resolve: "Resolve",
  reopen: "Reopen",
  delete: "Delete",
} as const;
export type Decision = keyof typeof DECISIONS;

const KINDS = { visitor: null, owner: badge("Owner", "live"), agent: badge("Agent") } as const;
const STATES: Record<Visibility, Html | null> = {
  public: null,
  pending: badge("To approve", "warn"),
  rejected: badge("Hidden", "bad"),
};

const byId = (id: string): string => `by-${id}`;

interface DecisionLook {
  decision: Decision;
  /** The id of the comment, whose first line says what the button is about. */
  id: string;
  label?: string;
  /** It is seldom done. */
  quiet?: boolean;
}

/** A button of the list's form, wherever it stands. */
export const decisionButton = ({ decision, id, label = DECISIONS[decision], quiet = false }: DecisionLook): Html =>
  button(label, {
    small: true,
    ...(quiet && { kind: "quiet" }),
    attributes: html`form="decide" name="${decision}" value="${id}" aria-describedby="${byId(id)}"`,
  });

/** The first letter of a name, for eyes alone. */
function face(by: Author | null): Html {
  const [first = "–"] = by === null ? [] : [...by.name.trim()];
  return html`<span class="initial${by?.kind === "owner" && " own"}" aria-hidden="true" dir="auto"
    >${first.toUpperCase()}</span
  >`;
}

function author(by: Author | null): Html {
  if (by === null) return html`<span class="dim">Deleted</span>`;
  return html`<span class="name" dir="auto">${by.kind === "owner" ? "You" : by.name}</span> ${KINDS[by.kind]}`;
}

const REASONS = { spam: "as spam", abuse: "as abuse", privacy: "for privacy", other: "for something else" } as const;

export type CommentReport = QueueItem["reports"][number];

/** More say no more than these. */
const SHOWN_REPORTS = 3;

const reportLine = ({ reason, text, created_at }: CommentReport, now: number): Html =>
  html`<p>
    <strong>Reported ${REASONS[reason]}</strong> ${ago(created_at, now)}${text && html`: “${isolated(text)}”`}
  </p>`;

/** The reports of a comment, where it stands, with the two decisions on them. */
const reportsOf = (id: string, { reports, now, may_decide }: SaidLook): Html | false =>
  reports.length > 0 &&
  html`<div class="reports">
    ${icon("warning")}
    <div>
      ${reports.slice(0, SHOWN_REPORTS).map((report) => reportLine(report, now))}
      ${reports.length > SHOWN_REPORTS && html`<p>and ${count(reports.length - SHOWN_REPORTS, "more report")}</p>`}
    </div>
    ${
      may_decide &&
      html`<span class="acts"
        >${decisionButton({ decision: "approve", id, label: "It is fine" })}
        ${decisionButton({ decision: "reject", id, label: "Hide it" })}</span
      >`
    }
  </div>`;

type ShownComment = Pick<StoredComment, "id" | "by" | "text" | "visibility" | "created_at"> & {
  edited_at?: string | null;
  /** Says that it is a reply, if its place does not show that. */
  reply?: boolean;
};

interface SaidLook {
  now: number;
  decisions: readonly Decision[];
  reports: readonly CommentReport[];
  may_decide: boolean;
}

/** Folded away: it reaches further than what is read here. */
const allOfTheirs = (id: string): Html =>
  html`<details class="all">
    <summary class="button quiet small" aria-describedby="${byId(id)}">More</summary>
    <div class="card">
      <p class="small dim">
        The network is the block of addresses that it came from: neighbours of theirs may write from it, too. What you
        hide stays in the list of hidden ones.
      </p>
      <div class="acts">
        ${decisionButton({ decision: "reject-visitor", id })} ${decisionButton({ decision: "reject-network", id })}
      </div>
    </div>
  </details>`;

/** One comment in its thread. */
export function saidItem(comment: ShownComment, look: SaidLook): Html {
  const { id, by, text, visibility, created_at, edited_at, reply } = comment;
  const { now, decisions } = look;
  const waits = decisions.includes("approve");
  const word = (decision: Decision) =>
    decision === "approve" && visibility === "rejected" ? { label: "Show again" } : {};
  return html`<li>
    ${face(by)}
    <p class="by" id="${byId(id)}">
      ${author(by)} ${reply && html`<span class="dim">replied</span>`} ${ago(created_at, now)}
      ${edited_at && html`<span class="dim">edited</span>`} ${STATES[visibility]}
    </p>
    ${text !== null && html`<p class="spoken" dir="auto">${text}</p>`}
    ${
      decisions.length > 0 &&
      html`<div class="do">
        ${decisions.map((decision) => decisionButton({ decision, id, ...word(decision), quiet: decision === "delete" || !waits }))}
        ${by?.kind === "visitor" && allOfTheirs(id)}
      </div>`
    }
    ${reportsOf(id, look)}
  </li>`;
}

const OUTCOMES: Record<LetterOutcome, Html> = {
  waiting: badge("Waiting"),
  delivered: badge("Taken", "live"),
  failed: badge("Not taken", "warn"),
  given_up: badge("Given up", "bad"),
};

const answered = ({ status, tries }: ListedDelivery): string =>
  `${status === null ? "no answer" : `answered ${status}`}, ${tries === 1 ? "one try" : `${figure(tries)} tries`}`;

function letterItem(letter: ListedDelivery, now: number): Html {
  const { id, type, at, outcome } = letter;
  const again = html`Send again${visuallyHidden(id)}`;
  return html`<li>
    <p class="by"><span class="name">${type}</span> ${OUTCOMES[outcome]} ${ago(at, now)}</p>
    <p class="small dim">${answered(letter)} · <code>${id}</code></p>
    ${outcome !== "waiting" && html`<p>${button(again, { small: true, attributes: html`name="letter" value="${id}"` })}</p>`}
  </li>`;
}

function webhookNotice({ ended_at, failing_since, last_error }: WebhookState, now: number): Html | null {
  if (ended_at !== null) {
    return warningBox(
      html`Its receiver answered 410 ${ago(ended_at, now)}: it is gone for good, and nothing is sent to it. To begin
      again, set a webhook anew: ${"svc comments webhook <url>"}.`,
    );
  }
  if (failing_since === null) return null;
  return warningBox(
    html`Its receiver stopped taking letters ${ago(failing_since, now)}: ${isolated(last_error ?? "")}`,
  );
}

interface WebhookLook {
  webhook: Webhook;
  state: WebhookState;
  deliveries: readonly ListedDelivery[];
  csrf: string;
  now: number;
}

/** The part of the page of a site's comments that shows how it goes with its webhook. */
export function webhookCard(site_id: string, { webhook, state, deliveries, csrf, now }: WebhookLook): Html {
  const { last_delivered_at, waiting, lost } = state;
  const last = last_delivered_at === null ? "nothing was taken yet" : html`last taken ${ago(last_delivered_at, now)}`;
  return html`<section class="card" aria-labelledby="webhook">
    <h2 id="webhook">Webhook</h2>
    <p class="small" dir="auto"><code>${webhook.url}</code></p>
    ${webhookNotice(state, now)}
    <p class="small dim">${figure(waiting)} waiting, ${figure(lost)} lost, ${last}.</p>
    ${
      deliveries.length > 0 &&
      html`<details class="history">
        <summary>Last letters</summary>
        <form method="post" action="${commentsPath(site_id)}/resend">
          ${csrfField(csrf)}
          <ul class="threads" role="list">
            ${deliveries.map((letter) => letterItem(letter, now))}
          </ul>
        </form>
      </details>`
    }
  </section>`;
}
