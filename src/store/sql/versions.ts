/** Stored versions and their manifests: nothing here ever changes once it is written. */
import type { Publish } from "../changes.ts";
import type { StoredFile, StoredManifest, Versions } from "../serving.ts";
import { unknownVersion } from "../refusals.ts";
import type { Site, Version } from "../../base/types.ts";
import { type Db, type Op, statement } from "./db.ts";
import { keepReceipt } from "./receipts.ts";

export const VERSION_COLUMNS = "site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule";

/** Of a row of `versions`: it is or was live. What only a preview shows is in no list. */
export const LISTED = "listed_no is not null";

const STORED = `select ${VERSION_COLUMNS} from versions where site_id = ? and version_id = ?`;
const stored = statement<Version>(STORED);
const byId = statement<Version>(`${STORED} and ${LISTED}`);
const placeOf = statement<{ listed_no: number }>(
  `select listed_no from versions where site_id = ? and version_id = ? and ${LISTED}`,
);
const ofSite = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where site_id = ? and listed_no < ? order by listed_no desc limit ?`,
);
const filesOf = statement<Omit<StoredFile, "made"> & { made: number | boolean }>(
  `select path, sha256, blobs.bytes as bytes, media_type, made, blob_no from versions
   join files using (version_no) join blobs using (blob_no) where site_id = ? and version_id = ?`,
);

/** They are of one table, and each row would hold a string of its own. */
const media_types = new Map<string, string>();
function shared(media_type: string): string {
  const known = media_types.get(media_type);
  if (known === undefined) media_types.set(media_type, media_type);
  return known ?? media_type;
}

export function* manifestOf(site_id: string, version_id: string): Op<StoredManifest | null> {
  const files = new Map<string, StoredFile>();
  for (const row of yield* filesOf.all(site_id, version_id)) {
    row.made = row.made === 1;
    row.media_type = shared(row.media_type);
    files.set(row.path, row as StoredFile); // not a copy: 200 of them would cost a tenth of the read
  }
  return files.size === 0 ? null : files;
}

type Page = Parameters<Versions["list"]>[1];

function* pageOf(site_id: string, { limit, before }: Page): Op<{ versions: Version[]; more: boolean }> {
  const from = before === null ? null : yield* placeOf.get(site_id, before);
  if (before !== null && from === null) throw unknownVersion();
  const rows = yield* ofSite.all(site_id, from?.listed_no ?? Number.MAX_SAFE_INTEGER, limit + 1);
  return { versions: rows.slice(0, limit), more: rows.length > limit };
}

export const versionReader = (db: Db): Pick<Versions, "get" | "stored" | "list" | "manifest"> => ({
  get: (site_id, version_id) => db.read(byId.get(site_id, version_id)),
  stored: (site_id, version_id) => db.read(stored.get(site_id, version_id)),
  list: (site_id, page) => db.read(pageOf(site_id, page)),
  manifest: (site_id, version_id) => db.read(manifestOf(site_id, version_id)),
});

const insertVersion = statement<{ version_no: number }>(
  `insert into versions (${VERSION_COLUMNS}, withhold) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning version_no`,
);
const insertBlob = statement("insert into blobs (sha256, bytes) values (?, ?) on conflict (sha256) do nothing");
const insertFile = statement(
  `insert into files (version_no, site_no, path, blob_no, media_type, made)
   values (?, ?, ?, (select blob_no from blobs where sha256 = ?), ?, ?)`,
);

/** For a transaction that ends by making the site name the version. Says the site's number. */
export function* addVersion(
  { site_id, site_no }: Pick<Site, "site_id" | "site_no">,
  version: Publish["version"],
  created_at: string,
): Op<number> {
  const { version_id, digest, title, files, bytes, spa, manifest } = version;
  const row = [site_id, version_id, digest, title, created_at, files, bytes, spa.enabled ? 1 : 0, spa.rule];
  const withhold = version.warnings.some(({ code }) => code === "possible_secret") ? 1 : 0;
  const { version_no } = (yield* insertVersion.get(...row, withhold))!;
  const number = site_no || version_no;
  yield* keepReceipt(version_no, version);
  yield* insertBlob.each(
    manifest.map((file) => [file.sha256, file.bytes]),
    "text int8",
  );
  yield* insertFile.each(
    manifest.map(({ path, sha256, media_type, made }) => [version_no, number, path, sha256, media_type, made ? 1 : 0]),
    "int8 int8 text text text int8",
  );
  return number;
}
