/** Rows of a site's name, of the password that visitors need, and of its stored versions: how a browser saw one, which are withheld, and the end of one (BEYOND 17, 8
 *  and 9, CONTRACT 9). */
import { json, JSON_CODES, OF_LIMITED, ok, type ApiRows } from "./row.ts";
import { custom, literal, object, oneOf, string } from "./shapes/builder.ts";
import { SITE_ID, VERSION_ID } from "./shapes/common.ts";
import { ACCESS, RECEIPT, SITE, VERSION_DELETED, VERSION_DIFF, VERSION_FILES, WITHHELD } from "./shapes/sites.ts";
import { CHANGES } from "./sites.ts";

const VERSION_OR_LIVE = string("A version_id, or `live`.", { pattern: "^(?:[0-9a-f]{16}|live)$" });

export const VERSION_ROWS = {
  "GET /sites/:id/access": {
    id: "readAccess",
    tag: "Sites",
    summary: "Read whether visitors need a password",
    who: { site: "read" },
    answers: ok("Who may see the site.", ACCESS, { mode: "public", set_at: null }),
    codes: [],
  },
  "PUT /sites/:id/access": {
    id: "setPassword",
    tag: "Sites",
    summary: "Let only those see a site who know a password",
    description:
      "On all of its hosts, from the next request on. Whoever was let in before, by the same password even, is asked anew. Of an owned site the owner's session alone: its manage_token is 401.",
    who: { keeper: true },
    body: {
      required: true,
      content: json(object({ password: string("8 to 256 characters.", { maxLength: 1024 }) }), {
        password: "correct horse",
      }),
    },
    answers: ok("Visitors need it.", ACCESS, { mode: "password", set_at: "2026-11-28T09:00:00.000Z" }),
    codes: [...JSON_CODES, "site_disabled", "unavailable"],
  },
  "DELETE /sites/:id/access": {
    id: "removePassword",
    tag: "Sites",
    summary: "Let everybody see a site again",
    description: "Of an owned site the owner's session alone: its manage_token is 401.",
    who: { keeper: true },
    answers: ok("It is public.", object({ mode: literal("public", "Everybody may see it.") }), { mode: "public" }),
    codes: ["site_frozen", "site_disabled"],
  },
  "PUT /sites/:id/slug": {
    id: "renameSite",
    tag: "Sites",
    summary: "Give a site a name of its owner's choice",
    description:
      "Its address is new at once. The names before it redirect there for good, and one of them can be taken back.",
    who: { owner: null },
    body: {
      required: true,
      content: json(
        object({
          slug: string("3 to 40 of a to z, 0 to 9 and single hyphens between them.", { maxLength: 200 }),
        }),
        { slug: "my-garden" },
      ),
    },
    answers: ok("The site under its name.", SITE),
    codes: [...JSON_CODES, "invalid_slug", "slug_taken", "too_many_names", "rate_limited", ...CHANGES],
  },
  "GET /sites/:id/withheld": {
    id: "listWithheld",
    tag: "Sites",
    summary: "List what of a site visitors do not get",
    description:
      "Versions in which a secret was seen: each is 404 at its own address while another is live. And the reasons of a quarantine.",
    who: { site: "read" },
    answers: ok("The versions.", WITHHELD, { withheld: ["f2c9d04b8a6e1357"] }),
    codes: [],
  },
  "GET /sites/:id/versions/:version_id/receipt": {
    id: "readReceipt",
    tag: "Sites",
    summary: "Read what was said of a version",
    description: "The receipt of the last deploy of this content. Parts that are older than their figures are null.",
    who: { site: "read" },
    path: { id: SITE_ID, version_id: VERSION_ID },
    answers: ok("The receipt.", RECEIPT),
    codes: ["unknown_version"],
  },
  "GET /sites/:id/versions/:version_id/files": {
    id: "listVersionFiles",
    tag: "Sites",
    summary: "List the files of a version, as they were uploaded",
    description: "`:version_id` is a full one, of a preview too, or `live`.",
    who: { site: "read" },
    path: { id: SITE_ID, version_id: VERSION_OR_LIVE },
    answers: ok("The files.", VERSION_FILES),
    codes: ["unknown_version"],
  },
  "GET /sites/:id/versions/:version_id/zip": {
    id: "zipVersion",
    tag: "Sites",
    summary: "Take a version away as a zip",
    description: "The bytes are the same at every call. Deployed again, anywhere, it has the same version_id.",
    who: { site: "read" },
    path: { id: SITE_ID, version_id: VERSION_OR_LIVE },
    answers: {
      200: { description: "The files.", content: { "application/zip": { shape: custom({}) } }, headers: OF_LIMITED },
    },
    codes: ["unknown_version", "rate_limited", "unavailable"],
  },
  "GET /sites/:id/diff": {
    id: "diffVersions",
    tag: "Sites",
    summary: "Tell two versions apart",
    who: { site: "read" },
    query: [
      { name: "from", description: "A full version_id, or `live`.", shape: VERSION_OR_LIVE, required: true },
      { name: "to", description: "The same; `live` if left out.", shape: VERSION_OR_LIVE },
    ],
    answers: ok("Their files.", VERSION_DIFF),
    codes: ["unknown_version"],
  },
  "DELETE /sites/:id/versions/:version_id": {
    id: "deleteVersion",
    tag: "Sites",
    summary: "Delete a stored version, for good",
    description: "Its address, its receipt and the previews that show it go; comments stay. Not the live one.",
    who: { owner: null },
    path: { id: SITE_ID, version_id: VERSION_ID },
    answers: ok("It is gone.", VERSION_DELETED, { ok: true, deleted: ["f2c9d04b8a6e1357"], freed_bytes: 20_480 }),
    codes: ["unknown_version", "version_live", ...CHANGES],
  },
  "GET /sites/:id/screenshots/:version_id": {
    id: "readScreenshot",
    tag: "Sites",
    summary: "See a version as a browser saw it",
    description: "Its start page, where the operator has a render engine on.",
    who: { site: null },
    path: { id: SITE_ID, version_id: VERSION_ID },
    query: [
      {
        name: "size",
        description: "1280 × 800, or 390 × 844.",
        shape: oneOf("A window.", ["desktop", "phone"], { default: "desktop" }),
      },
    ],
    answers: {
      200: { description: "The picture.", content: { "image/webp": { shape: custom({}) } }, headers: ["ETag"] },
    },
    codes: ["invalid_input", "unknown_version", "not_found"],
  },
} satisfies ApiRows;
