/** The end of a stored version: its rows, and what its site's figures have of it. */
import type { Site } from "../../../base/types.ts";
import { type Op, statement } from "../db.ts";
import { BLOCKS_SQL, ROW_SQL, type Sizes } from "../quotas.ts";
import { RECEIPT_SQL } from "../receipts.ts";

const onlyHere = (sum: string, and = ""): string =>
  `(select coalesce(sum(${sum}), 0) from blobs
    where blob_no in (select blob_no from files where version_no = ?1 ${and}) and not exists (
      select 1 from files where files.blob_no = blobs.blob_no and site_no = ?2 and version_no <> ?1 ${and}))`;
const heldBy = statement<Sizes>(
  `select ${onlyHere("bytes", "and made = 0")} as uploaded, ${onlyHere(BLOCKS_SQL)} +
     (select coalesce(sum(${ROW_SQL}), 0) from files where version_no = ?1) +
     (select coalesce(sum(${RECEIPT_SQL}), 0) from receipts where version_no = ?1) +
     (select coalesce(sum(disk), 0) from renders where version_no = ?1) as disk`,
);
const removeFiles = statement("delete from files where version_no = ?");
const deleteVersion = statement("delete from versions where version_no = ?");
const uncount = statement(
  "update sites set stored_bytes = stored_bytes - ?, stored_disk = stored_disk - ? where site_id = ?",
);
// The number of a version that went may be given to another, which no operator has cleared.
const unclear = statement(
  `update sites set cleared_version_no = (
     select coalesce(max(version_no), 0) from versions where versions.site_id = sites.site_id
       and version_no <= sites.cleared_version_no)
   where site_id = ? and cleared_version_no is not null`,
);

/** Of a version that is in no list. Says how many rows of `files` went. */
export function* removeVersion({ site_id, site_no }: Site, version_no: number): Op<number> {
  const { uploaded, disk } = (yield* heldBy.get(version_no, site_no))!;
  const { changes } = yield* removeFiles.run(version_no);
  yield* deleteVersion.do(version_no);
  yield* uncount.do(uploaded, disk, site_id);
  yield* unclear.do(site_id);
  return changes;
}
