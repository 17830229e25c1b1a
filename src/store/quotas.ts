/** The room that sites take up, and its limits: quotas by bytes (BEYOND 9). */
import { type NextAction, Refusal } from "../base/errors.ts";
import { humanSize } from "../base/units.ts";
import type { BuiltVersion, ManifestFile, Site } from "../base/types.ts";
import { type Db, listFrom, ofList, type Op, statement } from "./operation.ts";
import { RECEIPT_SQL, receipts } from "./receipts.ts";

/** Limits of what a deploy may take up and leave behind (BEYOND 9); null means no bound. */
export interface Bounds {
  /** Bytes of an account, and of the unowned sites of one network. */
  quota_account: number | null;
  quota_address: number | null;
  /** How many versions a site keeps. */
  keep_versions: number | null;
}

/** The site that a version would be added to, as far as its quota goes. */
export type Charged = Pick<Site, "site_id" | "site_no" | "owner_account_id" | "network">;

/** The parts of a version that its quota depends on. */
export type Admitted = Pick<BuiltVersion, "version_id" | "manifest" | "healed" | "warnings">;

/** Bytes that count: distinct uploaded blobs, and all that a site takes on the disk. */
export interface Sizes {
  uploaded: number;
  disk: number;
}

/** A file takes whole blocks of the disk; its row and the index's hold its path and little more. */
const BLOCK = 4096;
const ROW = 64;
const blocks = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK;
const rowBytes = ({ path }: ManifestFile): number => 2 * Buffer.byteLength(path) + ROW;
export const BLOCKS_SQL = `(bytes + ${BLOCK - 1}) / ${BLOCK} * ${BLOCK}`;
export const ROW_SQL = `2 * octet_length(path) + ${ROW}`;

/** Uploaded somewhere in the site: `made` is 0. Not in it: null. Hashes one by one cost five times as much. */
const inSite = statement<{ sha256: string; made: 0 | 1 | null }>(
  `select sha256, (select made from files where files.blob_no = blobs.blob_no and site_no = ?1 order by made limit 1) as made
   from blobs where sha256 in (${listFrom(2)})`,
);

function* blobsOf(site_no: number, wanted: readonly string[]): Op<Map<string, 0 | 1 | null>> {
  if (site_no === 0) return new Map();
  const rows = yield* ofList(wanted, (list) => inSite.all(site_no, ...list));
  return new Map(rows.map(({ sha256, made }) => [sha256, made]));
}

/** The bytes that a version would add to its site. */
function* addedBy({ site_no }: Pick<Site, "site_no">, version: Admitted): Op<Sizes> {
  const { manifest } = version;
  const distinct = new Map(manifest.map((file) => [file.sha256, file.bytes]));
  const uploads = new Set(manifest.filter(({ made }) => !made).map(({ sha256 }) => sha256));
  const known = yield* blobsOf(site_no, [...distinct.keys()]);
  const added = { uploaded: 0, disk: receipts.bytes(version) };
  for (const [sha256, bytes] of distinct) {
    const made = known.get(sha256) ?? null;
    if (made === null) added.disk += blocks(bytes);
    if (made !== 0 && uploads.has(sha256)) added.uploaded += bytes;
  }
  for (const file of manifest) added.disk += rowBytes(file);
  return added;
}

const SUMS = "select coalesce(sum(stored_bytes), 0) as uploaded, coalesce(sum(stored_disk), 0) as disk from sites";
const ofAccount = statement<Sizes>(`${SUMS} where owner_account_id = ?`);
const ofNetwork = statement<Sizes>(`${SUMS} where network = ? and expires_at > ?`);

/** The holder of a quota, and the way out. */
interface Holder {
  name: string;
  way: string;
  next: NextAction;
}

const ACCOUNT: Holder = {
  name: "the account",
  way: "Delete sites that are no longer needed, then deploy again.",
  next: {
    action: "prune",
    description: "Delete sites of the account: what only they hold counts no more.",
    method: "DELETE",
    url: "/account/sites/:id",
  },
};

const NETWORK: Holder = {
  name: "the sites without an owner from your network",
  way: "Sign in: an account has its own quota.",
  next: {
    action: "login",
    description: "Sign in, so that the sites deployed from here become your account's and count there.",
    command: "svc login",
  },
};

function overQuota({ name, way, next }: Holder, what: string, limit: number, actual: number): Refusal {
  const [would, may] = humanSize(actual) === humanSize(limit) ? [actual, limit] : [humanSize(actual), humanSize(limit)];
  const sentence = `With this deploy ${name} would ${what} ${would}, and at most ${may} are allowed. ${way}`;
  return new Refusal("quota_exceeded", sentence, { limit, actual, unit: "bytes", next_actions: [next] });
}

/** Bytes of the disk that may be taken past the quota in any case; else it is as much again as the quota. Small files take a
 *  block each, and one changed title makes every page of a docs site anew, with few bytes that count. */
const LEAST_SLACK = 64 * 1024 * 1024;

function refuseOver(quota: number, added: Sizes, held: Sizes, holder: Holder): void {
  const uploaded = held.uploaded + added.uploaded;
  if (added.uploaded > 0 && uploaded > quota) throw overQuota(holder, "hold", quota, uploaded);
  const [disk, limit] = [held.disk + added.disk, quota + Math.max(quota, LEAST_SLACK)];
  if (disk > limit) throw overQuota(holder, "take, with all pages made of its files, on the disk", limit, disk);
}

function* refuseOverQuota(
  { owner_account_id, network }: Pick<Site, "owner_account_id" | "network">,
  added: Sizes,
  { quota_account, quota_address }: Bounds,
  now: number,
): Op<void> {
  if (owner_account_id !== null) {
    if (quota_account !== null) refuseOver(quota_account, added, (yield* ofAccount.get(owner_account_id))!, ACCOUNT);
  } else if (network !== null && quota_address !== null) {
    refuseOver(quota_address, added, (yield* ofNetwork.get(network, now))!, NETWORK);
  }
}

const stored = statement("select 1 from versions where site_id = ? and version_id = ?");

/** Ahead of anything that is written: whether the site may have this version. */
function* admit(site: Charged, version: Admitted, bounds: Bounds, now: number): Op<void> {
  if ((yield* stored.get(site.site_id, version.version_id)) !== null) return;
  yield* refuseOverQuota(site, yield* addedBy(site, version), bounds, now);
}

const count = statement(
  "update sites set site_no = ?, stored_bytes = stored_bytes + ?, stored_disk = stored_disk + ? where site_id = ?",
);

/** Inside the transaction that added the version. Among those that the site keeps it counts once it is live. */
const countVersion = (site_id: string, site_no: number, { uploaded, disk }: Sizes): Op<void> =>
  count.do(site_no, uploaded, disk, site_id);

/** The cost of a deploy for its site and owner, and the refusal of one that is too large. */
export const charges = {
  addedBy,
  refuseOverQuota,
  admit,
  countVersion,
};

/** The room that the sites of an account take together. */
interface AccountUsage {
  sites: number;
  /** The distinct uploaded blobs of each site, once a site. */
  bytes: number;
  versions: number;
  /** Previews that have not ended. */
  previews: number;
}

const usage = statement<AccountUsage>(
  `select count(*) as sites, coalesce(sum(stored_bytes), 0) as bytes, coalesce(sum(stored_versions), 0) as versions,
     (select count(*) from sites as own join previews using (site_id)
        where owner_account_id = ?1 and previews.expires_at > ?2) as previews
   from sites where owner_account_id = ?1`,
);

export function* accountUsage(account_id: string, now: number): Op<AccountUsage> {
  return (yield* usage.get(account_id, now))!;
}

/** A site that takes room, with what only its page tells else. */
interface LargeSite {
  site_id: string;
  slug: string;
  label: string | null;
  stored_bytes: number;
  stored_versions: number;
}

/** By the index that the sum above is made of: no site's row is read but those that are answered. */
const largest = statement<LargeSite>(
  `select site_id, slug, label, stored_bytes, stored_versions from sites where site_id in (
     select site_id from sites where owner_account_id = ? order by stored_bytes desc, site_id limit ?)
   order by stored_bytes desc, site_id`,
);

export const largestSites = (account_id: string, most: number): Op<LargeSite[]> => largest.all(account_id, most);

const RECOUNTED = `select slug, stored_bytes, stored_disk, stored_versions,
    (select count(listed_no) from versions where versions.site_id = sites.site_id) as versions,
    (select coalesce(sum(bytes), 0) from blobs where blob_no in (
      select blob_no from versions join files using (version_no) where versions.site_id = sites.site_id and made = 0)
    ) as uploaded,
    (select coalesce(sum(${BLOCKS_SQL}), 0) from blobs where blob_no in (
      select blob_no from versions join files using (version_no) where versions.site_id = sites.site_id)
    ) + (select coalesce(sum(${ROW_SQL}), 0) from versions join files using (version_no)
      where versions.site_id = sites.site_id)
      + (select coalesce(sum(${RECEIPT_SQL}), 0) from versions join receipts using (version_no)
      where versions.site_id = sites.site_id)
      + (select coalesce(sum(disk), 0) from versions join renders using (version_no)
      where versions.site_id = sites.site_id) as disk
  from sites`;

const wrong = statement<{ slug: string }>(
  `select slug from (${RECOUNTED}) as recounted
   where stored_bytes <> uploaded or stored_disk <> disk or stored_versions <> versions`,
);

/** A sentence for each site whose figures are not those of its rows. */
export const wrongFigures = async (db: Db): Promise<string[]> =>
  (await db.read(() => wrong.all())).map(({ slug }) => `the figures of ${slug} are not those of its versions`);
