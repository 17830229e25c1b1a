/** `svc comments token create`, `list` and `revoke`: tokens with which agents read and answer comments. */
import type { Context, CallWords } from "../../command.ts";
import { usage } from "../../failure.ts";
import { ANY } from "../../service/wire.ts";
import { svc } from "../../invocation.ts";
import { dim, green, text } from "../../terminal/text.ts";
import { moment } from "../../terminal/units.ts";
import { askComments, known, openComments } from "./opened.ts";
import { array, type Infer, object, pick } from "../../../api/shapes/builder.ts";
import * as comments from "../../../api/shapes/comments.ts";

const MADE_TOKEN = pick(comments.NEW_AGENT_TOKEN, "token_id", "name", "scopes", "expires_at", "token");
const LISTED_TOKEN = pick(
  comments.AGENT_TOKENS.required.tokens.items,
  ...(["token_id", "name", "scopes", "expires_at", "last_used_at"] as const),
);
type ListedToken = Infer<typeof LISTED_TOKEN>;
const TOKEN_LIST = object({ tokens: array(LISTED_TOKEN) });

const SCOPES = ["read", "reply", "resolve", "see_pending"] as const;

function scopesOf(given: CallWords): string[] {
  const written = given.value("scopes");
  if (written === undefined)
    throw usage(`--scopes is missing: name some of ${SCOPES.join(",")}, such as --scopes read,reply.`);
  return written.split(",").map((scope) => known(scope.trim(), SCOPES, "scope"));
}

function daysOf(given: CallWords): number | undefined {
  const written = given.value("expires-in-days");
  if (written === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(written)) return Number(written);
  throw usage(`--expires-in-days wants a whole number of days, not ${written}.`);
}

const dayOf = (at: string): string => new Date(at).toISOString().slice(0, 10);

async function createToken(context: Context, given: CallWords): Promise<void> {
  const name = given.value("name");
  if (name === undefined) throw usage("--name is missing: what is written with the token is shown under it.");
  const [scopes, expires_in_days] = [scopesOf(given), daysOf(given)];
  const opened = await openComments(context, given);
  const json = { name, scopes, ...(expires_in_days !== undefined && { expires_in_days }) };
  const made = await askComments(opened, "tokens", MADE_TOKEN, { method: "POST", json, repeatable: false });
  if (given.json) return context.terminal.json({ ok: true, ...made });
  const until = moment(Date.parse(made.expires_at), context.now());
  context.terminal.say(text`\n  ${green("✓")} A token for ${made.name}: ${made.scopes.join(", ")}, until ${until}`);
  context.terminal.say(dim(text`  It is shown this once. Keep it where the agent keeps its secrets.\n`));
  context.terminal.result(made.token);
}

/** A row: `token_id  name  scopes  until 2027-02-20  used 2026-11-22`. */
const row = ({ token_id, name, scopes, last_used_at, expires_at }: ListedToken): string => {
  const used = last_used_at === null ? "never used" : `used ${dayOf(last_used_at)}`;
  return [token_id, name, scopes.join(","), `until ${dayOf(expires_at)}`, used].join("  ");
};

async function listTokens(context: Context, given: CallWords): Promise<void> {
  const opened = await openComments(context, given);
  const { tokens } = await askComments(opened, "tokens", TOKEN_LIST);
  if (given.json) return context.terminal.json({ ok: true, tokens });
  for (const token of tokens) context.terminal.result(row(token));
}

async function revokeToken(context: Context, given: CallWords): Promise<void> {
  const { argument } = given;
  const call = svc("comments token revoke");
  if (argument === undefined) throw usage(`${call} wants the token's id: ${call} <token_id>`);
  if (!/^[\w-]+$/.test(argument))
    throw usage(`${call} wants the id that ${svc("comments token list")} shows, not ${argument}.`);
  const opened = await openComments(context, given);
  await askComments(opened, `tokens/${argument}`, ANY, { method: "DELETE" });
  if (given.json) return context.terminal.json({ ok: true });
  context.terminal.say(text`\n  ${green("✓")} The token has ended\n`);
}

/** The commands for tokens of agents. */
export const AGENT_TOKENS = { createToken, listTokens, revokeToken };
