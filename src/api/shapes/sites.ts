/** A site as its keepers see it, the answers of what changes one, and why its addresses answer as they do (BEYOND 0 and 5). */
import {
  array,
  boolean,
  integer,
  literal,
  named,
  nullable,
  object,
  oneOf,
  ref,
  type Shape,
  string,
  texts,
} from "./builder.ts";
import { ACCOUNT_ID, ADDRESS, COMMENT_MODES, SITE_ID, SLUG, TIME, VERSION_ID } from "./common.ts";
import { CHECKED, HEALED, LIVE_RENDER, RENDER_WARNING, SPA, WARNING } from "./deploys.ts";

export const VERSION = named(
  "Version",
  object(
    {
      version_id: VERSION_ID,
      title: nullable(string("Title of its index.")),
      created_at: TIME,
      files: integer("Uploaded files."),
      bytes: integer("Of them, uncompressed."),
    },
    {
      render: object(
        {
          status: oneOf("As in the record's `render`.", ["pending", "done", "failed"]),
          warnings: array(RENDER_WARNING, "What only a browser could see."),
        },
        {},
        { description: "Where the operator has an engine on." },
      ),
    },
  ),
);

const skipped = <Id, const Reasons extends readonly string[]>(id: Shape<Id>, reasons: Reasons) =>
  array(object({ site_id: id, reason: oneOf("Why.", reasons) }), "What was left as it was.");

export const SITE = named(
  "Site",
  object(
    {
      site_id: SITE_ID,
      slug: SLUG,
      url: ADDRESS,
      label: nullable(string("Its owner's name for it.")),
      expires_at: nullable(integer("Epoch milliseconds; null where an account owns the site.")),
      created_at: TIME,
      state: oneOf("`frozen`: served, takes no change. `disabled`: 451.", ["live", "frozen", "disabled"]),
      live_version_id: VERSION_ID,
      spa: SPA,
      comments: object({ mode: oneOf("Who may comment.", COMMENT_MODES) }, {}, { description: "Its comments." }),
      versions: array(VERSION, "Newest first, at most 1,000."),
    },
    {
      owner_account_id: ref(ACCOUNT_ID, "Of an owned site."),
      more: literal(true, "There are older versions: ask with `before`."),
      render: LIVE_RENDER,
    },
  ),
);

export const CLAIMED = named(
  "Claimed",
  object({
    ok: boolean("True."),
    site_id: SITE_ID,
    url: ADDRESS,
    owner_account_id: ACCOUNT_ID,
    expires_at: literal(null, "It does not expire any more."),
  }),
);

export const LOOKED_AT = object({
  url: ADDRESS,
  title: nullable(string("Of what is live.")),
  files: integer("Uploaded files of what is live."),
  bytes: integer("Of them, uncompressed."),
  expires_at: nullable(integer("Epoch milliseconds; null if the site is the caller's already.")),
});

export const ATTACHED = named(
  "Attached",
  object({
    attached: array(SITE_ID, "Yours now."),
    skipped: skipped(nullable(string("As it was sent; null where it was no id.")), [
      "not_found",
      "already_owned",
      "already_yours",
      "invalid_token",
      "invalid_input",
    ]),
  }),
);

export const ACCOUNT_SITES = named(
  "AccountSites",
  object({
    sites: array(
      object({
        site_id: SITE_ID,
        slug: SLUG,
        label: nullable(string("Its name.")),
        url: ADDRESS,
        created_at: TIME,
        live_version_id: VERSION_ID,
      }),
      "Newest first.",
    ),
    cursor: nullable(string("For the next call; null at the end.")),
  }),
);

export const DELETED = named(
  "Deleted",
  object({ ok: boolean("True."), deleted: array(SITE_ID, "What is gone, with all its versions.") }),
);

export const BULK_DELETED = named(
  "BulkDeleted",
  object({
    ok: boolean("True."),
    deleted: array(SITE_ID, "What is gone, with all its versions."),
    skipped: skipped(string("As it was sent."), ["not_found", "not_owned"]),
  }),
);

export const REVOKED = named(
  "Revoked",
  object({ ok: boolean("True."), revoked: integer("How many manage_tokens have ended.") }),
);

export const VERSION_DELETED = object({
  ok: boolean("True."),
  deleted: array(VERSION_ID, "The version that is gone."),
  freed_bytes: integer("Of its uploaded files, those that no other version of the site has."),
});

const SHA256 = string("Of its content, in hex.", { pattern: "^[0-9a-f]{64}$" });
const FILE_PATH = string("Of the file in the site.");

export const VERSION_FILES = object({
  version_id: VERSION_ID,
  live: boolean("Visitors get it."),
  files: array(
    object({
      path: FILE_PATH,
      sha256: SHA256,
      bytes: integer("Uncompressed."),
      media_type: string("By which it is served."),
    }),
    "As uploaded, in the byte order of their paths: without what svc made or dropped.",
  ),
});

const SIZED = object({ path: FILE_PATH, bytes: integer("Its size.") });
export const VERSION_DIFF = object({
  from: VERSION_ID,
  to: VERSION_ID,
  added: array(SIZED, "Uploaded files that only `to` has."),
  changed: array(object({ path: FILE_PATH, from_bytes: integer("In `from`."), to_bytes: integer("In `to`.") })),
  removed: array(SIZED, "Those that only `from` has."),
});

export const RECEIPT = named(
  "Receipt",
  object(
    {
      version_id: VERSION_ID,
      created_at: TIME,
      live: boolean("Visitors get it."),
      files: integer("Uploaded files."),
      bytes: integer("Of them, uncompressed."),
      checked: nullable(CHECKED),
      changes: nullable(
        object(
          {
            against: ref(VERSION_ID, "The one that was live before."),
            added: integer("Files."),
            changed: integer("Files."),
            removed: integer("Files."),
            same: integer("Files."),
          },
          {},
          { description: "Null for a first version." },
        ),
      ),
      healed: nullable(array(HEALED, "What was fixed.")),
      warnings: nullable(array(WARNING, "What was not.")),
      pages_made_by: nullable(oneOf("Null where svc made no page of it.", ["this svc", "an older svc"])),
    },
    { left_out: integer("Entries that were too many to be kept.") },
  ),
);

export const WITHHELD = object(
  { withheld: array(VERSION_ID, "Their own addresses are 404. Newest first, at most 1,000.") },
  { quarantine: array(string("Why."), "While the site's pages load and send nothing elsewhere.") },
);

export const DONE = named("Done", object({ ok: boolean("True.") }));

const DECIDERS = [
  "file",
  "index",
  "clean_url",
  "slash",
  "rule",
  "spa_fallback",
  "skew",
  "feed",
  "page_404",
  "service_404",
  "former_name",
  "reserved",
  "primary_domain",
  "state",
  "invalid_path",
] as const;

const STEPS = ["forced_rule", "file", "rule", "spa_fallback", "skew", "not_found"] as const;

export const EXPLAINED_FILE = object(
  {
    path: string("In the version."),
    bytes: integer("As stored."),
    sha256: string("Of them, in hex."),
    media_type: string("Its Content-Type."),
    made: boolean("The service made it."),
  },
  {},
  { description: "What is shown; null where no file is." },
);

export const EXPLAINED_RULE = object(
  {
    path: string("File and line.", { examples: ["_redirects:3"] }),
    text: string("The line."),
    from: string("What it matches."),
    to: string("Where it leads."),
    status: integer("Its status."),
    forced: boolean("It goes before files."),
  },
  {},
  { description: "Which line decided; null where none did." },
);

export const HEADER_RULE = object(
  {
    path: string("File and line.", { examples: ["_headers:2"] }),
    name: string("Of the header."),
    value: nullable(string("Null: it is taken away.")),
    applied: boolean("It had its way."),
  },
  { reason: string("Why it had not.") },
);

const step = object({
  step: oneOf("What was tried.", STEPS),
  matched: boolean("It answered."),
  why: string("In a sentence."),
});

export const EXPLAINED = named(
  "Explained",
  object({
    url: string("What was asked, as an address of the site."),
    method: oneOf("How.", ["GET", "HEAD"]),
    version_id: ref(VERSION_ID, "What the host shows."),
    live: boolean("That is the live one."),
    access: oneOf("Who may see it.", ["public", "password"]),
    status: integer("Of the answer."),
    by: oneOf("What answered.", DECIDERS),
    file: nullable(EXPLAINED_FILE),
    rule: nullable(EXPLAINED_RULE),
    location: nullable(string("Where it leads on.")),
    headers: texts("Of the answer, in lower case, without Date and X-Request-Id."),
    header_rules: array(HEADER_RULE, "Lines of `_headers` for this address, in order."),
    steps: array(step, "What was tried, in order; the last one matched."),
  }),
);

export const ACCESS = named(
  "Access",
  object({
    mode: oneOf("`password`: visitors need one.", ["public", "password"]),
    set_at: nullable(string("When it was set (ISO 8601); null without one.")),
  }),
);

export const SETTINGS = named(
  "Settings",
  object({
    skew: boolean("Former versions give open pages their scripts."),
    stats: boolean("Views are counted."),
    password: boolean("Visitors need a password."),
    primary_domain: nullable(string("Where the others lead.")),
    domains: integer("How many."),
    previews: integer("How many."),
  }),
);

const COUNTED = {
  views: integer("Pages that were shown."),
  visitors: integer("Distinct ones: exact where they are few, else within 5 %."),
  bots: integer("Pages that programs asked for."),
  misses: integer("Navigations that ended in 404."),
};
const DATE = { examples: ["2026-11-28"] };

export const STATISTICS = named(
  "Statistics",
  object({
    site_id: ref(SITE_ID, "Of the site."),
    from: string("The first day (UTC).", DATE),
    to: string("The last one.", DATE),
    enabled: boolean("Visits are counted now."),
    totals: object(COUNTED),
    visitors_are: literal(
      "sum_of_days",
      "A visitor of two days counts twice: nobody can be told again on another day.",
    ),
    days: array(object({ date: string("UTC.", DATE), ...COUNTED }), "Every day, oldest first."),
    paths: array(object({ path: string("Decoded."), views: integer("How many.") }), "The most viewed, at most 100."),
    referrers: array(object({ host: string("Another host."), views: integer("How many.") }), "At most 100."),
    misses: array(
      object({
        path: string("Decoded."),
        hits: integer("How many."),
        internal: integer("From pages of the site itself."),
        rule: nullable(string("A line for `_redirects`, to the page that was probably meant.")),
      }),
      "Broken links, at most 100.",
    ),
  }),
);

const PROOF = object({
  type: oneOf("Of the record.", ["TXT", "CNAME"]),
  name: string("Where it stands in the DNS."),
  value: string("What it says."),
});

const TLS = object({
  state: oneOf("`none`: this server orders no certificate for it.", ["none", "pending", "active", "failed"]),
  expires_at: nullable(string("When the certificate ends (ISO 8601).")),
  error: nullable(string("Why the last order failed, in a sentence.")),
});

const DOMAIN_MEMBERS = {
  domain: string("Its name: lower case, an IDN as its A-labels.", { examples: ["www.example.org"] }),
  state: oneOf("`pending`: not proved; `lapsed`: its proof is gone.", ["pending", "active", "lapsed"]),
  primary: boolean("The site's other hosts lead to it."),
  hsts: boolean("Browsers are told to insist on https."),
  records: array(PROOF, "One of them proves it."),
  verified_at: nullable(string("When it was proved (ISO 8601).")),
  checked_at: nullable(string("When its proof was last looked up.")),
  tls: TLS,
};

export const DOMAIN = named("Domain", object(DOMAIN_MEMBERS));
export const DOMAIN_LIST = named("Domains", object({ domains: array(ref(DOMAIN, "With what proves it.")) }));
export const ACCOUNT_DOMAINS = named(
  "AccountDomains",
  object(
    { domains: array(object({ site_id: string("The site that has it."), ...DOMAIN_MEMBERS })) },
    { more: boolean("There are more than the thousand that are listed.") },
  ),
);
