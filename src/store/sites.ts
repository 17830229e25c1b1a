/** Sites, their tombstones and their tokens. */
import type { Site, TokenKind, Tombstone } from "../base/types.ts";
import { goneComments } from "./notes/gone.ts";
import { type Bound, type Op, read, statement } from "./operation.ts";

export interface NewToken {
  hash: string;
  kind: TokenKind;
}

interface KnownToken {
  site_id: string;
  kind: TokenKind;
  /** Its site is gone: the token opens nothing, and its bearer learns why. */
  gone: boolean;
}

/** Tokens that were never used go first, then the one used longest ago (CONTRACT 4.3). */
const MANAGE_TOKENS_KEPT = 20;

const bySlug = statement<Site>("select * from sites where slug = ?");
const siteById = statement<Site>("select * from sites where site_id = ?");
const tombstone = statement<Tombstone>(
  "select * from tombstones where slug = ?1 or site_id = (select site_id from former_slugs where slug = ?1)",
);
const movedTo = statement<Pick<Site, "slug">>(
  "select slug from sites where site_id = (select site_id from former_slugs where slug = ?)",
);

function* presentName(slug: string): Op<string | null> {
  return (yield* movedTo.get(slug))?.slug ?? null;
}

export const SITES = {
  bySlug: read((_, slug: string) => bySlug.get(slug)),
  byId: read((_, site_id: string) => siteById.get(site_id)),
  /** The present name of the site that had this one before; null if none did, or if it is gone. */
  movedTo: read((_, slug: string) => presentName(slug)),
  /** The rest of a site that is gone, by the name that it had or by one before. */
  tombstone: read((_, slug: string) => tombstone.get(slug)),
};
export type Sites = Bound<typeof SITES>;

/** The site after its live pointer was moved back or on. */
export interface RolledBack {
  site: Site;
  previous_version_id: string;
}

const move = statement<Site>(
  `update sites set live_version_id = ?2, deployed_at = (
     select created_at from versions where versions.site_id = sites.site_id and version_id = ?2)
   where site_id = ?1 returning *`,
);

const leave = statement(
  `update versions set live_until = ?2 where site_id = ?1 and version_id <> ?3
     and version_id = (select live_version_id from sites where site_id = ?1)`,
);
const arrive = statement(
  "update versions set live_since = ?2, live_until = null where site_id = ?1 and version_id = ?3",
);

/** A secret was seen in the version that is left: previews of it that were made until now show it no longer (BEYOND 9). */
const endPreviewsOfLeft = statement(
  `delete from previews where version_no in (
     select version_no from versions where site_id = ?1 and version_id <> ?2 and withhold = 1
       and version_id = (select live_version_id from sites where site_id = ?1))`,
);

const list = statement(
  `update versions set listed_no = (
     select coalesce(max(listed_no), 0) + 1 from versions as others where others.site_id = versions.site_id)
   where site_id = ? and version_id = ? and listed_no is null`,
);
const countListed = statement("update sites set stored_versions = stored_versions + 1 where site_id = ?");

/** Makes one of its stored versions live; one that was never live becomes the newest of its list. Answers the site as it is
 *  then. */
function* moveLive(site_id: string, version_id: string, now: number): Op<Site> {
  if ((yield* list.run(site_id, version_id)).changes > 0) yield* countListed.do(site_id);
  yield* endPreviewsOfLeft.do(site_id, version_id);
  yield* leave.do(site_id, now, version_id);
  yield* arrive.do(site_id, now, version_id);
  return (yield* move.get(site_id, version_id))!;
}

const bury = statement(
  "insert into tombstones (slug, site_id, reason, gone_at) select slug, site_id, ?, ? from sites where site_id = ?",
);
const leaveRest = statement("insert into leftovers (site_id) values (?)");
const deleteSite = statement("delete from sites where site_id = ?");

/** Removes a site for everybody; its slug and the hashes of its tokens stay (RELIABILITY 2, D1). The sweep removes its versions,
 *  a slice at a time, so many versions take no longer here. The comments of a deleted site go at once, for there is no reason to
 *  keep them. */
function* removeSite(site_id: string, reason: "expired" | "deleted", at: string): Op<void> {
  if (reason === "deleted") yield* goneComments.remove(site_id);
  yield* bury.do(reason, at, site_id);
  yield* leaveRest.do(site_id);
  yield* deleteSite.do(site_id);
}

const buryAll = statement(
  `insert into tombstones (slug, site_id, reason, gone_at)
   select slug, site_id, 'deleted', ? from sites where owner_account_id = ? order by slug`,
);
const leaveAll = statement(
  "insert into leftovers (site_id) select site_id from sites where owner_account_id = ? order by site_id",
);
const deleteAll = statement<Pick<Site, "site_id" | "slug">>(
  "delete from sites where owner_account_id = ? returning site_id, slug",
);

/** The same for all sites of an account, which may be thousands. */
function* removeSitesOf(account_id: string, at: string): Op<Pick<Site, "site_id" | "slug">[]> {
  yield* goneComments.removeOf(account_id);
  yield* buryAll.do(at, account_id);
  yield* leaveAll.do(account_id);
  return yield* deleteAll.all(account_id);
}

/** Steps for other transactions that read, move or remove sites. */
export const siteRows = {
  byId: siteById,
  moveLive,
  remove: removeSite,
  removeOf: removeSitesOf,
};

const findToken = statement<{ site_id: string; kind: TokenKind; gone: number }>(
  `select site_id, kind, not exists (select 1 from sites where sites.site_id = tokens.site_id) as gone
   from tokens where hash = ?`,
);

/** By a token's hash, also of a site that is gone. */
function* knownToken(hash: string): Op<KnownToken | null> {
  const row = yield* findToken.get(hash);
  return row && { ...row, gone: row.gone === 1 };
}

export const TOKENS = {
  /** By the token's hash; null if it never was a token. */
  find: read((_, hash: string) => knownToken(hash)),
};

const insertToken = statement(
  "insert into tokens (hash, site_id, kind, created_at, account_id) values (?, ?, ?, ?, ?)",
);
const trimTokens = statement(
  `delete from tokens where site_id = ?1 and kind = 'manage' and hash not in (
     select hash from tokens where site_id = ?1 and kind = 'manage'
     order by used_at is null, used_at desc, created_at desc limit ?2)`,
);

/** `account_id`: the account whose session gets them; null for a deploy without an account. */
function* addTokens(site_id: string, tokens: readonly NewToken[], at: string, account_id: string | null): Op<void> {
  const fresh = tokens.filter((token) => token.kind === "manage").length;
  if (fresh > 0) yield* trimTokens.do(site_id, Math.max(0, MANAGE_TOKENS_KEPT - fresh));
  yield* insertToken.each(
    tokens.map(({ hash, kind }) => [hash, site_id, kind, at, account_id]),
    "text text text text text",
  );
}

const REVOKE = {
  all: statement("delete from tokens where site_id = ? and kind = 'manage'"),
  givers: statement("delete from tokens where site_id = ? and kind = 'manage' and account_id is null"),
};
const revokeGiven = statement("delete from tokens where account_id = ? and kind = 'manage'");

/** Ends manage_tokens of a site: all, or those of its deploys without an account. */
function* revokeTokens(site_id: string, which: keyof typeof REVOKE): Op<number> {
  return (yield* REVOKE[which].run(site_id)).changes;
}

/** Ends the manage_tokens that deploys gave to sessions of the account. */
function* revokeTokensOf(account_id: string): Op<number> {
  return (yield* revokeGiven.run(account_id)).changes;
}

const countGivers = statement<{ n: number }>(
  "select count(*) as n from tokens where site_id = ? and kind = 'manage' and account_id is null",
);
const givers = statement("select 1 from tokens where hash = ? and account_id is null");

/** How many manage_tokens of deploys without an account a site has. */
function* countGiversTokens(site_id: string): Op<number> {
  return (yield* countGivers.get(site_id))!.n;
}

/** Whether a deploy without an account was given this one. */
function* isGivers(hash: string): Op<boolean> {
  return (yield* givers.get(hash)) !== null;
}

const useToken = statement("update tokens set used_at = ? where hash = ?");
const noteTokenUse = (hash: string, at: string): Op<void> => useToken.do(at, hash);

const managing = statement("select 1 from tokens where hash = ? and site_id = ? and kind = 'manage'");
function* manages(hash: string, site_id: string): Op<boolean> {
  return (yield* managing.get(hash, site_id)) !== null;
}

/** Steps for other transactions that check, add or revoke manage_tokens. */
export const manageTokens = {
  known: knownToken,
  add: addTokens,
  revoke: revokeTokens,
  revokeOf: revokeTokensOf,
  countGivers: countGiversTokens,
  isGivers,
  noteUse: noteTokenUse,
  manages,
};
