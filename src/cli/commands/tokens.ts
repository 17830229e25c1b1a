/** `svc token create`, `list` and `revoke`: deploy tokens, for CI. `svc tokens revoke` ends the manage_tokens of a site. */
import { milliseconds, UNIT_MS } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { ANY } from "../service/wire.ts";
import { requireSession } from "../service/which-server.ts";
import { columns, cut, dim, green, text } from "../terminal/text.ts";
import { count, moment } from "../terminal/units.ts";
import { chooseSite, siteGone } from "./chosen-site.ts";
import { isoTime } from "./receipt.ts";
import { isLinkOf } from "./find-link.ts";
import { type Infer, pick } from "../../api/shapes/builder.ts";
import * as account from "../../api/shapes/account.ts";
import * as sites from "../../api/shapes/sites.ts";

const REVOKED = pick(sites.REVOKED, "revoked");
const DEPLOY_TOKEN = account.NEW_DEPLOY_TOKEN;
const DEPLOY_TOKENS = account.DEPLOY_TOKENS;

const SCOPES = ["read", "preview", "deploy", "create"];
const PATH = "/account/tokens";
const LONGEST_NAME = 80;
const LONGEST_LIFE_MS = 366 * UNIT_MS.d;

function scopesOf(given: CallWords): string[] {
  const scopes = given.values("scope").flatMap((written) => written.split(",").map((scope) => scope.trim()));
  if (scopes.length === 0) throw usage(`--scope is missing: name some of ${SCOPES.join(", ")}.`);
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown !== undefined) throw usage(`There is no scope ${unknown}: name some of ${SCOPES.join(", ")}.`);
  return scopes;
}

function sitesOf(given: CallWords, scopes: readonly string[]): string[] | undefined {
  const site_ids = given.values("site").flatMap((written) => written.split(",").map((id) => id.trim()));
  if (site_ids.length === 0) return undefined;
  if (scopes.includes("create")) throw usage("--site goes with no scope create: a new site is in no list.");
  const wrong = site_ids.find((id) => !/^site_[0-9a-z]{20}$/.test(id));
  if (wrong !== undefined) throw usage(`--site wants an id such as site_…, not ${wrong}: ${svc("list")} has them.`);
  return site_ids;
}

function lifeOf(given: CallWords): string | undefined {
  const written = given.value("expires");
  const [, amount, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(written ?? "") ?? [];
  const fits = amount !== undefined && milliseconds(amount, unit!) <= LONGEST_LIFE_MS;
  if (written === undefined || fits) return written;
  throw usage(`--expires wants a duration from 1s to 366d, such as 12h or 90d, not ${written}.`);
}

function nameOf(given: CallWords): string {
  const name = given.value("name")?.trim();
  if (name === undefined) throw usage("--name is missing: what you will know the token by, such as the repository.");
  if (name !== "" && [...name].length <= LONGEST_NAME && visible(name) === name) return name;
  throw usage(`--name wants 1 to ${LONGEST_NAME} characters that everybody sees.`);
}

/** Explains the 404 of a server that is older than deploy tokens, or of a site's address. */
const forTokens =
  ({ origin }: Server) =>
  (error: unknown): never => {
    if (!(error instanceof ApiFailure) || error.code !== "not_found") throw error;
    throw new Failure(
      "not_found",
      `The server ${origin} knows no deploy tokens: it is older than this svc, and must be upgraded first, or it is the address of a site.`,
    );
  };

const allTokens = (server: Server, credential: Credential) =>
  ask(server, { method: "GET", path: PATH, credential, repeatable: true }, DEPLOY_TOKENS).catch(forTokens(server));

export async function createToken(context: Context, given: CallWords): Promise<void> {
  const { server, env, terminal, now } = context;
  const name = nameOf(given);
  const scopes = scopesOf(given);
  const [site_ids, expires_in] = [sitesOf(given, scopes), lifeOf(given)];
  const credential = requireSession(env, server, "token create");
  const json = { name, scopes, ...(site_ids && { site_ids }), ...(expires_in && { expires_in }) };
  const call = { method: "POST", path: PATH, credential, json, repeatable: false } as const;
  const made = await ask(server, call, DEPLOY_TOKEN).catch(forTokens(server));
  if (given.json) return terminal.json({ ok: true, ...made, expires_at: isoTime(made.expires_at) });
  const until = moment(made.expires_at, now());
  terminal.say(
    text`\n  ${green("✓")} ${made.token_id}: ${made.scopes.join(", ")} for ${placesOf(made)}, until ${until}`,
  );
  terminal.say(dim("  It is shown this once. Keep it among the secrets of your CI, as SVC_TOKEN."));
  terminal.say();
  terminal.result(made.token);
}

const placesOf = ({ site_ids }: Pick<ListedDeployToken, "site_ids">): string =>
  site_ids === null ? "all sites" : site_ids.length === 1 ? site_ids[0]! : count(site_ids.length, "site");

const dayOf = (at: string | number): string => new Date(at).toISOString().slice(0, 10);

const NAME_WIDTH = 32;

/** A row of the list. Only on a terminal is a long name cut. */
const rowOf = ({ resultIsRead }: Context["terminal"], token: ListedDeployToken): string[] => [
  token.token_id,
  resultIsRead ? cut(token.name, NAME_WIDTH) : token.name,
  token.scopes.join(","),
  placesOf(token),
  `until ${dayOf(token.expires_at)}`,
  token.last_used_at === null ? "never used" : `used ${dayOf(token.last_used_at)}`,
];

export async function listTokens({ server, env, terminal }: Context, given: CallWords): Promise<void> {
  const credential = requireSession(env, server, "token list");
  const { tokens } = await allTokens(server, credential);
  if (given.json) {
    const shown = tokens.map((token) => ({ ...token, expires_at: isoTime(token.expires_at) }));
    return terminal.json({ ok: true, tokens: shown });
  }
  if (tokens.length === 0)
    return terminal.say(text`No deploy tokens on ${server.origin}: ${svc("token create")} makes one.`);
  const rows = tokens.map((token) => rowOf(terminal, token));
  const lines = terminal.resultIsRead ? columns(rows) : rows.map((row) => row.join("  "));
  for (const line of lines) terminal.result(line);
}

export async function revokeToken({ server, env, terminal }: Context, given: CallWords): Promise<void> {
  const { argument } = given;
  const call = svc("token revoke");
  if (argument === undefined) throw usage(`${call} wants the token's id: ${call} <tok_…>`);
  if (argument.startsWith("svc_deploy_")) {
    throw usage(`${call} wants the id that ${svc("token list")} shows, not the token itself.`);
  }
  if (!/^tok_[0-9a-z]{20}$/.test(argument)) throw usage(`${call} wants an id such as tok_…, not ${argument}.`);
  const credential = requireSession(env, server, "token revoke");
  const path = `${PATH}/${argument}`;
  await ask(server, { method: "DELETE", path, credential, repeatable: false }, ANY).catch(async (error: unknown) => {
    // An older server says the same of every token.
    if (error instanceof ApiFailure && error.code === "not_found") await allTokens(server, credential);
    throw error;
  });
  if (given.json) return terminal.json({ ok: true });
  terminal.say(text`\n  ${green("✓")} The deploy token has ended\n`);
}

/** This machine's own token has ended too: the session gets a fresh one with the next update. */
function forgetTokens({ links }: Context, isOurs: ReturnType<typeof isLinkOf>): void {
  try {
    links.edit((link) => (isOurs(link) ? { ...link, manage_token: null } : link));
  } catch {
    // The tokens have ended: that a link could not be saved is no failure of it.
  }
}

/** `svc tokens revoke`: ends every manage_token of a site; its owner's session still changes it. */
export async function tokens(context: Context, given: CallWords): Promise<void> {
  if (given.argument !== "revoke") {
    throw usage(`What can be done with tokens is: ${svc("tokens revoke")}. For deploy tokens: ${svc("token create")}`);
  }
  const site = chooseSite(context, given, undefined);
  const { site_id, server } = site;
  const credential = requireSession(context.env, server, "tokens revoke");
  const call = { method: "DELETE", path: `/sites/${site_id}/manage-tokens`, credential, repeatable: true } as const;
  const body = await ask(server, call, REVOKED).catch((error: unknown) => {
    throw error instanceof ApiFailure && error.code === "unknown_site" ? siteGone(context, site) : error;
  });
  forgetTokens(context, isLinkOf(site_id, server));
  if (given.json) return context.terminal.json(body);
  context.terminal.say(
    text`\n  ${green("✓")} ${count(body.revoked, "manage_token")} ended: only your account changes the site`,
  );
}

type ListedDeployToken = Infer<typeof DEPLOY_TOKENS>["tokens"][number];
