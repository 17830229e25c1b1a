/** Versions that were live until a while ago, and single files of theirs: a manifest of each would be read for one path. */
import type { LeftVersion, StoredFile, Versions } from "../../serving.ts";
import { type Db, type Op, statement } from "../db.ts";

const ofSite = statement<LeftVersion>(
  `select version_no, version_id, live_until, withhold from versions
   where site_id = ? and live_until is not null order by live_until desc, version_no desc limit ?`,
);
/** Asked at once: one by one they cost six times as much. */
const AT_ONCE = 10;
const NONE = -1;
const uploads = statement<Omit<StoredFile, "made"> & { version_no: number }>(
  `select version_no, path, sha256, blobs.bytes as bytes, media_type, blob_no from files join blobs using (blob_no)
   where version_no in (${Array(AT_ONCE).fill("?").join(", ")}) and path = ? and made = 0`,
);

function* firstUpload(
  version_nos: readonly number[],
  path: string,
): Op<{ version_no: number; file: StoredFile } | null> {
  for (let at = 0; at < version_nos.length; at += AT_ONCE) {
    const some = version_nos.slice(at, at + AT_ONCE);
    const rows = yield* uploads.all(...some, ...Array<number>(AT_ONCE - some.length).fill(NONE), path);
    const first = some.find((version_no) => rows.some((row) => row.version_no === version_no));
    if (first === undefined) continue;
    const { version_no, ...file } = rows.find((row) => row.version_no === first)!;
    return { version_no, file: { ...file, made: false } };
  }
  return null;
}

export const leftVersions = (db: Db): Pick<Versions, "left" | "firstUpload"> => ({
  left: (site_id, limit) => db.read(ofSite.all(site_id, limit)),
  firstUpload: (version_nos, path) => db.read(firstUpload(version_nos, path)),
});
