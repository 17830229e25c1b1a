/** What a site's keepers read and change (CONTRACT 4.4). */
import { json, JSON_CODES, ok, type Operations, type Parameter } from "../operation.ts";
import { flag, object, oneOf, ref, type Schema, text, whole } from "../schema.ts";

export const LIMIT: Parameter = {
  name: "limit",
  description: "How many, newest first.",
  schema: whole("A number.", { minimum: 1, maximum: 1000, default: 1000 }),
};

const PICTURE: Schema = {};

export const SITES: Operations = {
  "POST /sites/:id/rollback": {
    id: "rollback",
    tag: "Sites",
    summary: "Make a stored version live",
    description: "Nothing is deleted: an older version, or a newer one again.",
    who: { site: "deploy" },
    body: {
      required: true,
      content: json(object({ version_id: ref("VersionId") }), { version_id: "64def806c7aa7fda" }),
    },
    answers: ok("It is live.", ref("RolledBack"), {
      ok: true,
      site_id: "site_k3v9x0q2m7w1z8t4b6cd",
      url: "http://quiet-heron-7f3k.localhost:8787",
      version_id: "64def806c7aa7fda",
      previous_version_id: "f2c9d04b8a6e1357",
    }),
    codes: [...JSON_CODES, "unknown_version", "site_frozen", "site_disabled"],
  },
  "GET /sites/:id": {
    id: "readSite",
    tag: "Sites",
    summary: "Read a site and its versions",
    who: { site: "read" },
    query: [LIMIT, { name: "before", description: "Versions older than this one.", schema: ref("VersionId") }],
    answers: ok("The site.", ref("Site")),
    codes: ["invalid_input", "unknown_version"],
  },
  "GET /sites/:id/screenshots/:version_id": {
    id: "readScreenshot",
    tag: "Sites",
    summary: "See a version as a browser saw it",
    description: "Its start page, where the operator has a render engine on.",
    who: { site: null },
    path: { id: ref("SiteId"), version_id: ref("VersionId") },
    query: [
      {
        name: "size",
        description: "1280 × 800, or 390 × 844.",
        schema: { ...oneOf("A window.", ["desktop", "phone"]), default: "desktop" },
      },
    ],
    answers: {
      200: { description: "The picture.", content: { "image/webp": { schema: PICTURE } }, headers: ["ETag"] },
    },
    codes: ["invalid_input", "unknown_version", "not_found"],
  },
  "POST /sites/:id/claim": {
    id: "claimSite",
    tag: "Sites",
    summary: "Attach a site without an owner to the account",
    who: "account",
    body: {
      required: true,
      content: json(
        object(
          { claim_token: text("Of the deploy that made the site.", { maxLength: 512 }) },
          { revoke_manage_tokens: flag("Ends the manage_tokens of whoever gave it away.") },
        ),
        { claim_token: "svc_claim_…" },
      ),
    },
    answers: ok("It is the account's, and does not expire any more.", ref("Claimed")),
    codes: [...JSON_CODES, "invalid_claim", "unknown_site", "already_owned", "rate_limited"],
  },
  "DELETE /sites/:id/manage-tokens": {
    id: "revokeManageTokens",
    tag: "Sites",
    summary: "End all manage_tokens of a site",
    description: "The next deploy with a session answers with a fresh one.",
    who: { owner: null },
    answers: ok("They have ended.", ref("Revoked"), { ok: true, revoked: 2 }),
  },
};
