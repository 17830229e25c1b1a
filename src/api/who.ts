/** The kinds of callers that a row can name, with the credentials that open it and the codes of refusals for others. On
 *  the API host src/routes/caller.ts lets only these through to a handler. */
import type { ErrorCode } from "../base/errors.ts";
import type { Scope } from "../base/tokens.ts";
import type { Json } from "./shapes/builder.ts";

/** Callers on the API host:
 *  - `no_one`: no credential is looked at, so a write by cookie needs no proof either.
 *  - `anyone`: without a credential too; with a session, or a deploy token that may create, for its account.
 *  - `account`: a session.
 *  - `claimer`: a session; with `look=1` without a credential, too.
 *  - `leaver`: a session; a form is read first, for without a session it is sent on its way all the same.
 *  - `{ site }`: the site's manage_token, its owner's session, or a deploy token with this scope; null: no deploy token.
 *  - `{ keeper }`: as `{ site: null }`, but of an owned site the owner's session alone.
 *  - `{ owner }`: as `{ site }`, but never a manage_token (BEYOND 0).
 *  - `{ claimed }`: as `{ owner: null }`; the manage_token of a site without an owner is told to claim it.
 *  - `agent`: a token of the site for agents. The handler asks for it, after the Origin. */
export type ApiCallers =
  | "no_one"
  | "anyone"
  | "account"
  | "claimer"
  | "leaver"
  | { site: Scope | null }
  | { keeper: true }
  | { owner: Scope | null }
  | { claimed: true }
  | "agent";

/** Callers on a site's own host, while its comments are on:
 *  - `no_one`: anybody.
 *  - `entrant`: anybody from a page of the site itself, for a passcode or a code comes in the body; on a frozen site too.
 *  - `reader`: all whom the mode admits.
 *  - `writer`: the same, from a page of the site itself.
 *  - `form_writer`: a writer; but the form may bring the passcode, so that the handler asks once it has read it.
 *  - `author`: a writer; whether the comment is theirs, or they are the owner, is known once the handler has found it.
 *  - `visitor`: a writer who has written here before.
 *  - `visitor_reads`: a reader who has, in every mode.
 *  - `owner_here`: the owner's browser. */
export type SiteCallers =
  "no_one" | "entrant" | "reader" | "writer" | "form_writer" | "author" | "visitor" | "visitor_reads" | "owner_here";
export type Callers = ApiCallers | SiteCallers;
export type Requirement = Readonly<Record<string, readonly string[]>>;

const bearer = (prefix: string, description: string): Json => ({
  type: "http",
  scheme: "bearer",
  bearerFormat: `${prefix}…`,
  description,
});
const inCookie = (name: string, description: string): Json => ({ type: "apiKey", in: "cookie", name, description });

/** `session_cookie`: its name on this server. */
export const schemesOf = (session_cookie: string): Readonly<Record<string, Json>> => ({
  manageToken: bearer("svc_manage_", "A site's manage_token, for that site. It deletes nothing."),
  session: bearer("svc_session_", "An account's session."),
  deployToken: bearer(
    "svc_deploy_",
    "A deploy token of an account: for its sites, and what its scopes allow. The scope that a call needs stands beside it.",
  ),
  agentToken: bearer("fau_", "A token of one site, for agents."),
  sessionCookie: inCookie(session_cookie, "The session of a browser. A write needs `Svc-CSRF` beside it."),
  csrf: {
    type: "apiKey",
    in: "header",
    name: "Svc-CSRF",
    description: "A token bound to the session, that pages of this server have; or the field `csrf` of the body.",
  },
  visitor: inCookie("svc_cmt", "Who a visitor is on this site: given with the first post."),
  passcodeGrant: inCookie("svc_cmt_pass", "Given for the passcode; asked for in mode `passcode` alone."),
  ownerBrowser: inCookie(
    "svc_cmt_own",
    "Given for an owner's code: moderates for an hour, and deletes if a session made the code.",
  ),
});

const cookie = (method: string): Requirement =>
  method === "GET" ? { sessionCookie: [] } : { sessionCookie: [], csrf: [] };
const session = (method: string): Requirement[] => [{ session: [] }, cookie(method)];
const NONE: Requirement = {};
const token = (scope: Scope | null): Requirement[] => (scope === null ? [] : [{ deployToken: [scope] }]);
const VISITOR: Requirement = { visitor: [] };
const OWNER: Requirement = { ownerBrowser: [] };
/** In mode `passcode` the grant comes with it. */
const admitted = (as: Requirement): Requirement[] => [as, { ...as, passcodeGrant: [] }];

/** The codes of every call on a site's host: first the site is not shown, then its comments. */
const HERE: readonly ErrorCode[] = ["unknown_host", "site_expired", "site_disabled", "comments_off"];
const WRITING: readonly ErrorCode[] = [
  ...HERE,
  "cross_origin",
  "site_frozen",
  "passcode_required",
  "identity_conflict",
  "rate_limited",
];

interface Demand {
  /** Any of these opens it, in OpenAPI's words. */
  by(method: string): Requirement[];
  /** The codes that all others are answered with. */
  codes: readonly ErrorCode[];
}

const ACCOUNT: Demand = { by: session, codes: ["unauthorized"] };

/** An owner whose hour a revocation ended while the body came is `unauthorized`. */
const WRITER: Demand = {
  by: () => [...admitted(NONE), ...admitted(VISITOR), OWNER],
  codes: [...WRITING, "unauthorized"],
};

const DEMANDS: Readonly<Record<Extract<Callers, string>, Demand>> = {
  no_one: { by: () => [], codes: [] },
  entrant: { by: () => [], codes: [] },
  anyone: {
    by: (method) => [NONE, ...session(method), ...token("create")],
    codes: ["unauthorized", "scope_missing"],
  },
  account: ACCOUNT,
  claimer: { by: (method) => [NONE, ...session(method)], codes: ["unauthorized"] },
  leaver: ACCOUNT,
  agent: {
    by: () => [{ agentToken: [] }],
    codes: ["unauthorized", "unknown_site", "site_disabled", "comments_off", "cross_origin"],
  },
  reader: {
    by: () => [...admitted(NONE), ...admitted(VISITOR), OWNER],
    codes: [...HERE, "passcode_required"],
  },
  writer: WRITER,
  form_writer: WRITER,
  author: { by: () => [...admitted(VISITOR), OWNER], codes: [...WRITING, "no_identity", "unauthorized"] },
  visitor: { by: () => admitted(VISITOR), codes: [...WRITING, "no_identity"] },
  visitor_reads: { by: () => [VISITOR], codes: [...HERE, "no_identity"] },
  owner_here: { by: () => [OWNER], codes: [...HERE, "unauthorized"] },
};

function demandOf(who: Callers): Demand {
  if (typeof who === "string") return DEMANDS[who];
  const scope = "site" in who ? who.site : "owner" in who ? who.owner : null;
  const manager: Requirement[] = "owner" in who || "claimed" in who ? [] : [{ manageToken: [] }];
  const codes: ErrorCode[] = ["unauthorized", "forbidden", "unknown_site"];
  if ("claimed" in who) codes.push("owner_required");
  return {
    by: (method) => [...manager, ...session(method), ...token(scope)],
    codes: scope === null ? codes : [...codes, "scope_missing"],
  };
}

export const requirements = (method: string, who: Callers): Requirement[] => demandOf(who).by(method);
const BY_COOKIE: ReadonlySet<Callers> = new Set<Callers>(["anyone", "account", "claimer", "leaver"]);

/** All codes that the call may be refused with, each once. */
export function codesOf(method: string, { who, codes }: { who: Callers; codes: readonly ErrorCode[] }): ErrorCode[] {
  const writes = method !== "GET" && method !== "OPTIONS";
  const forged = writes && (typeof who === "object" || BY_COOKIE.has(who));
  const stores = writes && who !== "no_one" && who !== "entrant";
  return [
    ...new Set<ErrorCode>([
      ...codes,
      ...demandOf(who).codes,
      ...(forged ? (["cross_origin"] as const) : []),
      ...(stores ? (["storage_full"] as const) : []),
      "internal",
      "unavailable",
    ]),
  ];
}
