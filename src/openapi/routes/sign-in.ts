/** Sign-up, sign-in, sign-out, and the device login of RFC 8628 (CONTRACT 5). */
import { fields, FIELD_CODES, json, ok, type Operations } from "../operation.ts";
import { always, type Members, object, ref, text } from "../schema.ts";

const email = text("In any case.", { maxLength: 300, examples: ["ann@example.org"] });
const next = text("Of a form: the path of this server that it goes on to.");

const entering = (password: string, more: Members = {}) =>
  fields(object({ email, password: text(password, { maxLength: 1024 }) }, { ...more, next }), {
    email: "ann@example.org",
    password: "correct horse battery",
  });

const signedIn = {
  200: {
    description: "Signed in.",
    content: json(ref("SignedIn")),
    headers: ["Set-Cookie"],
  },
  303: { description: "Of a form: signed in, and on to `next`.", headers: ["Location", "Set-Cookie"] },
};

export const SIGN_IN: Operations = {
  "POST /auth/signup": {
    id: "signUp",
    tag: "Sign-in",
    summary: "Make an account",
    who: "no_one",
    body: {
      required: true,
      content: entering("At least 10 characters.", {
        invite: text("Where sign-up needs an invitation.", { maxLength: 512 }),
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
    who: "account",
    body: { required: false, content: fields(object({}, { next })) },
    answers: {
      200: { description: "It has ended.", content: json(ref("Done"), { ok: true }), headers: ["Set-Cookie"] },
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
    body: { required: false, content: fields({ type: "object" }), description: "Nothing of it is read." },
    answers: ok("What to show, and what to poll with.", ref("DeviceCode")),
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
          { device_code: text("Of `POST /auth/device/code`.", { maxLength: 512 }) },
          { grant_type: always("urn:ietf:params:oauth:grant-type:device_code", "RFC 8628's.") },
        ),
        { device_code: "svc_device_…" },
      ),
    },
    answers: ok("It was: a session, told once.", ref("DeviceToken")),
    codes: ["authorization_pending", "slow_down", "expired_token", "access_denied", ...FIELD_CODES, "storage_full"],
  },
};
