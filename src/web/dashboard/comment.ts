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
import { badge, button, csrfField, linkButton, visuallyHidden, warningBox } from "../parts.ts";
import { count, figure } from "../browser/wording.ts";
import { ago, isolated } from "../words.ts";
import { commentsPath, placeHref } from "./comment-lists.ts";

/** The buttons of a list of comments. */
export const DECISIONS = {
  approve: "Approve",
  reject: "Reject",
  "reject-visitor": "Reject all of this visitor",
  "reject-network": "Reject all of this network",
  resolve: "Resolve",
  reopen: "Reopen",
  delete: "Delete",
} as const;
export type Decision = keyof typeof DECISIONS;

const KINDS = { visitor: null, owner: badge("Owner", "live"), agent: badge("Agent") } as const;
const STATES: Record<Visibility, Html | null> = {
  public: null,
  pending: badge("Awaiting approval", "warn"),
  rejected: badge("Rejected", "bad"),
};

const byId = (id: string): string => `by-${id}`;

/** `id`: of the comment, whose first line says what the button is about. `quiet`: what is seldom done. */
export const decisionButton = (decision: Decision, id: string, quiet = false): Html =>
  button(DECISIONS[decision], {
    small: true,
    ...(quiet && { kind: "quiet" }),
    attributes: html`name="${decision}" value="${id}" aria-describedby="${byId(id)}"`,
  });

const author = (by: Author | null): Html =>
  by === null ? html`<span class="dim">Deleted</span>` : html`<span class="name" dir="auto">${by.name}</span>`;

const REASONS = { spam: "Spam", abuse: "Abuse", privacy: "Privacy", other: "Something else" } as const;

type Report = QueueItem["reports"][number];

const reportLine = ({ reason, text, created_at }: Report, now: number): Html =>
  html`<li>
    <strong>${REASONS[reason]}</strong> · ${ago(created_at, now)}${text !== null && html`: ${isolated(text)}`}
  </li>`;

export const reportsOf = (reports: readonly Report[], now: number): Html | false =>
  reports.length > 0 &&
  html`<div class="reports">
    <p class="small">Reported by visitors:</p>
    <ul class="bullets small">
      ${reports.map((report) => reportLine(report, now))}
    </ul>
  </div>`;

type ShownComment = Pick<StoredComment, "id" | "by" | "text" | "visibility" | "created_at"> & {
  edited_at?: string | null;
  /** Says that it is a reply, if its place does not show that. */
  reply?: boolean;
};

/** Folded away: it reaches further than what is read here. */
const allOfTheirs = (id: string): Html =>
  html`<details class="all">
    <summary class="small dim">All of theirs</summary>
    <p class="small dim">
      The network is the block of addresses that it came from: neighbours of theirs may write from it, too. What you
      reject stays in the list of rejected ones.
    </p>
    <div class="acts">${decisionButton("reject-visitor", id)} ${decisionButton("reject-network", id)}</div>
  </details>`;

/** `more` goes between the text and the buttons. */
export function commentBox(
  comment: ShownComment,
  now: number,
  decisions: readonly Decision[],
  more?: Html | false,
): Html {
  const { id, by, text, visibility, created_at, edited_at, reply } = comment;
  const waits = decisions.includes("approve");
  return html`<p class="by" id="${byId(id)}">
      ${author(by)} ${by && KINDS[by.kind]} ${reply && html`<span class="dim">replied</span>`} ${ago(created_at, now)}
      ${edited_at && html`<span class="dim">edited</span>`} ${STATES[visibility]}
    </p>
    ${text !== null && html`<p class="spoken" dir="auto">${text}</p>`} ${more}
    ${decisions.length > 0 && html`<div class="acts">${decisions.map((one) => decisionButton(one, id, one === "delete" || !waits))}</div>`}
    ${decisions.length > 0 && by?.kind === "visitor" && allOfTheirs(id)}`;
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
