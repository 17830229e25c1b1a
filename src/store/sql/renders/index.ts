/** What was seen of versions: rows, and pictures as blobs like any other. */
import { contentHash } from "../../../base/version-id.ts";
import type { PictureSize, RenderBrief, RenderOutcome, Renders, RenderSeen, RenderWarning } from "../../renders.ts";
import type { Stored } from "../../serving.ts";
import type { Bytes, ManifestFile } from "../../../base/types.ts";
import { type Db, type Op, statement } from "../db.ts";
import type { BlobPlace, Parts } from "../parts.ts";
import { countWaiting, takeFirst, type Turns } from "./queue.ts";

interface Picture {
  size: PictureSize;
  bytes: Bytes;
  sha256: string;
}

const picturesOf = ({ pictures }: RenderOutcome): Picture[] =>
  (["desktop", "phone"] as const).flatMap((size) => {
    const bytes = pictures[size];
    return bytes === null ? [] : [{ size, bytes, sha256: contentHash(bytes) }];
  });

const BLOCK = 4096;

const waits = statement<{ site_id: string; disk: number }>(
  "select site_id, disk from renders where version_no = ? and status = 'pending'",
);
const write = statement(
  "update renders set status = ?, reason = ?, seen = ?, warned = ?, warnings = ?, disk = ? where version_no = ?",
);
const charge = statement("update sites set stored_disk = stored_disk + ? where site_id = ?");
const dropPictures = statement("delete from pictures where version_no = ?");
const insertBlob = statement("insert into blobs (sha256, bytes) values (?, ?) on conflict (sha256) do nothing");
const insertPicture = statement(
  "insert into pictures (version_no, size, blob_no) values (?, ?, (select blob_no from blobs where sha256 = ?))",
);

/** As a file of a manifest, which is what a place of blobs asks about. */
const asFile = ({ sha256, bytes, size }: Picture): ManifestFile => ({
  path: size,
  sha256,
  bytes: bytes.length,
  media_type: "image/webp",
  made: true,
});

function* settle(version_no: number, outcome: RenderOutcome, place: BlobPlace): Op<boolean> {
  const row = yield* waits.get(version_no);
  if (row === null) return false;
  const all = picturesOf(outcome);
  const pictures = (yield* place.allThere(all.map(asFile))) ? all : []; // a sweep took them: it does without
  const [seen, warnings] = [JSON.stringify(outcome.seen), JSON.stringify(outcome.warnings)];
  const texts = Buffer.byteLength(seen) + Buffer.byteLength(warnings);
  const disk = pictures.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / BLOCK) * BLOCK, texts);
  const { status, reason } = outcome;
  yield* write.do(status, reason, seen, outcome.warnings.length, warnings, disk, version_no);
  yield* dropPictures.do(version_no);
  for (const { size, sha256, bytes } of pictures) {
    yield* insertBlob.do(sha256, bytes.length);
    yield* insertPicture.do(version_no, size, sha256);
  }
  yield* charge.do(disk - row.disk, row.site_id);
  return true;
}

interface Row {
  version_id: string;
  status: RenderBrief["status"];
  reason: string | null;
  warnings: string;
  pictured: number;
}

const COLUMNS = `version_id, status, reason, warnings, exists (
  select 1 from pictures where pictures.version_no = renders.version_no and size = 'desktop') as pictured`;
const one = statement<Row & { seen: string | null }>(
  `select ${COLUMNS}, seen from versions join renders using (version_no)
   where versions.site_id = ? and version_id = ?`,
);
const some = statement<Row>(
  `select ${COLUMNS} from versions join renders using (version_no)
   where versions.site_id = ? and version_id in (select value from json_each(?))`,
);
const picture = statement<Stored>(
  `select sha256, blobs.bytes as bytes, blob_no from versions join pictures using (version_no) join blobs using (blob_no)
   where site_id = ? and version_id = ? and size = ?`,
);

const briefOf = ({ version_id, status, reason, warnings, pictured }: Row): RenderBrief => ({
  version_id,
  status,
  reason: status === "failed" ? reason : null,
  warnings: JSON.parse(warnings) as RenderWarning[],
  pictured: pictured === 1,
});

const NOTHING: RenderSeen = { console: [], failed_requests: [], dom_summary: null };

function* renderOf(site_id: string, version_id: string): Op<(RenderBrief & RenderSeen) | null> {
  const row = yield* one.get(site_id, version_id);
  if (row === null) return null;
  const seen = row.seen === null || row.status === "pending" ? NOTHING : (JSON.parse(row.seen) as RenderSeen);
  return { ...briefOf(row), ...seen };
}

function* rendersOf(site_id: string, version_ids: readonly string[]): Op<ReadonlyMap<string, RenderBrief>> {
  const rows = yield* some.all(site_id, JSON.stringify(version_ids));
  return new Map(rows.map((row) => [row.version_id, briefOf(row)]));
}

const renderReader = (db: Db): Pick<Renders, "of" | "ofVersions" | "picture" | "waiting"> => ({
  of: (site_id, version_id) => db.read(renderOf(site_id, version_id)),
  ofVersions: (site_id, version_ids) => db.read(rendersOf(site_id, version_ids)),
  picture: (site_id, version_id, size) => db.read(picture.get(site_id, version_id, size)),
  waiting: () => db.read(countWaiting()),
});

export function renderStore({ db, place }: Parts): Renders {
  const turns: Turns = new Set();
  return {
    ...renderReader(db),
    async take() {
      if ((await db.read(countWaiting())) === 0) return null; // asked every half second: it must cost nothing
      return db.write(() => takeFirst(turns));
    },
    async settle({ version_no }, outcome) {
      const pictures = picturesOf(outcome);
      const blobs = new Map(pictures.map(({ sha256, bytes }) => [sha256, bytes]));
      await place.put({ blobs, manifest: pictures.map(asFile) });
      return db.write(() => settle(version_no, outcome, place));
    },
  };
}
