/** Rows of accounts: what an account has, its deploy tokens, and how one signs in (CONTRACT 4.4 and 5, BEYOND 7). */
import { fields, FIELD_CODES, json, JSON_CODES, ok, type ApiRows } from "./row.ts";
import {
  array,
  boolean,
  custom,
  literal,
  nullable,
  object,
  oneOf,
  string,
  type MemberShapes,
} from "./shapes/builder.ts";
import {
  ACCOUNT,
  DEPLOY_TOKENS,
  DEVICE_CODE,
  DEVICE_TOKEN,
  NEW_DEPLOY_TOKEN,
  SCOPES,
  SESSIONS,
  SIGNED_IN,
  USAGE,
} from "./shapes/account.ts";
import { DEPLOY_TOKEN_ID, SESSION_ID, SITE_ID } from "./shapes/common.ts";
import { ACCOUNT_DOMAINS, ACCOUNT_SITES, ATTACHED, BULK_DELETED, DELETED, DONE, SITE } from "./shapes/sites.ts";
import { LIMIT } from "./sites.ts";

const ids = (what: string) => array(string("A site_id."), what, { minItems: 1, maxItems: 100 });
const email = string("In any case.", { maxLength: 300, examples: ["ann@example.org"] });
const next = string("Of a form: the path of this server that it goes on to.");

const entering = (password: string, more: MemberShapes = {}) =>
  fields(object({ email, password: string(password, { maxLength: 1024 }) }, { ...more, next }), {
    email: "ann@example.org",
    password: "correct horse battery",
  });

const signedIn = {
  200: {
    description: "Signed in.",
    content: json(SIGNED_IN),
    headers: ["Set-Cookie"],
  },
  303: { description: "Of a form: signed in, and on to `next`.", headers: ["Location", "Set-Cookie"] },
};

export const ACCOUNT_ROWS = {
  "POST /account/bulk-attach": {
    id: "attachSites",
    tag: "Account",
    summary: "Attach sites by their manage_tokens",
    description: "What cannot be attached is skipped, with its reason.",
    who: "account",
    body: {
      required: true,
      content: json(
        object({
          sites: array(
            object({ site_id: string("Which."), manage_token: string("Proves that it may be had.") }),
            "The sites.",
            { minItems: 1, maxItems: 100 },
          ),
        }),
      ),
    },
    answers: ok("What was attached, and what was not.", ATTACHED),
    codes: [...JSON_CODES, "rate_limited"],
  },
  "GET /account/sites": {
    id: "listSites",
    tag: "Account",
    summary: "List the account's sites",
    who: "account",
    query: [
      LIMIT,
      {
        name: "cursor",
        description: "Of the answer before: goes on behind it.",
        shape: string("A place in the list."),
      },
    ],
    answers: ok("A page of them, newest first.", ACCOUNT_SITES),
    codes: ["invalid_input"],
  },
  "GET /account/usage": {
    id: "readUsage",
    tag: "Account",
    summary: "See how much of the quota is used",
    who: "account",
    answers: ok("What its sites hold.", USAGE),
    codes: [],
  },
  "PATCH /account/sites/:id": {
    id: "changeSite",
    tag: "Account",
    summary: "Name a site, or say whether it is a single-page app",
    who: "account",
    body: {
      required: true,
      content: json(
        object(
          {},
          {
            label: string("Trimmed; empty: none.", { maxLength: 80 }),
            spa: nullable(boolean("Overrules the detection; null goes back to it.")),
          },
          { minProperties: 1 },
        ),
        { label: "Garden club" },
      ),
    },
    answers: ok("The site.", SITE),
    codes: [...JSON_CODES, "unknown_site"],
  },
  "DELETE /account/sites/:id": {
    id: "deleteSite",
    tag: "Account",
    summary: "Delete a site for good",
    who: "account",
    answers: ok("It is gone.", DELETED),
    codes: ["unknown_site"],
  },
  "POST /account/sites/bulk-delete": {
    id: "deleteSites",
    tag: "Account",
    summary: "Delete many sites for good",
    description: "What is not the account's is skipped, with its reason.",
    who: "account",
    body: { required: true, content: json(object({ site_ids: ids("Which.") })) },
    answers: ok("What is gone, and what is not.", BULK_DELETED),
    codes: JSON_CODES,
  },
  "GET /account": {
    id: "readAccount",
    tag: "Account",
    summary: "Read the account",
    who: "account",
    answers: ok("Who it is.", ACCOUNT, {
      account_id: "acct_0f6h2k8r4v1x9m3q7t5w",
      email: "ann@example.org",
      created_at: "2026-11-21T09:30:00.000Z",
    }),
    codes: [],
  },
  "DELETE /account": {
    id: "deleteAccount",
    tag: "Account",
    summary: "Delete the account with every site it owns",
    who: "account",
    answers: {
      200: { ...ok("All of it is gone.", DELETED)[200]!, headers: ["Set-Cookie"] },
    },
    codes: [],
  },
  "POST /account/password": {
    id: "changePassword",
    tag: "Account",
    summary: "Change the password",
    description: "All other sessions end. A wrong `current_password` is 401 and counts as a sign-in.",
    who: "account",
    body: {
      required: true,
      content: fields(
        object({
          current_password: string("The one so far."),
          new_password: string("At least 10 characters.", { minLength: 10, maxLength: 1024 }),
        }),
      ),
    },
    answers: ok("It is changed.", DONE, { ok: true }),
    codes: [...FIELD_CODES, "rate_limited"],
  },
  "GET /account/sessions": {
    id: "listSessions",
    tag: "Account",
    summary: "List who is signed in",
    who: "account",
    answers: ok("The sessions.", SESSIONS),
    codes: [],
  },
  "DELETE /account/sessions/:id": {
    id: "endSession",
    tag: "Account",
    summary: "End a session",
    who: "account",
    path: { id: SESSION_ID },
    answers: ok("It has ended.", DONE, { ok: true }),
    codes: ["not_found"],
  },
  "GET /account/domains": {
    id: "listAccountDomains",
    tag: "Account",
    summary: "List the domains of all its sites",
    who: "account",
    answers: ok("By name.", ACCOUNT_DOMAINS),
    codes: [],
  },
  "POST /account/tokens": {
    id: "makeDeployToken",
    tag: "Account",
    summary: "Make a deploy token",
    description: "An account has at most 50 at once. Making one counts as a deploy of the account.",
    who: "account",
    body: {
      required: true,
      content: json(
        object(
          {
            name: string("To know it by.", { minLength: 1, maxLength: 80 }),
            scopes: array(oneOf("A scope.", SCOPES), "What it may.", { minItems: 1 }),
          },
          {
            site_ids: array(SITE_ID, "For these sites alone. Not beside `create`.", { minItems: 1, maxItems: 20 }),
            expires_in: string("`1s` to `366d`.", { default: "90d", examples: ["90d"] }),
          },
        ),
        { name: "CI of docs", scopes: ["deploy"], expires_in: "90d" },
      ),
    },
    answers: ok("The token, shown here and never again.", NEW_DEPLOY_TOKEN),
    codes: [...JSON_CODES, "quota_exceeded", "rate_limited"],
  },
  "GET /account/tokens": {
    id: "listDeployTokens",
    tag: "Account",
    summary: "List the deploy tokens",
    who: "account",
    answers: ok("Those that have not ended.", DEPLOY_TOKENS),
    codes: [],
  },
  "DELETE /account/tokens/:id": {
    id: "revokeDeployToken",
    tag: "Account",
    summary: "Revoke a deploy token",
    who: "account",
    path: { id: DEPLOY_TOKEN_ID },
    answers: ok("It opens nothing any more.", DONE, { ok: true }),
    codes: ["not_found"],
  },
  "POST /auth/signup": {
    id: "signUp",
    tag: "Sign-in",
    summary: "Make an account",
    who: "no_one",
    body: {
      required: true,
      content: entering("At least 10 characters.", {
        invite: string("Where sign-up needs an invitation.", { maxLength: 512 }),
      }),
    },
    answers: signedIn,
    codes: [...FIELD_CODES, "signup_closed", "email_taken", "cross_origin", "rate_limited", "storage_full"],
  },
  "POST /auth/login": {
    id: "signIn",
    tag: "Sign-in",
    summary: "Sign in",
    description:
      "A wrong password and an unknown address are answered alike. `forbidden`: the operator disabled the account.",
    who: "no_one",
    body: { required: true, content: entering("The account's.") },
    answers: signedIn,
    codes: [...FIELD_CODES, "unauthorized", "forbidden", "cross_origin", "rate_limited", "storage_full"],
  },
  "POST /auth/logout": {
    id: "signOut",
    tag: "Sign-in",
    summary: "End the session that is sent",
    who: "leaver",
    body: { required: false, content: fields(object({}, { next })) },
    answers: {
      200: { description: "It has ended.", content: json(DONE, { ok: true }), headers: ["Set-Cookie"] },
      303: { description: "Of a form: it has ended, and on to `next`.", headers: ["Location", "Set-Cookie"] },
    },
    codes: FIELD_CODES,
  },
  "POST /auth/device/code": {
    id: "startDeviceLogin",
    tag: "Sign-in",
    summary: "Begin a device login (RFC 8628)",
    description: "A person opens `verification_uri_complete`, compares the code, and approves.",
    who: "no_one",
    body: { required: false, content: fields(custom({ type: "object" })), description: "Nothing of it is read." },
    answers: ok("What to show, and what to poll with.", DEVICE_CODE),
    codes: ["cross_origin", "rate_limited", "storage_full"],
  },
  "POST /auth/device/token": {
    id: "pollDeviceLogin",
    tag: "Sign-in",
    summary: "Ask whether a device login was approved",
    description: "`error` of its refusals is the code, as in RFC 6749, and the sentence `error_description`.",
    who: "no_one",
    body: {
      required: true,
      content: fields(
        object(
          { device_code: string("Of `POST /auth/device/code`.", { maxLength: 512 }) },
          { grant_type: literal("urn:ietf:params:oauth:grant-type:device_code", "RFC 8628's.") },
        ),
        { device_code: "svc_device_…" },
      ),
    },
    answers: ok("It was: a session, told once.", DEVICE_TOKEN),
    codes: ["authorization_pending", "slow_down", "expired_token", "access_denied", ...FIELD_CODES, "storage_full"],
  },
} satisfies ApiRows;
