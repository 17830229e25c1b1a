/** Names and values that many bodies have, and the body of every error (CONTRACT 3). */
import { ERROR_CODES } from "../../base/errors.ts";
import { array, integer, named, nullable, object, oneOf, ref, string } from "./builder.ts";

const name = (prefix: string, of: string, example: string) =>
  string(`Name of ${of}.`, { pattern: `^${prefix}_[0-9a-z]{20}$`, examples: [`${prefix}_${example}`] });

export const SITE_ID = named("SiteId", name("site", "a site in paths of this API", "k3v9x0q2m7w1z8t4b6cd"));
export const ACCOUNT_ID = named("AccountId", name("acct", "an account", "0f6h2k8r4v1x9m3q7t5w"));
export const SESSION_ID = named("SessionId", name("sess", "a session", "4p8s1v6y3b9e2h5k7n0q"));
export const DEPLOY_TOKEN_ID = named("DeployTokenId", name("tok", "a deploy token", "7c2g5k9p1t4x8b3f6j0n"));
export const AGENT_TOKEN_ID = named("AgentTokenId", name("agent", "an agent's token", "1d4h7m0r3v6z9c2g5k8p"));

export const COMMENT_ID = named(
  "CommentId",
  name("c", "a comment; of a thread that of its first comment", "9m2q5t8x1b4f7j0n3r6v"),
);

export const REPORT_ID = named("ReportId", name("rep", "an abuse report", "5k8n1r4v7z0c3g6j9m2q"));

export const VERSION_ID = named(
  "VersionId",
  string("First 16 hex digits of a SHA-256 over the uploaded content: equal content, equal id.", {
    pattern: "^[0-9a-f]{16}$",
    examples: ["64def806c7aa7fda"],
  }),
);

export const SLUG = named(
  "Slug",
  string("Name of the site's host.", {
    pattern: "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
    examples: ["quiet-heron-7f3k"],
  }),
);

export const TIME = named(
  "Time",
  string("When, as ISO 8601.", { format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }),
);

export const ADDRESS = named(
  "Url",
  string("An address.", { format: "uri", examples: ["http://quiet-heron-7f3k.localhost:8787"] }),
);

export const CARRIED = named(
  "Carried",
  oneOf("How a passage stands in the live version.", ["exact", "edited", "lost"]),
);

const sized = object({ path: string("Its path in the zip."), bytes: integer("Uncompressed.") });

export const ERROR_CODE = named(
  "ErrorCode",
  oneOf("Says what went wrong, for a program. It does not change; others may join.", ERROR_CODES),
);

export const NEXT_ACTION = named(
  "NextAction",
  object(
    {
      action: string("What it is, for a program.", { examples: ["update"] }),
      description: string("The same for a person."),
    },
    {
      command: string("As a command line.", { examples: ["svc update"] }),
      method: string("Of the call, with `url`.", { examples: ["POST"] }),
      url: string("What to call or to open."),
      when: string("Under which condition it is worth doing."),
      threads: array(
        object({
          id: COMMENT_ID,
          page: string("Path of the page."),
          carried: CARRIED,
          url: ref(ADDRESS, "Opens the thread on its page."),
        }),
        "Of `review_comments`: the threads whose passages changed or went.",
        { maxItems: 50 },
      ),
    },
  ),
);

export const ERROR = named(
  "Error",
  object(
    {
      error: string("A sentence that tells a person what to do next. Of a device login, the code."),
      code: ERROR_CODE,
      request_id: string("Also in X-Request-Id, and in the server's log.", {
        pattern: "^req_[0-9a-z]{16}$",
        examples: ["req_a34b9c6d1e5f7081"],
      }),
    },
    {
      next_actions: array(NEXT_ACTION, "Ways out, where there are any."),
      field: string("Which member, parameter or header `invalid_input` is about."),
      rule: oneOf("Of `invalid_slug`: which rule of names.", [
        "length",
        "characters",
        "hyphens",
        "drawn",
        "reserved",
        "brand",
      ]),
      slug: string("Of `slug_taken`: the name."),
      domain: string("Of `domain_taken` and `domain_unproved`: which one."),
      found: object(
        {
          txt: nullable(array(string("A string of the record."), "Null: no server answered.")),
          cname: nullable(string("Where the record leads.")),
        },
        {},
        { description: "Of `domain_unproved`: what was there." },
      ),
      path: string("Which file it is about."),
      entry: string("Which entry of the zip it is about."),
      reason: string("Of `abuse_rejected`: what the file looks like."),
      stage: string("Of `too_complex`: what was being done."),
      limit: integer("Of what is too large or too many."),
      actual: integer("What there would be, where it is known."),
      unit: string("Of `limit` and `actual`."),
      largest: array(sized, "The three largest files.", { maxItems: 3 }),
      appeal: nullable(string("Whom to ask, where the refusal is the operator's doing.")),
      retry_after: integer("Of `rate_limited`: seconds, as in Retry-After."),
      error_description: string("Of a device login: the sentence for a person (RFC 6749, 5.2)."),
      needed: string("Of `scope_missing`: the scope that the token lacks."),
      need: array(string("Lower-case hex SHA-256."), "Of `missing_blobs`: what must come along."),
    },
  ),
);

export const ON_MODES = ["anonymous", "passcode", "approved"] as const;
export const COMMENT_MODES = ["off", ...ON_MODES] as const;
