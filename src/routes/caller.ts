/** The caller of a request, and whether a row of the API lets them in: the matrix of RELIABILITY 5 is decided here. */
import type { ApiCallers } from "../api/who.ts";
import { Refusal } from "../base/errors.ts";
import { siteState } from "../base/site-state.ts";
import type { Config } from "../config/index.ts";
import type { Store } from "../store/index.ts";
import type { Granted } from "../store/people/deploy-tokens.ts";
import type { WriteBy } from "../store/permission.ts";
import { refusals } from "../store/refusals.ts";
import { allows, type DeployGrant, hashToken, reaches, type Scope } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import type { SessionCookie } from "../http/context.ts";

/** The one who asks. `unknown` is a credential that opens nothing here: it never passes for no credential. */
export type Caller =
  | { kind: "anonymous" }
  | { kind: "site"; site_id: string; gone: boolean; token_hash: string }
  | { kind: "claim"; site_id: string }
  | {
      kind: "account";
      account_id: string;
      session_id: string;
      /** When the password was last given (ISO 8601); null if a device got the session. */
      signed_in_at: string | null;
      by: "bearer" | "cookie";
    }
  | ({ kind: "deploy"; deploy_hash: string } & DeployGrant)
  | { kind: "unknown" };

export type SignedInCaller = Extract<Caller, { kind: "account" }>;
type DeployCaller = Extract<Caller, { kind: "deploy" }>;

/** One Bearer credential, its scheme in any case (RFC 9110, 11.1). Two headers arrive joined by a comma, and do not
 *  match. */
const BEARER = /^bearer +([A-Za-z0-9_\-.~+/]{1,512}=*)$/i;

const UNKNOWN: Caller = { kind: "unknown" };
type Credentials = Pick<Store, "tokens" | "sessions" | "deploy_tokens">;
/** A request for a site. */
type SiteRequest = {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  parts: { store: Pick<Store, "sites">; now(): number; config: Pick<Config, "anonymous"> };
};

async function session(token: string, by: "bearer" | "cookie", store: Credentials): Promise<Caller> {
  const found = token.startsWith("svc_session_") ? await store.sessions.find(hashToken(token)) : null;
  if (!found) return UNKNOWN;
  const { account_id, session_id, signed_in_at } = found;
  return { kind: "account", account_id, session_id, signed_in_at, by };
}

async function deployToken(token: string, { deploy_tokens }: Credentials): Promise<Caller> {
  const deploy_hash = hashToken(token);
  const found = await deploy_tokens.find(deploy_hash);
  if (!found) return UNKNOWN;
  const { account_id, token_id, scopes, site_ids } = found;
  return { kind: "deploy", deploy_hash, account_id, token_id, scopes, site_ids };
}

async function bearer(header: string, store: Credentials): Promise<Caller> {
  const token = BEARER.exec(header)?.[1];
  if (!token) return UNKNOWN;
  if (token.startsWith("svc_deploy_")) return deployToken(token, store);
  const token_hash = hashToken(token);
  const known = await store.tokens.find(token_hash);
  if (!known) return session(token, "bearer", store);
  const { site_id, gone } = known;
  return known.kind === "manage" ? { kind: "site", site_id, gone, token_hash } : { kind: "claim", site_id };
}

/** A credential that opens nothing here is `unknown`, never `anonymous`: a typo must not make an ownerless site. The header
 *  beats the cookie. */
export async function callerOf(request: Request, store: Credentials, cookie: SessionCookie): Promise<Caller> {
  const header = request.headers.get("authorization");
  if (header !== null) return bearer(header, store);
  const [token, ...others] = cookie.read(request);
  if (token === undefined) return { kind: "anonymous" };
  return others.length > 0 ? UNKNOWN : session(token, "cookie", store);
}

const signIn = {
  action: "login",
  description: "Sign in, or send the site's manage_token as a Bearer credential.",
  command: "svc login",
};

export const unauthorized = (
  why = "This needs the site's manage_token or its owner's session: send it as Authorization: Bearer <token>.",
): Refusal => new Refusal("unauthorized", why, { next_actions: [signIn] });

/** The way on where a manage_token opens nothing either. */
const signInAlone = {
  action: "login",
  description: "Sign in, and send the account's session as a Bearer credential: a manage_token does not do here.",
  command: "svc login",
};

/** The signed-in account: no other credential reads or changes one. */
export function accountHolder(caller: Caller): SignedInCaller {
  if (caller.kind === "account") return caller;
  const why = "This needs an account's session: sign in and send it as Authorization: Bearer <token>.";
  throw new Refusal("unauthorized", why, { next_actions: [signInAlone] });
}

/** The refusal of a write with the proof of a session that is gone: its sender meant to be signed in, so nothing is
 *  made without their account. */
export const signedOut = (): Refusal => unauthorized("You were signed out, and nothing was published.");

/** Throws 403 if the token lacks the scope. */
function granted({ account_id, token_id, deploy_hash, scopes }: DeployCaller, needed: Scope): Granted {
  if (allows({ scopes }, needed)) return { account_id, token_id, deploy_hash, scope: needed };
  const sentence = `This deploy token has the scope ${scopes.join(", ")}, and this needs ${needed}: use one that has it.`;
  throw new Refusal("scope_missing", sentence, { needed });
}

/** For `POST /sites`: the account that will own the site, or null for an anonymous one. */
export function ownerToBe(caller: Caller, anonymous: Config["anonymous"]): SignedInCaller | Granted | null {
  if (caller.kind === "anonymous") return null;
  if (caller.kind === "account") return caller;
  if (caller.kind === "deploy") return granted(caller, "create");
  const why = "The token that came with the deploy opens no account here.";
  const without = { action: "deploy", description: "Deploy without a credential.", command: "svc" };
  if (anonymous === "off") throw new Refusal("unauthorized", why, { next_actions: [signInAlone] });
  throw new Refusal("unauthorized", `${why} Leave it out for an anonymous site.`, { next_actions: [without, signIn] });
}

/** The answer to a new site without an account where the operator takes none (`SVC_ANONYMOUS=off`). */
export function accountRequired(signup: Config["signup"]): Refusal {
  const how = { open: "sign up or in", invite: "sign in, or sign up with an invitation", closed: "sign in" }[signup];
  return new Refusal(
    "account_required",
    `Sites are made by accounts alone on this server: ${how}, then deploy again.`,
    {
      next_actions: [
        { action: "login", description: "Sign in, and send the session with the deploy.", command: "svc login" },
      ],
    },
  );
}

const foreign = (): Refusal =>
  new Refusal("forbidden", "This site is not your account's: use its manage_token, or claim it first.");

type SiteCaller = Extract<Caller, { kind: "account" | "site" | "deploy" }>;

/** Whether it may ask for the site at all: a manage_token knows no other. */
const asksFor = (caller: Caller, site_id: string): caller is SiteCaller =>
  caller.kind === "account" || caller.kind === "deploy" || (caller.kind === "site" && caller.site_id === site_id);

/** The credential that is proved again when the change commits. */
function credentialOf(caller: SiteCaller, scope: Scope | null): WriteBy {
  if (caller.kind === "site") return { token_hash: caller.token_hash };
  if (caller.kind === "account") return caller;
  if (scope === null) throw unauthorized();
  return granted(caller, scope);
}

/** The site that the caller may manage, and the credential to prove it again when the change commits. `scope` is the
 *  scope that a deploy token must have (BEYOND 7); null refuses every deploy token. */
export async function managedSite(
  { caller, params, parts: { store, now } }: SiteRequest,
  scope: Scope | null,
): Promise<{ site: Site; by: WriteBy }> {
  const site_id = params.id!;
  if (!asksFor(caller, site_id)) throw unauthorized();
  const by = credentialOf(caller, scope);
  const site = caller.kind === "site" && caller.gone ? null : await store.sites.byId(site_id);
  if (!site || siteState(site, now()) === "expired") throw refusals.unknownSite();
  if (caller.kind === "account" && site.owner_account_id !== caller.account_id) throw foreign();
  if (caller.kind === "deploy" && !reaches(caller, site)) throw refusals.notGranted();
  return { site, by };
}

/** The facts about the caller that a handler gets from its row. */
export type Admitted<By extends ApiCallers> = By extends "anyone"
  ? { owner: SignedInCaller | Granted | null }
  : By extends "account"
    ? { caller: SignedInCaller }
    : By extends "no_one" | "agent" | "claimer" | "leaver"
      ? object
      : By extends { owner: null } | { claimed: true }
        ? { site: Site; by: SignedInCaller }
        : { site: Site; by: WriteBy };

/** Throws unless the caller is one of those whom a row names. A site is looked up here, once, for its handler too. */
export async function admit<By extends ApiCallers>(who: By, asked: SiteRequest): Promise<Admitted<By>> {
  return admitted(who, asked) as Promise<Admitted<By>>;
}

async function admitted(who: ApiCallers, asked: SiteRequest): Promise<Admitted<ApiCallers>> {
  const { caller } = asked;
  if (typeof who === "object") return admittedToSite(who, asked);
  switch (who) {
    case "anyone":
      return { owner: ownerToBe(caller, asked.parts.config.anonymous) };
    case "account":
      return { caller: accountHolder(caller) };
    case "no_one":
    case "claimer":
    case "leaver":
    case "agent":
      return {};
  }
}

async function admittedToSite(
  who: Exclude<ApiCallers, string>,
  asked: SiteRequest,
): Promise<{ site: Site; by: WriteBy }> {
  const { caller } = asked;
  if ("site" in who) return managedSite(asked, who.site);
  if ("owner" in who) {
    // A manage_token, and for some rows every credential but a session, gets the advice to sign in, whatever the site
    // is.
    const by = who.owner === null || caller.kind === "site" ? { by: accountHolder(caller) } : {};
    return { ...(await managedSite(asked, who.owner)), ...by };
  }
  const managed = await managedSite(asked, null);
  if ("claimed" in who) {
    if (caller.kind === "site" && managed.site.owner_account_id === null) throw refusals.ownerRequired();
    return { ...managed, by: accountHolder(caller) };
  }
  if (caller.kind !== "account" && managed.site.owner_account_id !== null) throw refusals.ownersAlone();
  return managed;
}
