/** A zip becomes a site, or a new version of one (CONTRACT 4). */
import { type Answer, type Content, ok, type Operation, type Operations, type Parameter } from "../operation.ts";
import { always, oneOf, ref, type Schema, text } from "../schema.ts";

const BYTES: Schema = {};

const ZIP: Content = {
  "application/zip": { schema: BYTES },
  "application/x-zip-compressed": { schema: BYTES },
  "application/octet-stream": { schema: BYTES },
};

/** The body of what is added to a site. */
export const UPLOAD = {
  required: true,
  content: { ...ZIP, "application/vnd.svc.delta+zip": { schema: BYTES } },
  description:
    "The zip itself, or a delta: a zip of what the site lacks, its first entry the list of all (/docs/http-api).",
} as const;

/** What a zip is refused with. */
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
/** What is added to a site is refused with. */
export const UPLOAD_CODES = [...ZIP_CODES, "invalid_delta", "missing_blobs"] as const;

const SPA: Parameter = {
  name: "spa",
  description: "Overrules or restores the detection of single-page apps, for the site.",
  schema: oneOf("A setting.", ["on", "off", "auto"]),
};
export const DRY_RUN: Parameter = {
  name: "dry_run",
  description: "Answers what the deploy would, and stores nothing. Refusals and rate limits are the real ones.",
  schema: always("1", "The one value."),
};

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
/** Of a new site without an owner. */
const CLAIMABLE = {
  claim_token: "svc_claim_EXAMPLE",
  claim_url: "http://localhost:8787/claim/site_k3v9x0q2m7w1z8t4b6cd#svc_claim_EXAMPLE",
} as const;

const deployed = (description: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<number, Answer>> =>
  ok(description, { anyOf: [ref("DeployResult"), ref("DryRun")] }, { ...DEPLOYED, ...more });

/** Of both deploys. */
const deploy = {
  tag: "Deploys",
  query: [SPA, DRY_RUN],
} as const satisfies Partial<Operation>;

const CHALLENGE: Parameter = {
  name: "Svc-Challenge",
  description: "`<challenge>:<nonce>`: the proof, where the operator asks anonymous deploys for one.",
  schema: text("A solved challenge."),
};
const KEY: Parameter = {
  name: "Idempotency-Key",
  description:
    "Sent again within 10 minutes, by the same account or from the same network, with the same content, the deploy answers with the same site. A secret: at least 128 random bits.",
  schema: text("A key.", { pattern: "^[\\x21-\\x7e]{22,255}$" }),
};

export const DEPLOYS: Operations = {
  "POST /challenge": {
    id: "makeChallenge",
    tag: "Deploys",
    summary: "Get a proof of work to solve",
    description:
      "Find a nonce for which SHA-256 of `<challenge>:<nonce>` begins with `bits` zero bits, and deploy with `Svc-Challenge: <challenge>:<nonce>`. A challenge opens one deploy.",
    who: "no_one",
    answers: ok("A challenge.", ref("Challenge")),
  },
  "POST /sites": {
    ...deploy,
    id: "createSite",
    summary: "Deploy a zip as a new site",
    description:
      "Without a credential the site has no owner and expires; with a session it is the account's. A 200 means that the version is live and on disk.",
    who: "anyone",
    headers: [KEY, CHALLENGE],
    body: { required: true, content: ZIP, description: "The zip itself." },
    answers: deployed("The site is live. With `dry_run`, what would be.", CLAIMABLE),
    codes: [...ZIP_CODES, "challenge_failed", "idempotency_conflict"],
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
};
