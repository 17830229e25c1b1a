/** Rows of sites: a zip becomes one or a new version of one, and what its keepers read and change (CONTRACT 4, BEYOND 0, 5, 6 and 7). */
import {
  json,
  JSON_CODES,
  ok,
  type RowAnswer,
  type RowContent,
  type Parameter,
  type ApiRow,
  type ApiRows,
} from "./row.ts";
import { anyOf, array, boolean, custom, integer, literal, object, oneOf, string } from "./shapes/builder.ts";
import { SITE_ID, VERSION_ID } from "./shapes/common.ts";
import { CHALLENGE } from "./shapes/account.ts";
import { DEPLOY_RESULT, DRY_RUN, PLAN, PREVIEW, PREVIEWS, ROLLED_BACK, SHA256 } from "./shapes/deploys.ts";
import { CLAIMED, DONE, EXPLAINED, LOOKED_AT, REVOKED, SETTINGS, SITE } from "./shapes/sites.ts";

const BYTES = custom({});

const ZIP: RowContent = {
  "application/zip": { shape: BYTES },
  "application/x-zip-compressed": { shape: BYTES },
  "application/octet-stream": { shape: BYTES },
};

/** The body of what is added to a site. */
const UPLOAD = {
  required: true,
  content: { ...ZIP, "application/vnd.svc.delta+zip": { shape: BYTES } },
  description:
    "The zip itself, or a delta: a zip of what the site lacks, its first entry the list of all (/docs/http-api).",
} as const;

/** The codes that a zip is refused with. */
const ZIP_CODES = [
  "invalid_zip",
  "unsafe_path",
  "empty_deploy",
  "unsupported_zip",
  "too_complex",
  "invalid_input",
  "abuse_rejected",
  "quota_exceeded",
  "version_collision",
  "zip_too_large",
  "deploy_too_large",
  "too_many_files",
  "unsupported_media_type",
  "rate_limited",
] as const;

/** The codes that an upload to a site is refused with. */
const UPLOAD_CODES = [...ZIP_CODES, "invalid_delta", "missing_blobs"] as const;

const SPA_SETTING: Parameter = {
  name: "spa",
  description: "Overrules or restores the detection of single-page apps, for the site.",
  shape: oneOf("A setting.", ["on", "off", "auto"]),
};

const REHEARSAL: Parameter = {
  name: "dry_run",
  description: "Answers what the deploy would, and stores nothing. Refusals and rate limits are the real ones.",
  shape: literal("1", "The one value."),
};

/** Members of the answer for a new site without an owner. */
const CLAIMABLE = {
  claim_token: "svc_claim_EXAMPLE",
  claim_url: "http://localhost:8787/claim/site_k3v9x0q2m7w1z8t4b6cd#svc_claim_EXAMPLE",
} as const;

/** The answer has the figures of the deploy (BEYOND 15). */
const counted = (answers: ReturnType<typeof ok>): Readonly<Record<200, RowAnswer>> => ({
  200: { ...answers[200], headers: ["Svc-Receipt"] },
});

const deployed = (
  description: string,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<number, RowAnswer>> =>
  counted(ok(description, anyOf([DEPLOY_RESULT, DRY_RUN]), { ...DEPLOYED, ...more }));

/** Common to both deploys. */
const deploy = {
  tag: "Deploys",
  query: [SPA_SETTING, REHEARSAL],
} as const satisfies Partial<ApiRow>;

const DEPLOYED = {
  url: "http://quiet-heron-7f3k.localhost:8787",
  site_id: "site_k3v9x0q2m7w1z8t4b6cd",
  slug: "quiet-heron-7f3k",
  version_id: "64def806c7aa7fda",
  expires_at: 1_796_463_000_000,
  manage_token: "svc_manage_EXAMPLE",
  next_actions: [
    {
      action: "update",
      description: "Change files and deploy again: the URL stays, the old version is kept.",
      command: "svc update --site site_k3v9x0q2m7w1z8t4b6cd",
      method: "POST",
      url: "http://localhost:8787/sites/site_k3v9x0q2m7w1z8t4b6cd/deploys",
    },
  ],
  healed: [],
  warnings: [
    {
      code: "missing_asset",
      message: 'index.html loads "logo.png", and no file answers at logo.png.',
      path: "index.html",
      fix_recipe: 'Add the file logo.png to what you deploy, or change "logo.png" in index.html to one that is there.',
    },
  ],
  render: { status: "pending", console: [], failed_requests: [], dom_summary: null },
} as const;

const LOOK: Parameter = {
  name: "look",
  description: "Answers which site the claim_token is of, and claims nothing. Counted apart from claims.",
  shape: literal("1", "The one value."),
};

const PROOF: Parameter = {
  name: "Svc-Challenge",
  description: "`<challenge>:<nonce>`: the proof, where the operator asks anonymous deploys for one.",
  shape: string("A solved challenge."),
};

const KEY: Parameter = {
  name: "Idempotency-Key",
  description:
    "Sent again within 10 minutes, by the same account or from the same network, with the same content, the deploy answers with the same site. A secret: at least 128 random bits.",
  shape: string("A key.", { pattern: "^[\\x21-\\x7e]{22,255}$" }),
};

const named = { id: SITE_ID, name: string("The preview's name, or its version_id.") };
/** The codes of a site that takes no change. */
export const CHANGES = ["site_frozen", "site_disabled"] as const;

export const LIMIT: Parameter = {
  name: "limit",
  description: "How many, newest first.",
  shape: integer("A number.", { minimum: 1, maximum: 1000, default: 1000 }),
};

const header = (name: string, of: string) => ({
  name,
  description: `As if ${of} had this value.`,
  shape: string("A value.", { maxLength: 500 }),
});

export const SITE_ROWS = {
  "POST /challenge": {
    id: "makeChallenge",
    tag: "Deploys",
    summary: "Get a proof of work to solve",
    description:
      "Find a nonce for which SHA-256 of `<challenge>:<nonce>` begins with `bits` zero bits, and deploy with `Svc-Challenge: <challenge>:<nonce>`. A challenge opens one deploy.",
    who: "no_one",
    answers: ok("A challenge.", CHALLENGE),
    codes: [],
  },
  "POST /sites": {
    ...deploy,
    id: "createSite",
    summary: "Deploy a zip as a new site",
    description:
      "Without a credential the site has no owner and expires; with a session it is the account's. A 200 means that the version is live and on disk.",
    who: "anyone",
    headers: [KEY, PROOF],
    body: { required: true, content: ZIP, description: "The zip itself." },
    answers: deployed("The site is live. With `dry_run`, what would be.", CLAIMABLE),
    codes: [...ZIP_CODES, "account_required", "challenge_failed", "idempotency_conflict"],
  },
  "POST /sites/:id/deploys": {
    ...deploy,
    id: "deployVersion",
    summary: "Deploy a zip as the site's new version",
    description:
      "The same content is the same version: deployed again it changes nothing. `manage_token` of the answer is the one that was sent, or a fresh one for a session.",
    who: { site: "deploy" },
    body: UPLOAD,
    answers: deployed("The version is live. With `dry_run`, what would be."),
    codes: [...UPLOAD_CODES, "site_frozen", "site_disabled"],
  },
  "POST /sites/:id/plan": {
    id: "planDeploy",
    tag: "Deploys",
    summary: "Ask what of a content the site lacks",
    description: "Names and limits are judged as a deploy's. It stores and holds nothing.",
    who: { site: "preview" },
    body: {
      required: true,
      content: json(
        object({
          files: array(
            object({ path: string("In the site."), sha256: SHA256, bytes: integer("Uncompressed.") }),
            "The whole content.",
          ),
        }),
      ),
    },
    answers: ok("Which version it would be, and what to send.", PLAN),
    codes: [
      ...JSON_CODES,
      "invalid_zip",
      "unsafe_path",
      "empty_deploy",
      "too_complex",
      "version_collision",
      "deploy_too_large",
      "too_many_files",
      "rate_limited",
    ],
  },
  "POST /sites/:id/rollback": {
    id: "rollback",
    tag: "Sites",
    summary: "Make a stored version live",
    description: "Nothing is deleted: an older version, or a newer one again.",
    who: { site: "deploy" },
    body: {
      required: true,
      content: json(object({ version_id: VERSION_ID }), { version_id: "64def806c7aa7fda" }),
    },
    answers: ok("It is live.", ROLLED_BACK, {
      ok: true,
      site_id: "site_k3v9x0q2m7w1z8t4b6cd",
      url: "http://quiet-heron-7f3k.localhost:8787",
      version_id: "64def806c7aa7fda",
      previous_version_id: "f2c9d04b8a6e1357",
    }),
    codes: [...JSON_CODES, "unknown_version", "site_frozen", "site_disabled"],
  },
  "POST /sites/:id/previews": {
    id: "makePreview",
    tag: "Deploys",
    summary: "Deploy a zip to be looked at, and not live",
    description: "The same name again moves it. A site has at most 20; the oldest goes.",
    who: { site: "preview" },
    query: [
      {
        name: "name",
        description: "Its host is `<name>--<slug>`; without one, the version's own.",
        shape: string("Lower-case letters, digits, single hyphens between them.", { examples: ["pr-7"] }),
      },
      REHEARSAL,
    ],
    body: UPLOAD,
    answers: {
      200: {
        description: "It is shown. With `dry_run`, what would be.",
        content: json(anyOf([PREVIEW, DRY_RUN])),
        headers: ["Svc-Receipt"],
      },
    },
    codes: [...UPLOAD_CODES, ...CHANGES],
  },
  "GET /sites/:id/previews": {
    id: "listPreviews",
    tag: "Sites",
    summary: "List what is shown beside the live version",
    who: { site: "read" },
    answers: ok("The previews.", PREVIEWS),
    codes: [],
  },
  "DELETE /sites/:id/previews/:name": {
    id: "endPreview",
    tag: "Sites",
    summary: "End a preview",
    description: "Nothing that is or was live moves. A manage_token ends none.",
    who: { owner: "preview" },
    path: named,
    answers: ok("It has ended.", DONE, { ok: true }),
    codes: ["unknown_version", ...CHANGES],
  },
  "POST /sites/:id/previews/:name/promote": {
    id: "promotePreview",
    tag: "Deploys",
    summary: "Make a preview live, byte for byte",
    who: { site: "deploy" },
    path: named,
    answers: ok("It is live, and the preview has ended.", ROLLED_BACK),
    codes: ["unknown_version", ...CHANGES],
  },
  "GET /sites/:id": {
    id: "readSite",
    tag: "Sites",
    summary: "Read a site and its versions",
    who: { site: "read" },
    query: [LIMIT, { name: "before", description: "Versions older than this one.", shape: VERSION_ID }],
    answers: ok("The site.", SITE),
    codes: ["invalid_input", "unknown_version"],
  },
  "GET /sites/:id/explain": {
    id: "explain",
    tag: "Sites",
    summary: "Ask why an address of the site answers as it does",
    description: "The code that answers visitors tells its steps. Nothing is counted.",
    who: { site: "read" },
    query: [
      {
        name: "url",
        description: "A path of the live host, or an address on one of the site's hosts.",
        shape: string("What to ask for.", { maxLength: 4096, examples: ["/about"] }),
        required: true,
      },
      {
        name: "method",
        description: "How to ask.",
        shape: oneOf("A method.", ["GET", "HEAD"], { default: "GET" }),
      },
      header("accept_encoding", "Accept-Encoding"),
      header("sec_fetch_dest", "Sec-Fetch-Dest"),
      header("sec_fetch_site", "Sec-Fetch-Site"),
    ],
    answers: ok("The answer, and what led to it.", EXPLAINED),
    codes: ["invalid_input"],
  },
  "GET /sites/:id/settings": {
    id: "readSettings",
    tag: "Sites",
    summary: "Read how a site is set up",
    who: { site: "read" },
    answers: ok("The settings.", SETTINGS),
    codes: [],
  },
  "PATCH /sites/:id/settings": {
    id: "changeSettings",
    tag: "Sites",
    summary: "Set a site up",
    description: "Of an owned site the owner's session alone: its manage_token is 401.",
    who: { keeper: true },
    body: {
      required: true,
      content: json(
        object(
          {},
          { skew: boolean("Former versions give open pages their scripts."), stats: boolean("Views are counted.") },
          { minProperties: 1 },
        ),
        { skew: false },
      ),
    },
    answers: ok("The settings as they are now.", SETTINGS),
    codes: [...JSON_CODES, "site_frozen", "site_disabled"],
  },
  "POST /sites/:id/claim": {
    id: "claimSite",
    tag: "Sites",
    summary: "Attach a site without an owner to the account",
    description:
      "With `look=1` nothing is attached and no session is asked for: whoever has the claim_token learns which site it is of.",
    who: "claimer",
    query: [LOOK],
    body: {
      required: true,
      content: json(
        object(
          { claim_token: string("Of the deploy that made the site.", { maxLength: 512 }) },
          {
            revoke_manage_tokens: boolean(
              "Ends the manage_tokens of whoever gave it away, and what those made for its comments.",
            ),
          },
        ),
        { claim_token: "svc_claim_…" },
      ),
    },
    answers: ok(
      "It is the account's, and does not expire any more; or what the look found.",
      anyOf([CLAIMED, LOOKED_AT]),
    ),
    codes: [...JSON_CODES, "invalid_claim", "unknown_site", "already_owned", "rate_limited"],
  },
  "DELETE /sites/:id/manage-tokens": {
    id: "revokeManageTokens",
    tag: "Sites",
    summary: "End all manage_tokens of a site",
    description:
      "With them end the agents' tokens, owner codes, owners' browsers and the webhook of its comments. The next deploy with a session answers with a fresh manage_token.",
    who: { owner: null },
    answers: ok("They have ended.", REVOKED, { ok: true, revoked: 2 }),
    codes: [],
  },
} satisfies ApiRows;
