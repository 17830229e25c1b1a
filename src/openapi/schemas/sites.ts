/** A site as its keepers see it, and the answers of what changes one. */
import { always, flag, list, type Members, object, oneOf, orNull, ref, text, whole } from "../schema.ts";

export const COMMENT_MODES = ["off", "anonymous", "passcode", "approved"] as const;

const version = object(
  {
    version_id: ref("VersionId"),
    title: orNull(text("Title of its index.")),
    created_at: ref("Time"),
    files: whole("Uploaded files."),
    bytes: whole("Of them, uncompressed."),
  },
  {
    render: object(
      {
        status: oneOf("As in the record's `render`.", ["pending", "done", "failed"]),
        warnings: list(ref("RenderWarning"), "What only a browser could see."),
      },
      {},
      { description: "Where the operator has an engine on." },
    ),
  },
);

const skipped = (id: ReturnType<typeof orNull>, reasons: readonly string[]) =>
  list(object({ site_id: id, reason: oneOf("Why.", reasons) }), "What was left as it was.");

export const SITES: Members = {
  Site: object(
    {
      site_id: ref("SiteId"),
      slug: ref("Slug"),
      url: ref("Url"),
      label: orNull(text("Its owner's name for it.")),
      expires_at: orNull(whole("Epoch milliseconds; null where an account owns the site.")),
      created_at: ref("Time"),
      state: oneOf("`frozen`: served, takes no change. `disabled`: 451.", ["live", "frozen", "disabled"]),
      live_version_id: ref("VersionId"),
      spa: ref("Spa"),
      comments: object({ mode: oneOf("Who may comment.", COMMENT_MODES) }, {}, { description: "Its comments." }),
      versions: list(ref("Version"), "Newest first, at most 1,000."),
    },
    {
      owner_account_id: ref("AccountId", "Of an owned site."),
      more: always(true, "There are older versions: ask with `before`."),
      render: ref("LiveRender"),
    },
  ),
  Version: version,
  Claimed: object({
    ok: flag("True."),
    site_id: ref("SiteId"),
    url: ref("Url"),
    owner_account_id: ref("AccountId"),
    expires_at: always(null, "It does not expire any more."),
  }),
  Attached: object({
    attached: list(ref("SiteId"), "Yours now."),
    skipped: skipped(orNull(text("As it was sent; null where it was no id.")), [
      "not_found",
      "already_owned",
      "already_yours",
      "invalid_token",
      "invalid_input",
    ]),
  }),
  AccountSites: object({
    sites: list(
      object({
        site_id: ref("SiteId"),
        slug: ref("Slug"),
        label: orNull(text("Its name.")),
        url: ref("Url"),
        created_at: ref("Time"),
        live_version_id: ref("VersionId"),
      }),
      "Newest first.",
    ),
    cursor: orNull(text("For the next call; null at the end.")),
  }),
  Deleted: object({ ok: flag("True."), deleted: list(ref("SiteId"), "What is gone, with all its versions.") }),
  BulkDeleted: object({
    ok: flag("True."),
    deleted: list(ref("SiteId"), "What is gone, with all its versions."),
    skipped: skipped(text("As it was sent."), ["not_found", "not_owned"]),
  }),
  Revoked: object({ ok: flag("True."), revoked: whole("How many manage_tokens have ended.") }),
  Done: object({ ok: flag("True.") }),
};
