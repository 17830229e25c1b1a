/** Who acts for a site's owner in its comments: a browser by a code that works once, an agent by its token. */
import { Refusal } from "../../../base/errors.ts";
import type { WriteBy } from "../../changes.ts";
import type { AgentToken, Notes, Scope } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import type { Parts } from "../parts.ts";
import { settableSite } from "../permission.ts";

const MOST_TOKENS = 100;

const insertCode = statement("insert into owner_codes (hash, site_id, expires_at) values (?, ?, ?)");
const dropOldCodes = statement("delete from owner_codes where expires_at <= ?");
const isCode = statement<{ 1: 1 }>("select 1 from owner_codes where hash = ? and site_id = ? and expires_at > ?");
const spendCode = statement("delete from owner_codes where hash = ? and site_id = ? and expires_at > ?");

export function* addOwnerCode(site_id: string, by: WriteBy, hash: string, expires_at: number, now: number): Op<void> {
  yield* settableSite({ site_id, by }, now);
  yield* dropOldCodes.do(now);
  yield* insertCode.do(hash, site_id, expires_at);
}

function* spend(site_id: string, hash: string, now: number): Op<boolean> {
  return (yield* spendCode.run(hash, site_id, now)).changes > 0;
}

/** One that is none takes no write lock: whoever guesses keeps nobody from writing. */
export const ownerCodeSpender =
  (db: Parts["db"], now: () => number): Notes["spendOwnerCode"] =>
  async (site_id, hash) =>
    (await db.read(isCode.get(hash, site_id, now()))) !== null && (await db.write(() => spend(site_id, hash, now())));

type Row = Omit<AgentToken, "scopes"> & { scopes: string };

const COLUMNS = "token_id, site_id, name, scopes, created_at, last_used_at, expires_at";
const insert = statement<Row>(
  `insert into agent_tokens (hash, token_id, site_id, name, scopes, created_at, expires_at)
   values (?, ?, ?, ?, ?, ?, ?) returning ${COLUMNS}`,
);
const forgetEnded = statement("delete from agent_tokens where site_id = ? and expires_at <= ?");
const ofSite = statement<Row>(
  `select ${COLUMNS} from agent_tokens where site_id = ? and expires_at > ? order by created_at desc, token_id`,
);
const remove = statement("delete from agent_tokens where site_id = ? and token_id = ?");
const find = statement<Row>(
  `select ${COLUMNS} from agent_tokens where hash = ? and expires_at > ?
     and exists (select 1 from sites where sites.site_id = agent_tokens.site_id)`,
);
const use = statement("update agent_tokens set last_used_at = ? where hash = ?");

const tokenOf = (row: Row): AgentToken => ({ ...row, scopes: JSON.parse(row.scopes) as Scope[] });

export function* addToken(by: WriteBy, token: Parameters<Notes["addToken"]>[1], now: number): Op<AgentToken> {
  const { hash, token_id, site_id, name, scopes, expires_at } = token;
  yield* settableSite({ site_id, by }, now);
  yield* forgetEnded.do(site_id, now);
  if ((yield* ofSite.all(site_id, now)).length >= MOST_TOKENS) {
    throw new Refusal("invalid_input", `A site has at most ${MOST_TOKENS} agent tokens: revoke one first.`);
  }
  const created_at = new Date(now).toISOString();
  const row = yield* insert.get(hash, token_id, site_id, name, JSON.stringify(scopes), created_at, expires_at);
  return tokenOf(row!);
}

export function* tokensOf(site_id: string, now: number): Op<AgentToken[]> {
  return (yield* ofSite.all(site_id, now)).map(tokenOf);
}

export function* removeToken(site_id: string, by: WriteBy, token_id: string, now: number): Op<boolean> {
  yield* settableSite({ site_id, by }, now);
  return (yield* remove.run(site_id, token_id)).changes > 0;
}

export function* agentOf(hash: string, now: number): Op<AgentToken | null> {
  const row = yield* find.get(hash, now);
  return row && tokenOf(row);
}

export const noteAgentUse = (hash: string, at: string): Op<void> => use.do(at, hash);
