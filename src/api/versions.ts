/** Rows of a site's name and domains, of the password that visitors need, and of its stored versions: how a browser saw one, which are withheld, and the end of one (BEYOND 17,
 *  10, 8 and 9, CONTRACT 9). */
import { json, JSON_CODES, OF_LIMITED, ok, type ApiRows } from "./row.ts";
import { boolean, custom, integer, literal, object, oneOf, string } from "./shapes/builder.ts";
import { SITE_ID, VERSION_ID } from "./shapes/common.ts";
import {
  ACCESS,
  DOMAIN,
  DOMAIN_LIST,
  DONE,
  RECEIPT,
  SITE,
  STATISTICS,
  VERSION_DELETED,
  VERSION_DIFF,
  VERSION_FILES,
  WITHHELD,
} from "./shapes/sites.ts";
import { CHANGES } from "./sites.ts";

const VERSION_OR_LIVE = string("A version_id, or `live`.", { pattern: "^(?:[0-9a-f]{16}|live)$" });

const A_DATE = string("Of UTC.", { pattern: "^\\d{4}-\\d{2}-\\d{2}$", examples: ["2026-11-28"] });

const DOMAIN_NAME = string("A name, as it was added.", { maxLength: 1024, examples: ["www.example.org"] });

const LOOKED_UP = ["rate_limited", "unavailable"] as const;

const AN_EXAMPLE = {
  domain: "www.example.org",
  state: "pending",
  primary: false,
  hsts: false,
  records: [
    { type: "TXT", name: "_svc.www.example.org", value: "svc-verify=6Zt3kq5Xv1n0Yw8mQ2r4Lc7Jb9Hs-PfDgEaTuVoKiWx" },
    { type: "CNAME", name: "www.example.org", value: "quiet-heron-7f3k.sites.example" },
  ],
  verified_at: null,
  checked_at: null,
  tls: { state: "none", expires_at: null, error: null },
};

const DOMAIN_ROWS = {
  "POST /sites/:id/domains": {
    id: "addDomain",
    tag: "Sites",
    summary: "Add a domain to a site",
    description:
      "It waits until one of its records is in the DNS, and is active at once where one is there already. Added again it is the same, with 200. A manage_token of a site without an owner is 403 `owner_required`.",
    who: { claimed: true },
    body: {
      required: true,
      content: json(object({ domain: string("A name, with or without its IDN's A-labels.", { maxLength: 1024 }) }), {
        domain: "www.example.org",
      }),
    },
    answers: {
      201: { description: "It is the site's, or waits for its proof.", content: json(DOMAIN, AN_EXAMPLE) },
      200: { description: "The site had it already.", content: json(DOMAIN) },
    },
    codes: [...JSON_CODES, "invalid_domain", "quota_exceeded", ...LOOKED_UP, ...CHANGES],
  },
  "GET /sites/:id/domains": {
    id: "listDomains",
    tag: "Sites",
    summary: "List the domains of a site",
    who: { claimed: true },
    answers: ok("In the order in which they were added.", DOMAIN_LIST),
    codes: [],
  },
  "POST /sites/:id/domains/:domain/verify": {
    id: "verifyDomain",
    tag: "Sites",
    summary: "Look up whether a domain is proved",
    description:
      "`found` of a 409 has the strings of the TXT record and the name in the CNAME record that were there; both null where no server answered.",
    who: { claimed: true },
    path: { domain: DOMAIN_NAME },
    answers: ok("It is active.", DOMAIN),
    codes: ["not_found", "domain_unproved", "domain_taken", ...LOOKED_UP, ...CHANGES],
  },
  "PATCH /sites/:id/domains/:domain": {
    id: "changeDomain",
    tag: "Sites",
    summary: "Make a domain primary, or have browsers insist on https",
    who: { claimed: true },
    path: { domain: DOMAIN_NAME },
    body: {
      required: true,
      content: json(
        object(
          {},
          {
            primary: boolean("The site's other hosts lead to it; one domain of a site at most."),
            hsts: boolean("With Strict-Transport-Security for a year. Its certificate must be active."),
          },
        ),
        { primary: true },
      ),
    },
    answers: ok("As it is now.", DOMAIN),
    codes: [...JSON_CODES, "not_found", "domain_unproved", ...CHANGES],
  },
  "DELETE /sites/:id/domains/:domain": {
    id: "removeDomain",
    tag: "Sites",
    summary: "Take a domain from a site",
    who: { claimed: true },
    path: { domain: DOMAIN_NAME },
    answers: ok("Its host shows nothing from the next request on.", DONE, { ok: true }),
    codes: ["not_found", ...CHANGES],
  },
} satisfies ApiRows;

export const VERSION_ROWS = {
  ...DOMAIN_ROWS,
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
  "GET /sites/:id/stats": {
    id: "readStatistics",
    tag: "Sites",
    summary: "Read what is counted of a site's visits",
    description:
      "The last `days`, or from one date to another. A path or host that is `(other)` is all for which a day had no room.",
    who: { site: "read" },
    query: [
      { name: "days", description: "How many, up to today (UTC).", shape: integer("From 1 to 400.", { default: 30 }) },
      { name: "from", description: "The first day, instead of `days`.", shape: A_DATE },
      { name: "to", description: "The last day; at most 399 days later.", shape: A_DATE },
    ],
    answers: ok("The counts.", STATISTICS),
    codes: ["invalid_input", "unavailable"],
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
