/** The answers to a deploy, a preview and a plan, with what was fixed, warned of and seen on the way (BEYOND 6 and 7). */
import type { RenderWarning } from "../../store/renders.ts";
import type { Healed, Spa, WarningCode } from "../../base/types.ts";
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
  wordsOf,
} from "./builder.ts";
import { ACCOUNT_ID, ADDRESS, NEXT_ACTION, SITE_ID, SLUG, TIME, VERSION_ID } from "./common.ts";

const HEALED_CODES = wordsOf<Healed["code"]>({
  index_case_fixed: true,
  index_from_single_html: true,
  index_generated: true,
  markdown_rendered: true,
  spa_fallback: true,
  backslash_paths: true,
  stripped_root_folder: true,
  encoding_fixed: true,
});

const WARNING_CODES = wordsOf<WarningCode>({
  missing_asset: true,
  case_mismatch: true,
  wrong_base_path: true,
  unbuilt_source: true,
  localhost_url: true,
  mixed_content: true,
  server_code: true,
  possible_secret: true,
  secret_file_dropped: true,
  case_collision: true,
  reserved_path: true,
  name_encoding_guessed: true,
  windows_unsafe_name: true,
  markdown_too_complex: true,
  suspicious_content: true,
  index_elsewhere: true,
  missing_title: true,
  broken_link: true,
  template_placeholder: true,
  private_network_url: true,
  huge_asset: true,
  shown_as_code: true,
  not_judged: true,
  invalid_rule: true,
  rule_adjusted: true,
  rule_shadowed: true,
  redirect_loop: true,
  external_redirect: true,
  header_refused: true,
  rules_over_limit: true,
});

const RENDER_CODES = wordsOf<RenderWarning["code"]>({ script_error: true, failed_request: true, blank_page: true });

const SPA_RULES = wordsOf<Spa["rule"]>({
  config: true,
  copied_404: true,
  own_404: true,
  fallback_200: true,
  history_router: true,
  shell: true,
  prerendered_shell: true,
  none: true,
  setting: true,
});

/** `path` may be missing in either. */
const note = <Code>(code: Shape<Code>) => ({ code, message: string("What it is, for a person.") });
const path = string("The file that it is about.");
const recipe = string("The one change to make, as a sentence that a person or a program can carry out.");

const consoleLine = object({
  level: string("As the page's console names it."),
  text: string("At most 500 characters."),
  url: nullable(string("Where it was said.")),
  line: nullable(integer("In that file.")),
});

const failedRequest = object({
  url: string("What was asked for."),
  method: string("How."),
  status: nullable(integer("Null where no answer came.")),
  reason: string("Why it failed."),
});

const domSummary = object(
  {
    title: string("The page's title."),
    headings: array(string("A heading's text."), "The first 20."),
    links: integer("How many."),
    images: integer("How many."),
    text_length: integer("Characters of text."),
  },
  {},
  { description: "What the start page holds; null where it was not seen." },
);

const render = {
  status: oneOf("`pending`, then `done` or `failed`. For ever `pending` where no engine is on.", [
    "pending",
    "done",
    "failed",
  ]),
  console: array(consoleLine, "What the page's console said.", { maxItems: 50 }),
  failed_requests: array(failedRequest, "What the page asked for in vain.", { maxItems: 50 }),
  dom_summary: nullable(domSummary),
};

const paths = (what: string) => array(string("Path of an uploaded file."), what);

export const FILE_CHANGES = named(
  "FileChanges",
  object(
    { added: paths("New."), changed: paths("With other bytes."), removed: paths("Gone.") },
    {},
    {
      description: "Against what is live; uploaded files alone.",
    },
  ),
);

export const HEALED = named(
  "Healed",
  object(note(oneOf("What was fixed.", HEALED_CODES)), { path, reason: string("Which rule decided.") }),
);

/** How much of an upload the checks read (BEYOND 15). */
export const CHECKED = named(
  "Checked",
  object({
    pages: integer("Pages that somebody wrote."),
    links: integer("Distinct pairs of a file and a path of the site that it names."),
    files: integer("Uploaded files whose content was read."),
  }),
);

export const WARNING = named(
  "Warning",
  object({ ...note(oneOf("What is wrong.", WARNING_CODES)), fix_recipe: recipe }, { path }),
);

export const RENDER_WARNING = named(
  "RenderWarning",
  object({ ...note(oneOf("What went wrong in the browser.", RENDER_CODES)), fix_recipe: recipe }, { path }),
);

const renderExtras = {
  reason: string("Why it failed."),
  screenshot_key: ref(VERSION_ID, "There is a picture: `GET /sites/{id}/screenshots/{version_id}`."),
  warnings: array(RENDER_WARNING, "What only a browser could see."),
};

export const RENDER = named(
  "Render",
  object(render, renderExtras, { description: "What a browser saw of the version." }),
);

const result = {
  url: ref(ADDRESS, "Where the site is live."),
  site_id: SITE_ID,
  slug: SLUG,
  version_id: VERSION_ID,
  expires_at: nullable(integer("Epoch milliseconds; null where an account owns the site.")),
  manage_token: string("Updates, rolls back and reads this one site. Shown here and never again."),
  next_actions: array(NEXT_ACTION, "What can be done now."),
  healed: array(HEALED, "What was fixed on the caller's behalf."),
  warnings: array(WARNING, "What could not be fixed: a deploy can succeed and be a broken site."),
  render: RENDER,
};

export const DEPLOY_RESULT = named(
  "DeployResult",
  object(result, {
    claim_token: string("Of a new site without an owner: attaches it to an account. Shown here and never again."),
    claim_url: ref(ADDRESS, "The same as a link for a person, the token in its fragment."),
    owner_account_id: ref(ACCOUNT_ID, "Of an owned site."),
  }),
);

export const LIVE_RENDER = named(
  "LiveRender",
  object(
    { version_id: VERSION_ID, ...render, warnings: renderExtras.warnings },
    { reason: renderExtras.reason, screenshot_key: renderExtras.screenshot_key },
    { description: "What a browser saw of the live version." },
  ),
);

export const SPA = named(
  "Spa",
  object(
    { enabled: boolean("Unknown paths get the index."), rule: oneOf("What decided; `setting`: the owner.", SPA_RULES) },
    {},
    { description: "Whether the site is a single-page app." },
  ),
);

export const DRY_RUN = named(
  "DryRun",
  object({
    dry_run: literal(true, "Nothing was stored."),
    version_id: VERSION_ID,
    title: nullable(string("Title of the index.")),
    spa: SPA,
    healed: array(HEALED, "What would be fixed."),
    warnings: array(WARNING, "What would not."),
    files: FILE_CHANGES,
  }),
);

export const ROLLED_BACK = named(
  "RolledBack",
  object({
    ok: boolean("True."),
    site_id: SITE_ID,
    url: ADDRESS,
    version_id: ref(VERSION_ID, "Live now."),
    previous_version_id: ref(VERSION_ID, "Live before."),
  }),
);

const of_preview = {
  url: ref(ADDRESS, "Where it is shown: under its name, or as its version."),
  version_url: ref(ADDRESS, "Where the version is shown."),
  name: nullable(string("Its name; null without one.")),
  version_id: VERSION_ID,
  expires_at: integer("Epoch milliseconds."),
};

export const PREVIEW = named(
  "Preview",
  object({
    ...of_preview,
    site_id: SITE_ID,
    slug: SLUG,
    live_url: ref(ADDRESS, "Where the live version is."),
    changed: boolean("It is another content than the live one."),
    files: FILE_CHANGES,
    healed: array(HEALED, "What was fixed on the caller's behalf."),
    warnings: array(WARNING, "What could not be fixed."),
  }),
);

export const PREVIEWS = named(
  "Previews",
  object({
    previews: array(
      object({ ...of_preview, title: nullable(string("Title of its index.")), created_at: TIME }),
      "Newest first.",
    ),
  }),
);

export const SHA256 = named(
  "Sha256",
  string("Of a file's bytes, in hex.", {
    pattern: "^[0-9a-f]{64}$",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  }),
);

export const PLAN = named(
  "Plan",
  object({
    version_id: ref(VERSION_ID, "Of this content."),
    live: boolean("It is live."),
    stored: boolean("The site has it."),
    need: array(SHA256, "What the site lacks, in the order of the list, each once."),
  }),
);
