/** Who asks, and whether they may: the matrix of RELIABILITY.md 5 is decided here. */
import { Refusal } from "../errors.ts";
import { siteState } from "../site-state.ts";
import type { Store } from "../store/index.ts";
import { unknownSite, type WriteBy } from "../store/permission.ts";
import { hashToken } from "../tokens.ts";
import type { Caller, Site } from "../types.ts";

/** One Bearer credential, its scheme in any case (RFC 9110, 11.1). Two headers arrive joined by a comma: none. */
const BEARER = /^bearer +([A-Za-z0-9_\-.~+/]{1,512}=*)$/i;

/** A credential that is none here is `unknown`, never `anonymous`: a typo must not make an ownerless site. */
export async function callerOf(request: Request, store: Pick<Store, "tokens">): Promise<Caller> {
  const header = request.headers.get("authorization");
  if (header === null) return { kind: "anonymous" };
  const token = BEARER.exec(header)?.[1];
  if (!token) return { kind: "unknown" };
  const token_hash = hashToken(token);
  const known = await store.tokens.find(token_hash);
  if (!known) return { kind: "unknown" };
  const { site_id, gone } = known;
  return known.kind === "manage" ? { kind: "site", site_id, gone, token_hash } : { kind: "claim", site_id };
}

const signIn = {
  action: "login",
  description: "Send the site's manage_token as a Bearer credential.",
};

export const unauthorized = (): Refusal =>
  new Refusal("unauthorized", "This needs the site's manage_token: send it as Authorization: Bearer <token>.", {
    next_actions: [signIn],
  });

/** For `POST /sites`: nobody in particular. A credential that opens no account is refused. */
export function refuseUnlessAnyone(caller: Caller): void {
  if (caller.kind === "anonymous") return;
  throw new Refusal(
    "unauthorized",
    "The credential that came with the deploy opens no account here. Leave it out for an anonymous site.",
    { next_actions: [{ action: "deploy", description: "Deploy without a credential.", command: "svc" }] },
  );
}

/** The site that the caller may manage, and the credential to prove it again when the change commits. */
export async function managedSite(
  caller: Caller,
  site_id: string,
  store: Pick<Store, "sites">,
  now: number,
): Promise<{ site: Site; by: WriteBy }> {
  if (caller.kind !== "site" || caller.site_id !== site_id) throw unauthorized();
  const site = caller.gone ? null : await store.sites.byId(site_id);
  if (!site || siteState(site, now) === "expired") throw unknownSite();
  return { site, by: { token_hash: caller.token_hash } };
}
