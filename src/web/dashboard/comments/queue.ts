/** Comments that wait for the owner, each with the passage that it is about. */
import { html, type Html } from "../../../html/template.ts";
import type { QueueItem, QueueState, StoredThread } from "../../../store/notes.ts";
import type { Site } from "../../../base/types.ts";
import type { SignedIn } from "../../who.ts";
import { commentBox, type Decision, reportsOf } from "./comment.ts";
import { passage, whereLine } from "./thread.ts";

const DECISIONS: Record<QueueState, readonly Decision[]> = {
  pending: ["approve", "reject", "delete"],
  reported: ["approve", "reject", "delete"],
  rejected: ["approve", "delete"],
};

interface Waiting {
  item: QueueItem;
  /** Null where nobody sees the thread any more. */
  thread: StoredThread | null;
  state: QueueState;
  may_decide: boolean;
}

export function queueItem(ctx: SignedIn, site: Site, { item, thread, state, may_decide }: Waiting): Html {
  const now = ctx.parts.now();
  const shown = { ...item, reply: item.id !== item.thread_id };
  const pinned = thread ?? { id: item.thread_id, page: item.page };
  return html`<li class="thread card">
    ${whereLine(ctx, site, pinned)} ${thread && passage(thread)}
    <div>${commentBox(shown, now, may_decide ? DECISIONS[state] : [], reportsOf(item.reports, now))}</div>
  </li>`;
}
