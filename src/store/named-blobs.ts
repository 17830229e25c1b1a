/** Blobs that stored versions name, page by page, so that nothing waits long for the database. */
import { type Db, type Statement, statement } from "./operation.ts";

const PAGE = 500;

export interface BlobRow {
  blob_no: number;
  sha256: string;
  bytes: number;
}

/** A condition on a row of `blobs`: it is a file of a version, or a picture of one. */
export const NAMED = `(exists (select 1 from files where files.blob_no = blobs.blob_no)
   or exists (select 1 from pictures where pictures.blob_no = blobs.blob_no))`;

const named = statement<BlobRow>(
  `select blob_no, sha256, bytes from blobs where blob_no > ? and ${NAMED} order by blob_no limit ?`,
);
/** The same: it is a file of a version that is live. */
export const NAMED_BY_LIVE = `exists (
  select 1 from files join versions using (version_no)
  join sites on sites.site_id = versions.site_id and live_version_id = version_id
  where files.blob_no = blobs.blob_no)`;
const namedByLive = statement<BlobRow>(
  `select blob_no, sha256, bytes from blobs where blob_no > ? and ${NAMED_BY_LIVE} order by blob_no limit ?`,
);

async function* pages(db: Db, rows: Statement<BlobRow>): AsyncGenerator<BlobRow[]> {
  for (let last = 0; ;) {
    const page = await db.read(() => rows.all(last, PAGE));
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)!.blob_no;
  }
}

/** All blobs that versions name, ascending by `blob_no`. */
const blobPages = (db: Db): AsyncGenerator<BlobRow[]> => pages(db, named);

/** The next `count` of these blobs past `blob_no`. */
const blobsAfter = (db: Db, blob_no: number, count: number): Promise<BlobRow[]> =>
  db.read(() => named.all(blob_no, count));

/** Start-up check S6: blobs that live versions name and that are not there. Serving goes on meanwhile. */
async function missingBlobs(db: Db, isThere: (blob: BlobRow) => Promise<boolean>): Promise<string[]> {
  const missing: string[] = [];
  for await (const page of pages(db, namedByLive)) {
    for (const blob of page) if (!(await isThere(blob))) missing.push(blob.sha256);
  }
  return missing;
}

/** Blobs that stored versions name. */
export const namedBlobs = {
  pages: blobPages,
  after: blobsAfter,
  missing: missingBlobs,
};
