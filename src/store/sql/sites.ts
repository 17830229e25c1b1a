/** Sites, their tombstones and their tokens. */
import type { Database } from "bun:sqlite";
import type { Site, TokenKind, Tombstone } from "../../types.ts";
import type { NewToken, Sites } from "../index.ts";

/** Never used ones go first, then the one used longest ago (CONTRACT.md 4.3). */
const MANAGE_TOKENS_KEPT = 20;

export interface KnownToken {
  site_id: string;
  kind: TokenKind;
  /** The site it was for is gone: the token learns that, and opens nothing. */
  gone: boolean;
}

export function siteReader(db: Database): Sites {
  const bySlug = db.prepare<Site, [string]>("select * from sites where slug = ?");
  const byId = db.prepare<Site, [string]>("select * from sites where site_id = ?");
  const tombstone = db.prepare<Tombstone, [string]>("select * from tombstones where slug = ?");
  return {
    bySlug: async (slug) => bySlug.get(slug),
    byId: async (site_id) => byId.get(site_id),
    tombstone: async (slug) => tombstone.get(slug),
  };
}

export interface Tokens {
  /** By the token's hash; null where it never was one. */
  find(hash: string): Promise<KnownToken | null>;
}

/** By a token's hash, also of a site that is gone. */
export function knownToken(db: Database): (hash: string) => KnownToken | null {
  const find = db.prepare<{ site_id: string; kind: TokenKind; gone: number }, [string]>(
    `select site_id, kind, 0 as gone from tokens where hash = ?1
     union all select site_id, kind, 1 as gone from tombstone_tokens where hash = ?1`,
  );
  return (hash) => {
    const row = find.get(hash);
    return row && { ...row, gone: row.gone === 1 };
  };
}

export function tokenReader(db: Database): Tokens {
  const find = knownToken(db);
  return { find: async (hash) => find(hash) };
}

/** For use inside a transaction. */
export function tokenWriter(db: Database) {
  const insert = db.prepare<unknown, [string, string, string, string]>(
    "insert into tokens (hash, site_id, kind, created_at) values (?, ?, ?, ?)",
  );
  const trim = db.prepare<unknown, [string, number]>(
    `delete from tokens where hash in (
       select hash from tokens where site_id = ? and kind = 'manage'
       order by used_at is null, used_at desc, created_at desc limit -1 offset ?)`,
  );
  const use = db.prepare<unknown, [string, string]>("update tokens set used_at = ? where hash = ?");
  const holds = db.prepare<{ hash: string }, [string, string]>(
    "select hash from tokens where hash = ? and site_id = ? and kind = 'manage'",
  );
  return {
    add(site_id: string, tokens: readonly NewToken[], at: string): void {
      const fresh = tokens.filter((token) => token.kind === "manage").length;
      if (fresh > 0) trim.run(site_id, MANAGE_TOKENS_KEPT - fresh);
      for (const { hash, kind } of tokens) insert.run(hash, site_id, kind, at);
    },
    used: (hash: string, at: string): void => void use.run(at, hash),
    manages: (hash: string, site_id: string): boolean => holds.get(hash, site_id) !== null,
  };
}
