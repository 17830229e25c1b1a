/** Versions that were live until a while ago, and single files of theirs: a manifest of each would be read for one path. */
import type { LeftVersion, StoredFile, Versions } from "../../serving.ts";
import { type Db, type Op, statement } from "../db.ts";

const ofSite = statement<LeftVersion>(
  `select version_no, version_id, live_until, withhold from versions
   where site_id = ? and live_until is not null order by live_until desc, version_no desc limit ?`,
);
const upload = statement<Omit<StoredFile, "made">>(
  `select path, sha256, blobs.bytes as bytes, media_type, blob_no from files join blobs using (blob_no)
   where version_no = ? and path = ? and made = 0`,
);

function* firstUpload(
  version_nos: readonly number[],
  path: string,
): Op<{ version_no: number; file: StoredFile } | null> {
  for (const version_no of version_nos) {
    const file = yield* upload.get(version_no, path);
    if (file !== null) return { version_no, file: { ...file, made: false } };
  }
  return null;
}

export const leftVersions = (db: Db): Pick<Versions, "left" | "firstUpload"> => ({
  left: (site_id, limit) => db.read(ofSite.all(site_id, limit)),
  firstUpload: (version_nos, path) => db.read(firstUpload(version_nos, path)),
});
