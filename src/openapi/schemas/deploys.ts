/** What a deploy is answered with, and what was fixed, warned of and seen on the way. */
import type { RenderWarning } from "../../store/renders.ts";
import type { Healed, Spa, WarningCode } from "../../base/types.ts";
import { always, flag, list, type Members, object, oneOf, orNull, ref, text, whole, wordsOf } from "../schema.ts";

const HEALED = wordsOf<Healed["code"]>({
  index_case_fixed: true,
  index_from_single_html: true,
  index_generated: true,
  markdown_rendered: true,
  spa_fallback: true,
  backslash_paths: true,
  stripped_root_folder: true,
  encoding_fixed: true,
});

const WARNINGS = wordsOf<WarningCode>({
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

const SEEN = wordsOf<RenderWarning["code"]>({ script_error: true, failed_request: true, blank_page: true });

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
const note = (code: ReturnType<typeof oneOf>) => ({ code, message: text("What it is, for a person.") });
const path = text("The file that it is about.");
const recipe = text("The one change to make, as a sentence that a person or a program can carry out.");

const consoleLine = object({
  level: text("As the page's console names it."),
  text: text("At most 500 characters."),
  url: orNull(text("Where it was said.")),
  line: orNull(whole("In that file.")),
});
const failedRequest = object({
  url: text("What was asked for."),
  method: text("How."),
  status: orNull(whole("Null where no answer came.")),
  reason: text("Why it failed."),
});
const domSummary = object(
  {
    title: text("The page's title."),
    headings: list(text("A heading's text."), "The first 20."),
    links: whole("How many."),
    images: whole("How many."),
    text_length: whole("Characters of text."),
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
  console: list(consoleLine, "What the page's console said.", { maxItems: 50 }),
  failed_requests: list(failedRequest, "What the page asked for in vain.", { maxItems: 50 }),
  dom_summary: orNull(domSummary),
};
const renderExtras = {
  reason: text("Why it failed."),
  screenshot_key: ref("VersionId", "There is a picture: `GET /sites/{id}/screenshots/{version_id}`."),
  warnings: list(ref("RenderWarning"), "What only a browser could see."),
};

const result = {
  url: ref("Url", "Where the site is live."),
  site_id: ref("SiteId"),
  slug: ref("Slug"),
  version_id: ref("VersionId"),
  expires_at: orNull(whole("Epoch milliseconds; null where an account owns the site.")),
  manage_token: text("Updates, rolls back and reads this one site. Shown here and never again."),
  next_actions: list(ref("NextAction"), "What can be done now."),
  healed: list(ref("Healed"), "What was fixed on the caller's behalf."),
  warnings: list(ref("Warning"), "What could not be fixed: a deploy can succeed and be a broken site."),
  render: ref("Render"),
};

const paths = (what: string) => list(text("Path of an uploaded file."), what);

export const DEPLOYS: Members = {
  DeployResult: object(result, {
    claim_token: text("Of a new site without an owner: attaches it to an account. Shown here and never again."),
    claim_url: ref("Url", "The same as a link for a person, the token in its fragment."),
    owner_account_id: ref("AccountId", "Of an owned site."),
  }),
  DryRun: object({
    dry_run: always(true, "Nothing was stored."),
    version_id: ref("VersionId"),
    title: orNull(text("Title of the index.")),
    spa: ref("Spa"),
    healed: list(ref("Healed"), "What would be fixed."),
    warnings: list(ref("Warning"), "What would not."),
    files: ref("FileChanges"),
  }),
  FileChanges: object(
    { added: paths("New."), changed: paths("With other bytes."), removed: paths("Gone.") },
    {},
    {
      description: "Against what is live; uploaded files alone.",
    },
  ),
  Healed: object(note(oneOf("What was fixed.", HEALED)), { path, reason: text("Which rule decided.") }),
  Warning: object({ ...note(oneOf("What is wrong.", WARNINGS)), fix_recipe: recipe }, { path }),
  RenderWarning: object({ ...note(oneOf("What went wrong in the browser.", SEEN)), fix_recipe: recipe }, { path }),
  Render: object(render, renderExtras, { description: "What a browser saw of the version." }),
  LiveRender: object(
    { version_id: ref("VersionId"), ...render, warnings: renderExtras.warnings },
    { reason: renderExtras.reason, screenshot_key: renderExtras.screenshot_key },
    { description: "What a browser saw of the live version." },
  ),
  Spa: object(
    { enabled: flag("Unknown paths get the index."), rule: oneOf("What decided; `setting`: the owner.", SPA_RULES) },
    {},
    { description: "Whether the site is a single-page app." },
  ),
  RolledBack: object({
    ok: flag("True."),
    site_id: ref("SiteId"),
    url: ref("Url"),
    version_id: ref("VersionId", "Live now."),
    previous_version_id: ref("VersionId", "Live before."),
  }),
};
