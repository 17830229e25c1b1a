/** Storing a version, and making it live or showing it beside what is live: blobs first, then one transaction
 *  (RELIABILITY 2, W3 to W6). */
import { Refusal } from "../../base/errors.ts";
import type { Publish, Published, PublishTarget } from "../changes.ts";
import { isDiskFull, refuseCollision } from "../refusals.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { type Op, statement } from "./db.ts";
import { idempotencyConflict, isRepeated, rememberKey, siteOfKey } from "./idempotency.ts";
import { keepNewest } from "./kept/newest.ts";
import type { BlobPlace, Parts } from "./parts.ts";
import { noteUse, refuseUnlessOwner, writableSite } from "./permission.ts";
import { quarantine } from "./quarantine.ts";
import { showPreview } from "./previews/show.ts";
import { askRender } from "./renders/queue.ts";
import { addedBy, admit, countVersion, refuseOverQuota } from "./quotas.ts";
import { addTokens, moveLive, siteById } from "./sites.ts";
import { addVersion } from "./versions.ts";

/** A sweep may take an orphan between W3 and W6; three in a row means something is badly wrong. */
const ATTEMPTS = 3;

type NewSite = Extract<PublishTarget, { kind: "new" }>;

const slugTaken = statement("select 1 from sites where slug = ?1 union all select 1 from tombstones where slug = ?1");
const insertSite = statement(
  `insert into sites (site_id, slug, owner_account_id, created_at, expires_at, network, live_version_id, deployed_at)
   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?4)`,
);
const setSpa = statement("update sites set spa_override = ? where site_id = ?");
const storedDigest = statement<{ digest: string }>("select digest from versions where site_id = ? and version_id = ?");

function* freeSlug(slugs: readonly string[]): Op<string> {
  for (const slug of slugs) if ((yield* slugTaken.get(slug)) === null) return slug;
  throw new Refusal("unavailable", "No free name was found for the site. Try again.");
}

function* makeSite(target: NewSite, version_id: string, now: number): Op<Site> {
  const { site_id, owner, expires_at, network, slugs, idempotency } = target;
  if (owner) yield* refuseUnlessOwner(owner, now);
  const slug = yield* freeSlug(slugs);
  const created_at = new Date(now).toISOString();
  yield* insertSite.do(site_id, slug, owner?.account_id ?? null, created_at, expires_at, network, version_id);
  if (idempotency) yield* rememberKey(idempotency, site_id, version_id, now);
  return (yield* siteById.get(site_id))!;
}

/** Finds or makes the site whose pointer will move. `repeated`: this Idempotency-Key made it before. */
function* siteFor(target: PublishTarget, version_id: string, now: number): Op<{ site: Site; repeated: boolean }> {
  if (target.kind !== "new") return { site: yield* writableSite(target, now), repeated: false };
  const earlier = target.idempotency && (yield* siteOfKey(target.idempotency, version_id, now));
  if (earlier === null) return { site: yield* makeSite(target, version_id, now), repeated: false };
  const { owner } = target;
  if (owner) yield* refuseUnlessOwner(owner, now);
  const site = yield* siteById.get(earlier);
  const isTheirs = site?.owner_account_id === (owner?.account_id ?? null);
  if (!site || !isTheirs || siteState(site, now) === "expired") throw idempotencyConflict();
  return { site, repeated: true };
}

/** To whose session the deploy gives its tokens. */
function holderOf(target: PublishTarget): string | null {
  if (target.kind === "new") return target.owner?.account_id ?? null;
  return "account_id" in target.by ? target.by.account_id : null;
}

/** Leaves the transaction as an error, for the site that was just inserted must be undone with the rest. */
const MISSING_BLOB = new Error("a blob went missing since it was put");

/** Inside the transaction, once it is known that the site has no such version. */
function* addNew(site: Site, { version, bounds }: Publish, now: number): Op<void> {
  const added = yield* addedBy(site, version);
  yield* refuseOverQuota(site, added, bounds, now);
  const site_no = yield* addVersion(site, version, new Date(now).toISOString());
  yield* countVersion(site.site_id, site_no, added);
}

/** The same ahead of the blobs: of a deploy that is refused nothing is written. */
function* admitPublish({ target, version, bounds }: Publish, now: number): Op<void> {
  const site = target.kind === "new" ? siteToBe(target) : yield* siteById.get(target.site_id);
  const key = target.kind === "new" ? target.idempotency : null;
  if (site === null || (key && (yield* isRepeated(key, version.version_id)))) return;
  yield* admit(site, version, bounds, now);
}

const siteToBe = ({ site_id, owner, network }: NewSite) => ({
  site_id,
  site_no: 0,
  owner_account_id: owner?.account_id ?? null,
  network,
});

/** W6: all of a deploy that must be true together. */
function* commit(publish: Publish, place: BlobPlace, now: number): Op<Published> {
  const { target, version, tokens } = publish;
  const at = new Date(now).toISOString();
  const { version_id } = version;
  const { site, repeated } = yield* siteFor(target, version_id, now);
  const { site_id } = site;
  if (!(yield* place.allThere(version.manifest))) throw MISSING_BLOB;

  const stored = yield* storedDigest.get(site_id, version_id);
  refuseCollision(stored?.digest, version);
  // Of a repeated deploy the version may have been removed since: its site is the answer all the same.
  if (!stored && !repeated) yield* addNew(site, publish, now);
  const shown = repeated ? { changed: false } : yield* show(site, publish, now);
  yield* addTokens(site_id, tokens, at, holderOf(target));
  if (target.kind !== "new") yield* noteUse(target.by, now);
  return { site: (yield* siteById.get(site_id))!, version_id, ...shown };
}

/** Of a stored version: what visitors get now, and where. */
function* show(site: Site, publish: Publish, now: number): Op<Pick<Published, "changed" | "shown_until">> {
  const { target, version, spa_override, renders = false } = publish;
  const { site_id } = site;
  const { version_id } = version;
  yield* quarantine(site, version_id, version.suspicions);
  const changed = target.kind === "new" || site.live_version_id !== version_id;
  if (target.kind === "preview") return { changed, shown_until: yield* showPreview(site, version_id, target, now) };
  if (changed) yield* moveLive(site_id, version_id, now);
  if (renders) yield* askRender(site_id, version_id, now);
  if (spa_override !== undefined) yield* setSpa.do(spa_override, site_id);
  return { changed };
}

async function putAndCommit({ db, place, now }: Parts, publish: Publish): Promise<Published> {
  await db.read(admitPublish(publish, now()));
  for (let left = ATTEMPTS; left > 0; left--) {
    await place.put(publish.version);
    try {
      return await db.change(
        () => commit(publish, place, now()),
        ({ site }) => [site.slug],
      );
    } catch (error) {
      if (error !== MISSING_BLOB) throw error;
    }
  }
  throw new Error("Blobs vanish as fast as they are written: is another program cleaning the data directory?");
}

/** Throws a Refusal, or `CommitUnknown` where the process must restart. */
export const publisher =
  (parts: Parts) =>
  async (publish: Publish): Promise<Published> => {
    try {
      const published = await putAndCommit(parts, publish);
      return { ...published, site: await keepNewest(parts.db, published.site, publish.bounds.keep_versions) };
    } catch (error) {
      if (isDiskFull(error)) parts.place.makeRoom();
      throw error;
    }
  };
