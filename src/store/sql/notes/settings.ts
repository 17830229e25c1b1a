/** The settings of a site's comments. */
import { Refusal } from "../../../base/errors.ts";
import type { WriteBy } from "../../changes.ts";
import type { CommentSettings, SettingsChange, Webhook } from "../../notes.ts";
import type { CommentsMode, Site } from "../../../base/types.ts";
import { type Op, statement } from "../db.ts";
import { settableSite } from "../permission.ts";

interface Row {
  last_mode: Exclude<CommentsMode, "off">;
  passcode_hash: string | null;
  passcode_epoch: number;
  webhook: string | null;
}

const read = statement<Row>(
  "select last_mode, passcode_hash, passcode_epoch, webhook from comment_settings where site_id = ?",
);

const NEVER_ON = { last_mode: null, passcode_hash: null, passcode_epoch: 0, webhook: null };

export function* settingsOf({ site_id, comments_mode }: Pick<Site, "site_id" | "comments_mode">): Op<CommentSettings> {
  const row = (yield* read.get(site_id)) ?? NEVER_ON;
  return { ...row, mode: comments_mode, webhook: row.webhook === null ? null : (JSON.parse(row.webhook) as Webhook) };
}

const write = statement(
  `insert into comment_settings (site_id, last_mode, passcode_hash, passcode_epoch, webhook) values (?1, ?2, ?3, ?4, ?5)
   on conflict (site_id) do update set last_mode = ?2, passcode_hash = ?3, passcode_epoch = ?4, webhook = ?5`,
);
const setMode = statement<Site>(
  "update sites set comments_mode = ?2, comments_changes = comments_changes + 1 where site_id = ?1 returning *",
);

const passcodeMissing = (): Refusal =>
  new Refusal("invalid_input", "Mode passcode needs a passcode: send one of at least 8 characters.", {
    field: "passcode",
  });

/** A mode that cannot be entered leaves all as it was. */
export function* configure(
  site_id: string,
  by: WriteBy,
  wanted: SettingsChange,
  now: number,
): Op<{ site: Site; settings: CommentSettings }> {
  const before = yield* settingsOf(yield* settableSite({ site_id, by }, now));
  const { mode = before.mode, passcode_hash = before.passcode_hash, webhook = before.webhook } = wanted;
  if (mode === "passcode" && passcode_hash === null) throw passcodeMissing();
  const last_mode = mode === "off" ? (before.last_mode ?? "anonymous") : mode;
  // Setting one, the same even, ends all grants.
  const passcode_epoch = before.passcode_epoch + (wanted.passcode_hash === undefined ? 0 : 1);
  yield* write.do(site_id, last_mode, passcode_hash, passcode_epoch, webhook && JSON.stringify(webhook));
  const site = (yield* setMode.get(site_id, mode))!;
  return { site, settings: { mode, last_mode, passcode_hash, passcode_epoch, webhook } };
}
