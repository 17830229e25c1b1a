/** The comments of sites that go. */
import { type Op, statement } from "../operation.ts";

// In this order: a thread goes with its first comment.
const OF_SITE = [
  "webhook_outbox",
  "webhook_deliveries",
  "webhook_states",
  "comment_reports",
  "comment_events",
  "agent_tokens",
  "owner_codes",
  "passcode_networks",
  "comment_people",
  "comment_settings",
  "comments",
] as const;

const all = OF_SITE.map((table) => statement(`delete from ${table} where site_id = ?`));
const ofAccount = OF_SITE.map((table) =>
  statement(`delete from ${table} where site_id in (select site_id from sites where owner_account_id = ?)`),
);

/** In the transaction that deletes its row. */
function* removeComments(site_id: string): Op<void> {
  for (const remove of all) yield* remove.do(site_id);
}

/** Before its sites go. */
function* removeCommentsOf(account_id: string): Op<void> {
  for (const remove of ofAccount) yield* remove.do(account_id);
}

const KEYS = {
  webhook_outbox: "delivery_no",
  webhook_deliveries: "outcome_no",
  webhook_states: "site_id",
  comment_reports: "report_no",
  comment_events: "event_no",
  agent_tokens: "hash",
  owner_codes: "hash",
  passcode_networks: "network_hash",
  comment_people: "person_id",
  comment_settings: "site_id",
  comments: "comment_no",
} satisfies Record<(typeof OF_SITE)[number], string>;

const some = OF_SITE.map((table) => {
  const key = KEYS[table];
  return statement(
    `delete from ${table} where site_id = ?1 and ${key} in (select ${key} from ${table} where site_id = ?1 limit ?2)`,
  );
});

/** Removes at most `room` rows of a site that has expired; answers how many. */
function* removeSomeComments(site_id: string, room: number): Op<number> {
  let left = room;
  for (const remove of some) if (left > 0) left -= (yield* remove.run(site_id, left)).changes;
  return room - left;
}

/** Removes comments that no site or account has any more. */
export const goneComments = {
  remove: removeComments,
  removeOf: removeCommentsOf,
  removeSome: removeSomeComments,
};
