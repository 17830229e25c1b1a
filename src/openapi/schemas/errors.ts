/** The one body of every error (CONTRACT 3). */
import { ERROR_CODES } from "../../base/errors.ts";
import { list, type Members, object, oneOf, ref, text, whole } from "../schema.ts";

const sized = object({ path: text("Its path in the zip."), bytes: whole("Uncompressed.") });

export const ERRORS: Members = {
  ErrorCode: oneOf("Says what went wrong, for a program. It does not change; others may join.", ERROR_CODES),
  Error: object(
    {
      error: text("A sentence that tells a person what to do next. Of a device login, the code."),
      code: ref("ErrorCode"),
      request_id: text("Also in X-Request-Id, and in the server's log.", {
        pattern: "^req_[0-9a-z]{16}$",
        examples: ["req_a34b9c6d1e5f7081"],
      }),
    },
    {
      next_actions: list(ref("NextAction"), "Ways out, where there are any."),
      field: text("Which member, parameter or header `invalid_input` is about."),
      path: text("Which file it is about."),
      entry: text("Which entry of the zip it is about."),
      reason: text("Of `abuse_rejected`: what the file looks like."),
      stage: text("Of `too_complex`: what was being done."),
      limit: whole("Of what is too large or too many."),
      actual: whole("What there would be, where it is known."),
      unit: text("Of `limit` and `actual`."),
      largest: list(sized, "The three largest files.", { maxItems: 3 }),
      appeal: { type: ["string", "null"], description: "Whom to ask, where the refusal is the operator's doing." },
      retry_after: whole("Of `rate_limited`: seconds, as in Retry-After."),
      error_description: text("Of a device login: the sentence for a person (RFC 6749, 5.2)."),
      needed: text("Of `scope_missing`: the scope that the token lacks."),
      need: list(text("Lower-case hex SHA-256."), "Of `missing_blobs`: what must come along."),
    },
  ),
  NextAction: object(
    {
      action: text("What it is, for a program.", { examples: ["update"] }),
      description: text("The same for a person."),
    },
    {
      command: text("As a command line.", { examples: ["svc update"] }),
      method: text("Of the call, with `url`.", { examples: ["POST"] }),
      url: text("What to call or to open."),
      when: text("Under which condition it is worth doing."),
      threads: list(
        object({
          id: ref("CommentId"),
          page: text("Path of the page."),
          carried: ref("Carried"),
          url: ref("Url", "Opens the thread on its page."),
        }),
        "Of `review_comments`: the threads whose passages changed or went.",
        { maxItems: 50 },
      ),
    },
  ),
};
