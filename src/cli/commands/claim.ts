/** `svc claim`: an anonymous site becomes the account's by its claim_token, also one that was deployed elsewhere. */
import { ApiFailure, ask } from "../service/api.ts";
import type { Context, Given } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { readHidden } from "../terminal/hidden-input.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import { requireSession, requireToken, type Credential } from "../saved/state.ts";
import { namedSite, siteGone } from "./chosen-site.ts";
import { isLinkOf } from "./find-link.ts";
import { green, text } from "../terminal/text.ts";
import type { Claimed } from "../service/wire.ts";

/** The claim_token from the flag, the link, or a person. */
async function claimToken(context: Context, given: Given, site_id: string, link: Link | null): Promise<Credential> {
  const flag = given.value("token");
  if (flag !== undefined) return { token: requireToken(flag, "claim_token"), from: "--token" };
  if (link?.claim_token) return { token: link.claim_token, from: "the link of this machine" };
  if (!context.terminal.interactive) {
    throw new Failure("no_claim_token", `The claim_token of ${site_id} is not known here: give --token <claim_token>.`);
  }
  const typed = (await readHidden(context.terminal, `  claim_token of ${site_id} (not shown): `)).trim();
  if (typed === "") throw new Failure("no_claim_token", "No claim_token was given.");
  return { token: requireToken(typed, "claim_token"), from: "what you typed" };
}

/** The API's sentence speaks of the session, which the server accepted; the claim_token is what it refused. */
function explained(error: unknown, from: string): unknown {
  if (!(error instanceof ApiFailure) || error.code !== "invalid_claim") return error;
  const sentence = `Invalid claim: no site is waiting under this id, or the claim_token (${from}) is not its own.`;
  return new ApiFailure(error.status, error.code, sentence);
}

export async function claim(context: Context, given: Given): Promise<void> {
  const site_id = given.argument;
  if (site_id === undefined) throw usage(`${svc("claim")} wants the site: ${svc("claim <site_id>")}`);
  const { link, server } = namedSite(context, site_id, svc("claim"));
  const credential = requireSession(context.env, server, "claim");
  const { token, from } = await claimToken(context, given, site_id, link);
  const path = `/sites/${site_id}/claim`;
  const call = { method: "POST", path, credential, json: { claim_token: token }, repeatable: true } as const;
  const body = await ask<Claimed>(server, call).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.code === "unknown_site") {
      throw siteGone(context, { site_id, link, server, credentials: [] });
    }
    throw explained(error, from);
  });
  const isOurs = isLinkOf(site_id, server);
  context.links.edit((link) => (isOurs(link) ? { ...link, expires_at: null, claim_token: null } : link));
  if (given.json) return context.terminal.json(body);
  context.terminal.say(text`\n  ${green("✓")} Claimed: the site is yours and does not expire`);
  context.terminal.url(body.url);
}
