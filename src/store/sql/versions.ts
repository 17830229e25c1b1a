/** Stored versions and their manifests: nothing here ever changes once it is written. */
import type { Database } from "bun:sqlite";
import type { BuiltVersion, ManifestFile, Version } from "../../types.ts";
import type { Versions } from "../index.ts";

const COLUMNS = "site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule";

export function versionReader(db: Database): Versions {
  const get = db.prepare<Version, [string, string]>(
    `select ${COLUMNS} from versions where site_id = ? and version_id = ?`,
  );
  const list = db.prepare<Version, [string]>(
    `select ${COLUMNS} from versions where site_id = ? order by version_no desc`,
  );
  const manifest = db.prepare<Omit<ManifestFile, "made"> & { made: number }, [string, string]>(
    `select path, sha256, blobs.bytes as bytes, media_type, made from versions
     join files using (version_no) join blobs using (blob_no) where site_id = ? and version_id = ?`,
  );
  return {
    get: async (site_id, version_id) => get.get(site_id, version_id),
    list: async (site_id) => list.all(site_id),
    manifest: async (site_id, version_id) => {
      const rows = manifest.all(site_id, version_id);
      return rows.length === 0 ? null : new Map(rows.map((row) => [row.path, { ...row, made: row.made === 1 }]));
    },
  };
}

/** For use inside a transaction that ends by making the site name the version. */
export function versionWriter(db: Database) {
  const insertVersion = db.prepare<{ version_no: number }, (string | number | null)[]>(
    `insert into versions (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning version_no`,
  );
  const insertBlob = db.prepare<unknown, [string, number]>(
    "insert into blobs (sha256, bytes) values (?, ?) on conflict (sha256) do nothing",
  );
  const insertFile = db.prepare<unknown, [number, string, string, string, number]>(
    `insert into files (version_no, path, blob_no, media_type, made)
     values (?, ?, (select blob_no from blobs where sha256 = ?), ?, ?)`,
  );
  return {
    add(site_id: string, version: Omit<BuiltVersion, "healed" | "warnings">, created_at: string): void {
      const { version_id, digest, title, files, bytes, spa, manifest } = version;
      const row = [site_id, version_id, digest, title, created_at, files, bytes, spa.enabled ? 1 : 0, spa.rule];
      const { version_no } = insertVersion.get(...row)!;
      for (const file of manifest) {
        insertBlob.run(file.sha256, file.bytes);
        insertFile.run(version_no, file.path, file.sha256, file.media_type, file.made ? 1 : 0);
      }
    },
  };
}
