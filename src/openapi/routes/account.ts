/** What an account has: its sites, its sessions, itself (CONTRACT 4.4 and 5). */
import { fields, FIELD_CODES, json, JSON_CODES, ok, type Operations } from "../operation.ts";
import { list, object, ref, text } from "../schema.ts";
import { LIMIT } from "./sites.ts";

const ids = (what: string) => list(text("A site_id."), what, { minItems: 1, maxItems: 100 });

const SITES: Operations = {
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
          sites: list(
            object({ site_id: text("Which."), manage_token: text("Proves that it may be had.") }),
            "The sites.",
            { minItems: 1, maxItems: 100 },
          ),
        }),
      ),
    },
    answers: ok("What was attached, and what was not.", ref("Attached")),
    codes: [...JSON_CODES, "rate_limited"],
  },
  "GET /account/sites": {
    id: "listSites",
    tag: "Account",
    summary: "List the account's sites",
    who: "account",
    query: [
      LIMIT,
      { name: "cursor", description: "Of the answer before: goes on behind it.", schema: text("A place in the list.") },
    ],
    answers: ok("A page of them, newest first.", ref("AccountSites")),
    codes: ["invalid_input"],
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
            label: text("Trimmed; empty: none.", { maxLength: 80 }),
            spa: { type: ["boolean", "null"], description: "Overrules the detection; null goes back to it." },
          },
          { minProperties: 1 },
        ),
        { label: "Garden club" },
      ),
    },
    answers: ok("The site.", ref("Site")),
    codes: [...JSON_CODES, "unknown_site"],
  },
  "DELETE /account/sites/:id": {
    id: "deleteSite",
    tag: "Account",
    summary: "Delete a site for good",
    who: "account",
    answers: ok("It is gone.", ref("Deleted")),
    codes: ["unknown_site"],
  },
  "POST /account/sites/bulk-delete": {
    id: "deleteSites",
    tag: "Account",
    summary: "Delete many sites for good",
    description: "What is not the account's is skipped, with its reason.",
    who: "account",
    body: { required: true, content: json(object({ site_ids: ids("Which.") })) },
    answers: ok("What is gone, and what is not.", ref("BulkDeleted")),
    codes: JSON_CODES,
  },
};

export const ACCOUNT: Operations = {
  ...SITES,
  "GET /account": {
    id: "readAccount",
    tag: "Account",
    summary: "Read the account",
    who: "account",
    answers: ok("Who it is.", ref("Account"), {
      account_id: "acct_0f6h2k8r4v1x9m3q7t5w",
      email: "ann@example.org",
      created_at: "2026-11-21T09:30:00.000Z",
    }),
  },
  "GET /account/usage": {
    id: "readUsage",
    tag: "Account",
    summary: "See how much of the quota is used",
    who: "account",
    answers: ok("What its sites hold.", ref("Usage")),
  },
  "DELETE /account": {
    id: "deleteAccount",
    tag: "Account",
    summary: "Delete the account with every site it owns",
    who: "account",
    answers: {
      200: { ...ok("All of it is gone.", ref("Deleted"))[200]!, headers: ["Set-Cookie"] },
    },
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
          current_password: text("The one so far."),
          new_password: text("At least 10 characters.", { minLength: 10, maxLength: 1024 }),
        }),
      ),
    },
    answers: ok("It is changed.", ref("Done"), { ok: true }),
    codes: [...FIELD_CODES, "rate_limited"],
  },
  "GET /account/sessions": {
    id: "listSessions",
    tag: "Account",
    summary: "List who is signed in",
    who: "account",
    answers: ok("The sessions.", ref("Sessions")),
  },
  "DELETE /account/sessions/:id": {
    id: "endSession",
    tag: "Account",
    summary: "End a session",
    who: "account",
    path: { id: ref("SessionId") },
    answers: ok("It has ended.", ref("Done"), { ok: true }),
    codes: ["not_found"],
  },
};
