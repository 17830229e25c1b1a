/** Making a version live: blobs first, then one transaction (RELIABILITY.md 2, W3 to W6). */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import { siteState } from "../../site-state.ts";
import type { Site } from "../../types.ts";
import { dropBallast } from "../disk/ballast.ts";
import { blobIsThere, putBlobs } from "../disk/blobs.ts";
import { diskRefusal, isDiskFull } from "../disk/failures.ts";
import { idempotencyKeys } from "./idempotency.ts";
import type { Generation, Publish, Published, PublishTarget } from "../index.ts";
import { mayStillWrite } from "./permission.ts";
import { quarantineWriter } from "./quarantine.ts";
import { sessionWriter } from "./sessions.ts";
import { tokenWriter } from "./sites.ts";
import { versionWriter } from "./versions.ts";

/** A sweep may take an orphan between W3 and W6; three in a row means something is badly wrong. */
const ATTEMPTS = 3;

interface Parts {
  db: Database;
  data_dir: string;
  generation: Pick<Generation, "advance">;
  now: () => number;
}

type NewSite = Extract<PublishTarget, { kind: "new" }>;

const statements = (db: Database) => ({
  siteById: db.prepare<Site, [string]>("select * from sites where site_id = ?"),
  slugTaken: db.prepare<unknown, [string]>(
    "select 1 from sites where slug = ?1 union all select 1 from tombstones where slug = ?1",
  ),
  insertSite: db.prepare<unknown, [string, string, string | null, string, number | null, string]>(
    `insert into sites (site_id, slug, owner_account_id, created_at, expires_at, live_version_id)
     values (?, ?, ?, ?, ?, ?)`,
  ),
  moveLive: db.prepare<unknown, [string, string]>("update sites set live_version_id = ? where site_id = ?"),
  setSpa: db.prepare<unknown, [number | null, string]>("update sites set spa_override = ? where site_id = ?"),
  storedDigest: db.prepare<{ digest: string }, [string, string]>(
    "select digest from versions where site_id = ? and version_id = ?",
  ),
});

/** Finds or makes the site whose pointer will move. `repeated`: this Idempotency-Key made it before. */
function siteFinder(db: Database, now: () => number) {
  const { siteById, slugTaken, insertSite } = statements(db);
  const permitted = mayStillWrite(db);
  const keys = idempotencyKeys(db);
  const sessions = sessionWriter(db);

  function made(target: NewSite, version_id: string): Site {
    const { site_id, owner, expires_at } = target;
    if (owner) sessions.refuseUnlessHeld(owner);
    const slug = target.slugs.find((candidate) => slugTaken.get(candidate) === null);
    if (!slug) throw new Refusal("unavailable", "No free name was found for the site. Try again.");
    insertSite.run(site_id, slug, owner?.account_id ?? null, new Date(now()).toISOString(), expires_at, version_id);
    if (target.idempotency) keys.add(target.idempotency, site_id, version_id, now());
    return siteById.get(site_id)!;
  }

  return (target: PublishTarget, version_id: string): { site: Site; repeated: boolean } => {
    if (target.kind === "existing") return { site: permitted(target, now()), repeated: false };
    const earlier = target.idempotency && keys.find(target.idempotency, version_id, now());
    if (!earlier) return { site: made(target, version_id), repeated: false };
    const site = siteById.get(earlier.site_id);
    if (!site || site.owner_account_id !== null || siteState(site, now()) === "expired") throw keys.conflict();
    return { site, repeated: true };
  };
}

/** Leaves the transaction as an error, for the site that was just inserted must be undone with the rest. */
const MISSING_BLOB = new Error("a blob went missing since it was put");

/** W6: all of a deploy that must be true together. */
function committer({ db, data_dir, now }: Parts) {
  const { siteById, moveLive, setSpa, storedDigest } = statements(db);
  const tokens = tokenWriter(db);
  const versions = versionWriter(db);
  const quarantine = quarantineWriter(db);
  const find = siteFinder(db, now);

  return db.transaction(({ target, version, ...publish }: Publish): Published => {
    const at = new Date(now()).toISOString();
    const { site, repeated } = find(target, version.version_id);
    const { site_id } = site;
    if (!version.manifest.every((file) => blobIsThere(data_dir, file.sha256, file.bytes))) throw MISSING_BLOB;

    const stored = storedDigest.get(site_id, version.version_id);
    refuseCollision(stored?.digest, version);
    if (!stored) versions.add(site_id, version, at);
    const changed = !repeated && (target.kind === "new" || site.live_version_id !== version.version_id);
    if (changed) moveLive.run(version.version_id, site_id);
    if (publish.spa_override !== undefined && !repeated) setSpa.run(publish.spa_override, site_id);
    if (!repeated) quarantine(site, version.version_id, version.suspicions);
    tokens.add(site_id, publish.tokens, at);
    if (target.kind === "existing" && "token_hash" in target.by) tokens.used(target.by.token_hash, at);
    return { site: siteById.get(site_id)!, version_id: version.version_id, changed };
  });
}

/** The function that publishes. Throws a Refusal, or `CommitUnknown` where the process must restart. */
export function publisher(parts: Parts): (publish: Publish) => Promise<Published> {
  const { data_dir, generation } = parts;
  const commit = committer(parts);

  async function putAndCommit(publish: Publish): Promise<Published> {
    for (let left = ATTEMPTS; left > 0; left--) {
      await putBlobs(data_dir, publish.version.blobs);
      try {
        const published = commit.immediate(publish);
        generation.advance();
        return published;
      } catch (error) {
        if (error !== MISSING_BLOB) throw error;
      }
    }
    throw new Error("Blobs vanish as fast as they are written: is another program cleaning the data directory?");
  }

  return async (publish) => {
    try {
      return await putAndCommit(publish);
    } catch (error) {
      if (isDiskFull(error)) dropBallast(data_dir);
      throw diskRefusal(error);
    }
  };
}

/** `stored`: the digest of the site's version of that id, if it has one. */
export function refuseCollision(
  stored: string | undefined,
  { version_id, digest }: { version_id: string; digest: string },
) {
  if (stored === undefined || stored === digest) return;
  throw new Refusal(
    "version_collision",
    `Another content of this site already has the version id ${version_id}. Change any byte of any file and deploy again.`,
  );
}
