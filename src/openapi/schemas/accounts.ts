/** Accounts, their sessions, and how one signs in. */
import { always, flag, list, type Members, object, orNull, ref, text, whole } from "../schema.ts";

export const ACCOUNTS: Members = {
  Account: object({ account_id: ref("AccountId"), email: text("In lower case."), created_at: ref("Time") }),
  Usage: object({
    bytes: whole("Of each site its distinct uploaded files, once."),
    quota_bytes: orNull(whole("What the account may hold; null where there is no bound.")),
    sites: whole("How many."),
    versions: whole("Of all its sites."),
    previews: whole("Of all its sites."),
    tokens: whole("Deploy tokens that have not ended."),
    domains: whole("Of all its sites."),
  }),
  Sessions: object(
    {
      sessions: list(
        object({
          session_id: ref("SessionId"),
          created_at: ref("Time"),
          last_used_at: ref("Time"),
          client: text("What the client called itself."),
          current: flag("The one that asks."),
        }),
        "Newest first, at most 1,000.",
      ),
    },
    { more: always(true, "There are older ones.") },
  ),
  SignedIn: object({
    account_id: ref("AccountId"),
    session_token: text("`svc_session_…`: send it as Bearer. It lasts 90 days from its last use."),
  }),
  DeviceCode: object({
    device_code: text("`svc_device_…`: for `POST /auth/device/token`, once."),
    user_code: text("What a person compares.", { pattern: "^[A-Z]{4}-[A-Z]{4}$", examples: ["BCDF-GHJK"] }),
    verification_uri: ref("Url", "Where a person approves."),
    verification_uri_complete: ref("Url", "The same with the code filled in."),
    expires_in: whole("Seconds."),
    interval: whole("Seconds between two polls."),
  }),
  DeviceToken: object({
    access_token: text("`svc_session_…`: a session."),
    token_type: always("Bearer", "How to send it."),
    account_id: ref("AccountId"),
  }),
  Limits: object({
    max_files: whole("Of a deploy."),
    max_bytes: whole("Of a deploy, uncompressed."),
    max_zip_bytes: whole("Of a deploy's body."),
    anonymous_ttl_ms: whole("How long a site without an owner lives, in milliseconds."),
  }),
  Challenge: object({
    challenge: text("Signed; opens one deploy."),
    bits: whole("Zero bits that SHA-256 of `<challenge>:<nonce>` begins with."),
    expires_in: whole("Seconds."),
  }),
};
