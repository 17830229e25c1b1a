/** Why an address answers as it does (BEYOND 5), and the settings that have a say in it (BEYOND 0). */
import { flag, list, type Members, object, oneOf, orNull, ref, text, whole } from "../schema.ts";

const BY = [
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
  "reserved",
  "primary_domain",
  "state",
  "invalid_path",
];
const STEPS = ["forced_rule", "file", "rule", "spa_fallback", "skew", "not_found"];

const file = object(
  {
    path: text("In the version."),
    bytes: whole("As stored."),
    sha256: text("Of them, in hex."),
    media_type: text("Its Content-Type."),
    made: flag("The service made it."),
  },
  {},
  { description: "What is shown; null where no file is." },
);
const rule = object(
  {
    path: text("File and line.", { examples: ["_redirects:3"] }),
    text: text("The line."),
    from: text("What it matches."),
    to: text("Where it leads."),
    status: whole("Its status."),
    forced: flag("It goes before files."),
  },
  {},
  { description: "Which line decided; null where none did." },
);
const headerRule = object(
  {
    path: text("File and line.", { examples: ["_headers:2"] }),
    name: text("Of the header."),
    value: orNull(text("Null: it is taken away.")),
    applied: flag("It had its way."),
  },
  { reason: text("Why it had not.") },
);
const step = object({
  step: oneOf("What was tried.", STEPS),
  matched: flag("It answered."),
  why: text("In a sentence."),
});

export const EXPLAINED: Members = {
  Explained: object({
    url: text("What was asked, as an address of the site."),
    method: oneOf("How.", ["GET", "HEAD"]),
    version_id: ref("VersionId", "What the host shows."),
    live: flag("That is the live one."),
    access: oneOf("Who may see it.", ["public", "password"]),
    status: whole("Of the answer."),
    by: oneOf("What answered.", BY),
    file: orNull(file),
    rule: orNull(rule),
    location: orNull(text("Where it leads on.")),
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Of the answer, in lower case, without Date and X-Request-Id.",
    },
    header_rules: list(headerRule, "Lines of `_headers` for this address, in order."),
    steps: list(step, "What was tried, in order; the last one matched."),
  }),
  Settings: object({
    skew: flag("Former versions give open pages their scripts."),
    stats: flag("Views are counted."),
    password: flag("Visitors need a password."),
    primary_domain: orNull(text("Where the others lead.")),
    domains: whole("How many."),
    previews: whole("How many."),
  }),
};
