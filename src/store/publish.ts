/** Storing a version, and making it live or showing it beside what is live: blobs first, then one transaction
 *  (RELIABILITY 2, W3 to W6). And moving the live pointer back. */
import { Refusal } from "../base/errors.ts";
import { siteState } from "../base/site-state.ts";
import type { Site } from "../base/types.ts";
import { UNIT_MS } from "../base/units.ts";
import { auditRepeated } from "./audit.ts";
import { quarantine } from "./moderation.ts";
import { nameRows } from "./names.ts";
import { type Backend, change, type Held, type Op, read, statement, steps } from "./operation.ts";
import type { Granted } from "./people/deploy-tokens.ts";
import type { SignedIn } from "./people/sessions.ts";
import { permission, type WriteBy } from "./permission.ts";
import { previewRows } from "./previews.ts";
import { type Admitted, type Bounds, type Charged, charges } from "./quotas.ts";
import { isDiskFull, refusals, refuseCollision } from "./refusals.ts";
import { askRender } from "./renders.ts";
import { keepNewest } from "./retention.ts";
import { manageTokens, type NewToken, type RolledBack, siteRows } from "./sites.ts";
import { addVersion, compareWith, LISTED, type NewVersion } from "./versions.ts";
import { receipts, type VersionChanges } from "./receipts.ts";

/** The target of a deploy: a new site, one that exists, or a preview. */
export type PublishTarget =
  | {
      kind: "new";
      site_id: string;
      /** Null means an anonymous site, which expires. */
      owner: SignedIn | Granted | null;
      expires_at: number | null;
      /** Keyed hash of the network that it counts for; null if the site has an owner. */
      network: string | null;
      /** Tried in order until one was never given out. */
      slugs: string[];
      /** `address`: the network that it counts for; with an owner the account. */
      idempotency: { key_hash: string; address: string } | null;
    }
  | { kind: "existing"; site_id: string; by: WriteBy }
  /** Not live: to be looked at, under a name or at the version's own address, for so many milliseconds. */
  | { kind: "preview"; site_id: string; by: WriteBy; name: string | null; ttl: number };

export interface Publish {
  target: PublishTarget;
  version: NewVersion;
  tokens: NewToken[];
  bounds: Bounds;
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
  /** A browser shall look at the version: the keyed hash of the customer that deploys it. */
  renders?: string | null;
}

export interface Published {
  site: Site;
  version_id: string;
  /** False if the content was live already. */
  changed: boolean;
  /** Against what was live before; null for a new site. */
  changes: VersionChanges | null;
  /** When a preview ends, in epoch milliseconds; left out for what went live. */
  shown_until?: number;
}

export interface Rollback {
  site_id: string;
  by: WriteBy;
  version_id: string;
}

/** How long an `Idempotency-Key` is remembered. */
export const KEY_LIFETIME_MS = 10 * UNIT_MS.m;

interface IdempotencyKey {
  key_hash: string;
  /** The client's network that sent it first: from another the same key makes a new site. */
  address: string;
}

const byKey = statement<{ site_id: string; version_id: string }>(
  "select site_id, version_id from idempotency_keys where key_hash = ? and address = ?",
);
const insertKey = statement(
  "insert into idempotency_keys (key_hash, address, site_id, version_id, created_at) values (?, ?, ?, ?, ?)",
);
const pruneKeys = statement("delete from idempotency_keys where created_at <= ?");

const idempotencyConflict = (): Refusal =>
  new Refusal(
    "idempotency_conflict",
    "This Idempotency-Key was used for another deploy in the last 10 minutes. Send a fresh random key.",
  );

/** The site that this `Idempotency-Key` of an anonymous deploy made (CONTRACT 4.3); null if it made none. Another content under
 *  the same key is a conflict. */
function* siteOfKey({ key_hash, address }: IdempotencyKey, version_id: string, now: number): Op<string | null> {
  yield* pruneKeys.do(now - KEY_LIFETIME_MS);
  const found = yield* byKey.get(key_hash, address);
  if (found && found.version_id !== version_id) throw idempotencyConflict();
  return found && found.site_id;
}

/** The same without a change: whether the key made a site with this content. */
function* isRepeated({ key_hash, address }: IdempotencyKey, version_id: string): Op<boolean> {
  return (yield* byKey.get(key_hash, address))?.version_id === version_id;
}

const rememberKey = (
  { key_hash, address }: IdempotencyKey,
  site_id: string,
  version_id: string,
  now: number,
): Op<void> => insertKey.do(key_hash, address, site_id, version_id, now);

/** A sweep may take an orphan between W3 and W6; three in a row means something is badly wrong. */
const ATTEMPTS = 3;

type NewSite = Extract<PublishTarget, { kind: "new" }>;

const insertSite = statement(
  `insert into sites (site_id, slug, owner_account_id, created_at, expires_at, network, live_version_id, deployed_at)
   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?4)`,
);
const setSpa = statement("update sites set spa_override = ? where site_id = ?");
const storedDigest = statement<{ digest: string }>("select digest from versions where site_id = ? and version_id = ?");

function* freeSlug(slugs: readonly string[]): Op<string> {
  const slug = yield* nameRows.firstFree(slugs);
  if (slug !== null) return slug;
  throw new Refusal("unavailable", "No free name was found for the site. Try again.");
}

function* makeSite(target: NewSite, version_id: string, now: number): Op<Site> {
  const { site_id, owner, expires_at, network, slugs, idempotency } = target;
  if (owner) yield* permission.refuseUnlessOwner(owner, now);
  const slug = yield* freeSlug(slugs);
  const created_at = new Date(now).toISOString();
  yield* insertSite.do(site_id, slug, owner?.account_id ?? null, created_at, expires_at, network, version_id);
  if (idempotency) yield* rememberKey(idempotency, site_id, version_id, now);
  return (yield* siteRows.byId.get(site_id))!;
}

/** Finds or makes the site whose pointer will move. `repeated`: this `Idempotency-Key` made it before. */
function* siteFor(target: PublishTarget, version_id: string, now: number): Op<{ site: Site; repeated: boolean }> {
  if (target.kind !== "new") return { site: yield* permission.writableSite(target, now), repeated: false };
  const earlier = target.idempotency && (yield* siteOfKey(target.idempotency, version_id, now));
  if (earlier === null) return { site: yield* makeSite(target, version_id, now), repeated: false };
  const { owner } = target;
  if (owner) yield* permission.refuseUnlessOwner(owner, now);
  const site = yield* siteRows.byId.get(earlier);
  const isTheirs = site?.owner_account_id === (owner?.account_id ?? null);
  if (!site || !isTheirs || siteState(site, now) === "expired") throw idempotencyConflict();
  return { site, repeated: true };
}

/** The account whose session gets the deploy's tokens. */
function holderOf(target: PublishTarget): string | null {
  if (target.kind === "new") return target.owner?.account_id ?? null;
  return "account_id" in target.by ? target.by.account_id : null;
}

/** Leaves the transaction as an error, for the site that was just inserted must be undone with the rest. */
const MISSING_BLOB = new Error("a blob went missing since it was put");

/** Inside the transaction, once it is known that the site has no such version. */
function* addNew(site: Site, { version, bounds }: Publish, changes: VersionChanges | null, now: number): Op<void> {
  const added = yield* charges.addedBy(site, version);
  yield* charges.refuseOverQuota(site, added, bounds, now);
  const site_no = yield* addVersion(site, version, changes, new Date(now).toISOString());
  yield* charges.countVersion(site.site_id, site_no, added);
}

/** The same before the blobs are written: of a deploy that is refused nothing is. */
function* admitPublish({ target, version, bounds }: Publish, now: number): Op<void> {
  const site = target.kind === "new" ? siteToBe(target) : yield* siteRows.byId.get(target.site_id);
  const key = target.kind === "new" ? target.idempotency : null;
  if (site === null || (key && (yield* isRepeated(key, version.version_id)))) return;
  yield* charges.admit(site, version, bounds, now);
}

const siteToBe = ({ site_id, owner, network }: NewSite) => ({
  site_id,
  site_no: 0,
  owner_account_id: owner?.account_id ?? null,
  network,
});

/** Against what is live now. It reads two manifests, so it is done before the transaction, and again in it only if the site
 *  moved on meanwhile. */
function* compareWithLive({ target, version }: Publish): Op<VersionChanges | null> {
  const site = target.kind === "new" ? null : yield* siteRows.byId.get(target.site_id);
  return site && (yield* compareWith({ site_id: site.site_id, version_id: site.live_version_id }, version));
}

/** W6: all of a deploy that must be true together. */
function* commit(publish: Publish, compared: VersionChanges | null, held: Held, now: number): Op<Published> {
  const { target, version, tokens } = publish;
  const at = new Date(now).toISOString();
  const { version_id } = version;
  const { site, repeated } = yield* siteFor(target, version_id, now);
  const { site_id } = site;
  if (!(yield* held.allThere())) throw MISSING_BLOB;

  const stored = yield* storedDigest.get(site_id, version_id);
  refuseCollision(stored?.digest, version);
  // The version of a repeated deploy may have been removed since: its site is the answer all the same.
  const changes = compared?.against === site.live_version_id ? compared : yield* compareWithLive(publish);
  if (!stored && !repeated) yield* addNew(site, publish, changes, now);
  const shown = repeated ? { changed: false } : yield* show(site, publish, now);
  if (stored && shown.changed && target.kind !== "preview")
    yield* receipts.keepFigures(site_id, version_id, { checked: version.checked, changes });
  yield* manageTokens.add(site_id, tokens, at, holderOf(target));
  if (target.kind !== "new") yield* permission.noteUse(target.by, now);
  return { site: (yield* siteRows.byId.get(site_id))!, version_id, changes, ...shown };
}

/** Shows a stored version: live, or as a preview. */
function* show(site: Site, publish: Publish, now: number): Op<Pick<Published, "changed" | "shown_until">> {
  const { target, version, spa_override, renders = null } = publish;
  const { site_id } = site;
  const { version_id } = version;
  yield* quarantine(site, version_id, version.suspicions);
  const changed = target.kind === "new" || site.live_version_id !== version_id;
  if (target.kind === "preview")
    return { changed, shown_until: yield* previewRows.show(site, version_id, target, now) };
  if (changed) yield* siteRows.moveLive(site_id, version_id, now);
  if (renders !== null) yield* askRender(site_id, version_id, renders, now);
  if (spa_override !== undefined) yield* setSpa.do(spa_override, site_id);
  return { changed };
}

async function putAndCommit({ db, place, now }: Backend, publish: Publish): Promise<Published> {
  await db.read(() => admitPublish(publish, now()));
  const compared = await db.read(() => compareWithLive(publish));
  for (let left = ATTEMPTS; left > 0; left--) {
    const held = await place.put(publish.version);
    try {
      return await db.change(
        () => commit(publish, compared, held, now()),
        ({ site }) => [site.slug],
      );
    } catch (error) {
      if (error !== MISSING_BLOB) throw error;
    }
  }
  throw new Error("Blobs vanish as fast as they are written: is another program cleaning the data directory?");
}

async function publishAll(backend: Backend, publish: Publish): Promise<Published> {
  try {
    const published = await putAndCommit(backend, publish);
    return { ...published, site: await keepNewest(backend.db, published.site, publish.bounds.keep_versions) };
  } catch (error) {
    if (isDiskFull(error)) backend.place.makeRoom();
    throw error;
  }
}

const known = statement(`select 1 from versions where site_id = ? and version_id = ? and ${LISTED}`);

function* rollBack({ site_id, by, version_id }: Rollback, now: number): Op<RolledBack> {
  const { live_version_id } = yield* permission.writableSite({ site_id, by }, now);
  if ((yield* known.get(site_id, version_id)) === null) throw refusals.unknownVersion();
  yield* permission.noteUse(by, now);
  if (live_version_id !== version_id) {
    const reason = `from ${live_version_id} to ${version_id}`;
    const at = new Date(now).toISOString();
    yield* auditRepeated({ at, ...permission.actorOf(by), action: "rollback", site_id, reason });
  }
  return { site: yield* siteRows.moveLive(site_id, version_id, now), previous_version_id: live_version_id };
}

export const PUBLISHING = {
  /** Throws a Refusal, or `CommitUnknown` if the process must restart. */
  publish: steps("change", publishAll),
  /** Throws `quota_exceeded` if `publish` would for want of room in a quota. */
  admit: read(({ now }, site: Charged, version: Admitted, bounds: Bounds) =>
    charges.admit(site, version, bounds, now()),
  ),
  /** Moves the live pointer to a stored version: no version is deleted, and one can roll forward again. */
  rollback: change(
    ({ now }, rollback: Rollback) => rollBack(rollback, now()),
    ({ site }) => [site.slug],
  ),
};
