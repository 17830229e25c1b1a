/** `svc claim`: makes an anonymous site the account's by its claim_token, even one that was deployed elsewhere. */
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { readTyped } from "../terminal/input.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";
import { requireToken, type Credential } from "../saved/state.ts";
import { requireSession } from "../service/which-server.ts";
import { namedSite, siteGone } from "./chosen-site.ts";
import { isLinkOf } from "./find-link.ts";
import { green, text } from "../terminal/text.ts";
import { pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";

const CLAIMED = pick(sites.CLAIMED, "site_id", "url");

/** The site to claim: named by its site_id, or by a claim link that has everything. */
interface ClaimedSite {
  site_id: string;
  origin: string | null;
  token: string | null;
}

/** Reads a site_id, or a claim link: `{base_url}/claim/<site_id>#<claim_token>`. */
function named(argument: string): ClaimedSite {
  if (!/^https?:\/\//i.test(argument)) return { site_id: argument, origin: null, token: null };
  const url = URL.canParse(argument) ? new URL(argument) : null;
  const site_id = /\/claim\/([\w-]+)\/?$/.exec(url?.pathname ?? "")?.[1];
  if (url === null || site_id === undefined) {
    throw usage(`${argument} is no claim link: that has /claim/site_…#svc_claim_… in it.`);
  }
  return { site_id, origin: url.origin, token: url.hash.slice(1) || null };
}

/** Refuses a link to another server than the one that this machine uses: anyone can make a link, and the session in SVC_TOKEN
 *  would go to its author. */
function requireOwn(origin: string | null, server: Server): void {
  if (origin === null || origin === server.origin) return;
  const way = `If you trust it: DEPLOY_URL=${origin} ${svc("claim <claim_url>")}, or ${svc(`login ${origin}`)} first.`;
  throw new Failure(
    "other_server",
    `The claim link is of ${origin}, and the server in use is ${server.origin}: nothing was sent. ${way}`,
  );
}

/** The claim_token from the flag, the claim link, the link of a folder, or a person. */
async function claimToken(context: Context, given: CallWords, { site_id, token }: ClaimedSite, link: Link | null) {
  const flag = given.value("token");
  if (flag !== undefined) return { token: requireToken(flag, "claim_token"), from: "--token" };
  if (token !== null) return { token: requireToken(token, "claim_token"), from: "the claim link" };
  if (link?.claim_token) return { token: link.claim_token, from: "the link of this machine" };
  if (!context.terminal.interactive) {
    throw new Failure(
      "no_claim_token",
      `The claim_token of ${site_id} is not known here: give --token <claim_token>. A site of your account needs no claim.`,
    );
  }
  const typed = (await readTyped(context.terminal, `  claim_token of ${site_id} (not shown): `, "hidden")).trim();
  if (typed === "") throw new Failure("no_claim_token", "No claim_token was given.");
  return { token: requireToken(typed, "claim_token"), from: "what you typed" } satisfies Credential;
}

/** The API's sentence speaks of the session, which the server accepted; the claim_token is what it refused. */
function explained(error: unknown, from: string): unknown {
  if (!(error instanceof ApiFailure) || error.code !== "invalid_claim") return error;
  const sentence = `Invalid claim: no site is waiting under this id, or the claim_token (${from}) is not its own.`;
  return new ApiFailure(error.status, error.code, sentence);
}

export async function claim(context: Context, given: CallWords): Promise<void> {
  if (given.argument === undefined) throw usage(`${svc("claim")} wants the site: ${svc("claim <site_id>")}`);
  const site = named(given.argument);
  const { site_id } = site;
  const { link, server } = namedSite(context, site_id, svc("claim"));
  requireOwn(site.origin, server);
  const credential = requireSession(context.env, server, "claim");
  const { token, from } = await claimToken(context, given, site, link);
  const path = `/sites/${site_id}/claim`;
  const call = { method: "POST", path, credential, json: { claim_token: token }, repeatable: true } as const;
  const body = await ask(server, call, CLAIMED).catch((error: unknown) => {
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
