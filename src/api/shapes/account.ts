/** Accounts, their sessions and deploy tokens, how one signs in, and what the server says of itself (CONTRACT 5, BEYOND 7). */
import type { Scope } from "../../base/tokens.ts";
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
  refOrNull,
  string,
  wordsOf,
} from "./builder.ts";
import { ACCOUNT_ID, ADDRESS, DEPLOY_TOKEN_ID, SESSION_ID, SITE_ID, TIME } from "./common.ts";

export const ACCOUNT = named(
  "Account",
  object({ account_id: ACCOUNT_ID, email: string("In lower case."), created_at: TIME }),
);

export const USAGE = named(
  "Usage",
  object({
    bytes: integer("Of each site its distinct uploaded files, once."),
    quota_bytes: nullable(integer("What the account may hold; null where there is no bound.")),
    sites: integer("How many."),
    versions: integer("Of all its sites."),
    previews: integer("Of all its sites."),
    tokens: integer("Deploy tokens that have not ended."),
    domains: integer("Of all its sites."),
  }),
);

export const SESSIONS = named(
  "Sessions",
  object(
    {
      sessions: array(
        object({
          session_id: SESSION_ID,
          created_at: TIME,
          last_used_at: TIME,
          client: string("What the client called itself."),
          current: boolean("The one that asks."),
        }),
        "Newest first, at most 1,000.",
      ),
    },
    { more: literal(true, "There are older ones.") },
  ),
);

export const SIGNED_IN = named(
  "SignedIn",
  object({
    account_id: ACCOUNT_ID,
    session_token: string("`svc_session_…`: send it as Bearer. It lasts 90 days from its last use."),
  }),
);

export const DEVICE_CODE = named(
  "DeviceCode",
  object({
    device_code: string("`svc_device_…`: for `POST /auth/device/token`, once."),
    user_code: string("What a person compares.", { pattern: "^[A-Z]{4}-[A-Z]{4}$", examples: ["BCDF-GHJK"] }),
    verification_uri: ref(ADDRESS, "Where a person approves."),
    verification_uri_complete: ref(ADDRESS, "The same with the code filled in."),
    expires_in: integer("Seconds."),
    interval: integer("Seconds between two polls."),
  }),
);

export const DEVICE_TOKEN = named(
  "DeviceToken",
  object({
    access_token: string("`svc_session_…`: a session."),
    token_type: literal("Bearer", "How to send it."),
    account_id: ACCOUNT_ID,
  }),
);

export const LIMITS = named(
  "Limits",
  object(
    {
      max_files: integer("Of a deploy."),
      max_bytes: integer("Of a deploy, uncompressed."),
      max_zip_bytes: integer("Of a deploy's body."),
      anonymous_ttl_ms: integer("How long a site without an owner lives, in milliseconds."),
    },
    { anonymous: literal(false, "Only where sites are made by accounts alone.") },
  ),
);

export const CHALLENGE = named(
  "Challenge",
  object({
    challenge: string("Signed; opens one deploy."),
    bits: integer("Zero bits that SHA-256 of `<challenge>:<nonce>` begins with."),
    expires_in: integer("Seconds."),
  }),
);

export const SCOPES = wordsOf<Scope>({ read: true, preview: true, deploy: true, create: true });

const of_token = {
  token_id: DEPLOY_TOKEN_ID,
  name: string("Its owner's name for it."),
  scopes: array(oneOf("`deploy` may what `preview` may, and that what `read` may.", SCOPES), "What it may."),
  site_ids: nullable(array(SITE_ID, "For which sites; null: all that the account has and gets.")),
  created_at: TIME,
  expires_at: integer("Epoch milliseconds."),
};

export const NEW_DEPLOY_TOKEN = named(
  "NewDeployToken",
  object({ ...of_token, token: string("`svc_deploy_…`. Shown here and never again.") }),
);

export const DEPLOY_TOKENS = named(
  "DeployTokens",
  object({
    tokens: array(object({ ...of_token, last_used_at: refOrNull(TIME, "To the minute.") }), "Newest first."),
  }),
);
