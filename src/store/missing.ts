/** Start-up check S6: does every file that a live version names exist? */
import type { Database } from "bun:sqlite";
import { stat } from "node:fs/promises";
import { blobPath } from "./disk/blobs.ts";

const PAGE = 500;

/** Asks the disk page by page, so that serving goes on meanwhile. */
export async function missingBlobs(db: Database, data_dir: string): Promise<string[]> {
  const page = db.prepare<{ blob_no: number; sha256: string; bytes: number }, [number, number]>(
    `select blob_no, sha256, bytes from blobs where blob_no > ? and exists (
       select 1 from files join versions using (version_no)
       join sites on sites.site_id = versions.site_id and live_version_id = version_id
       where files.blob_no = blobs.blob_no) order by blob_no limit ?`,
  );
  const missing: string[] = [];
  for (let last = 0; ;) {
    const rows = page.all(last, PAGE);
    if (rows.length === 0) return missing;
    for (const { sha256, bytes } of rows) {
      const found = await stat(blobPath(data_dir, sha256)).catch(() => null);
      if (found?.size !== bytes) missing.push(sha256);
    }
    last = rows.at(-1)!.blob_no;
  }
}
