/** Who may call: the credentials, how they come, and what their lack is answered with. */
import type { Json } from "./schema.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { Scope } from "../base/tokens.ts";
import type { Operation, Who } from "./operation.ts";

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
  ownerBrowser: inCookie("svc_cmt_own", "Given for an owner's code: moderates for an hour."),
});

const cookie = (method: string): Requirement =>
  method === "GET" ? { sessionCookie: [] } : { sessionCookie: [], csrf: [] };
const session = (method: string): Requirement[] => [{ session: [] }, cookie(method)];
const NONE: Requirement = {};

const token = (scope: Scope | null): Requirement[] => (scope === null ? [] : [{ deployToken: [scope] }]);

const VISITOR: Requirement = { visitor: [] };
const OWNER: Requirement = { ownerBrowser: [] };
/** In mode `passcode` the grant comes beside it. */
const admitted = (as: Requirement): Requirement[] => [as, { ...as, passcodeGrant: [] }];

/** Of a site's host: the site, then its comments. */
const HERE: readonly ErrorCode[] = ["unknown_host", "site_expired", "site_disabled", "comments_off"];
const WRITING: readonly ErrorCode[] = [
  ...HERE,
  "cross_origin",
  "site_frozen",
  "passcode_required",
  "identity_conflict",
  "rate_limited",
];

interface Asked {
  /** Any of these, in OpenAPI's words. */
  by(method: string): Requirement[];
  /** What others are answered. */
  codes: readonly ErrorCode[];
}

const ASKED: Readonly<Record<Extract<Who, string>, Asked>> = {
  no_one: { by: () => [], codes: [] },
  anyone: {
    by: (method) => [NONE, ...session(method), ...token("create")],
    codes: ["unauthorized", "scope_missing"],
  },
  account: { by: session, codes: ["unauthorized"] },
  agent: {
    by: () => [{ agentToken: [] }],
    codes: ["unauthorized", "unknown_site", "site_disabled", "comments_off", "cross_origin"],
  },
  reader: {
    by: () => [...admitted(NONE), ...admitted(VISITOR), OWNER],
    codes: [...HERE, "passcode_required"],
  },
  writer: { by: () => [...admitted(NONE), ...admitted(VISITOR), OWNER], codes: WRITING },
  author: { by: () => [...admitted(VISITOR), OWNER], codes: [...WRITING, "no_identity"] },
  visitor: { by: () => admitted(VISITOR), codes: [...WRITING, "no_identity"] },
  visitor_reads: { by: () => [VISITOR], codes: [...HERE, "no_identity"] },
  owner_here: { by: () => [OWNER], codes: [...HERE, "unauthorized"] },
};

function asked(who: Who): Asked {
  if (typeof who === "string") return ASKED[who];
  const scope = "site" in who ? who.site : who.owner;
  const manager: Requirement[] = "site" in who ? [{ manageToken: [] }] : [];
  const codes: ErrorCode[] = ["unauthorized", "forbidden", "unknown_site"];
  return {
    by: (method) => [...manager, ...session(method), ...token(scope)],
    codes: scope === null ? codes : [...codes, "scope_missing"],
  };
}

export const requirements = (method: string, who: Who): Requirement[] => asked(who).by(method);

const BY_COOKIE: ReadonlySet<Who> = new Set<Who>(["anyone", "account"]);

/** What the call may be refused with, each code once. */
export function codesOf(method: string, { who, codes = [] }: Operation): ErrorCode[] {
  const writes = method !== "GET" && method !== "OPTIONS";
  const forged = writes && (typeof who === "object" || BY_COOKIE.has(who));
  const stores = writes && who !== "no_one";
  return [
    ...new Set<ErrorCode>([
      ...codes,
      ...asked(who).codes,
      ...(forged ? (["cross_origin"] as const) : []),
      ...(stores ? (["storage_full"] as const) : []),
      "internal",
      "unavailable",
    ]),
  ];
}
