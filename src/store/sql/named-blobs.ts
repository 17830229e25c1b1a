/** Every blob that some stored version names, page by page, so that nothing waits long for the database. */
import type { Database } from "bun:sqlite";

const PAGE = 500;

export interface BlobRow {
  blob_no: number;
  sha256: string;
  bytes: number;
}

/** Ascending by `blob_no`, from the one past `after`. */
export function* blobPages(db: Database, after = 0, length = PAGE): Generator<BlobRow[]> {
  const page = db.prepare<BlobRow, [number, number]>(
    `select blob_no, sha256, bytes from blobs where blob_no > ?
     and exists (select 1 from files where files.blob_no = blobs.blob_no) order by blob_no limit ?`,
  );
  for (let last = after; ;) {
    const rows = page.all(last, length);
    if (rows.length === 0) return;
    yield rows;
    last = rows.at(-1)!.blob_no;
  }
}
