/** Verify: stored files are hashed again, so that bit rot is found before a visitor finds it (RELIABILITY 2). */
import { UNIT_MS } from "../../base/units.ts";
import { type Op, statement } from "../operation.ts";
import { type BadBlob, type BlobRow, type Checked, type Damage, type Loss, namedBlobs } from "../upkeep.ts";
import { wrongFigures } from "../quotas.ts";
import type { Opened } from "./data-dir.ts";
import { statsFile } from "./stats-file.ts";

const lossesBy = statement<Omit<Loss, "live"> & { live: number }>(
  `select sites.site_id as site_id, slug, version_id, path,
     case when live_version_id = version_id then 1 else 0 end as live
   from (select blob_no, version_no, path from files where blob_no = ?1
     union all select blob_no, version_no, 'screenshot ' || size from pictures where blob_no = ?1) as named
   join versions using (version_no) join sites on sites.site_id = versions.site_id
   order by live desc, slug, version_no desc, path`,
);

/** Decided under the write lock. Null if it was healed or swept meanwhile. */
function* settle({ upkeep }: Opened, blob: BlobRow, condition: BadBlob): Op<Damage | null> {
  const losses = (yield* lossesBy.all(blob.blob_no)).map((loss) => ({ ...loss, live: loss.live === 1 }));
  if (losses.length === 0 || !(yield* upkeep.settle(blob, condition))) return null;
  return { sha256: blob.sha256, why: condition.why, losses };
}

/** Checks one blob; one with other bytes is set aside. */
async function check(data: Opened, blob: BlobRow): Promise<Damage | null> {
  const condition = await data.upkeep.conditionOf(blob);
  return condition.why === "whole" ? null : data.db.write(() => settle(data, blob, condition));
}

/** A rule that is no foreign key: a version belongs to a site, or to what one that is gone has left. */
const astray = statement<{ version_id: string; site_id: string }>(
  `select version_id, site_id from versions where site_id not in (select site_id from sites)
     and site_id not in (select site_id from leftovers)`,
);

/** Two more: a version is shown somewhere, and a preview shows its own site's version. */
const unshown = statement<{ version_id: string; site_id: string }>(
  `select version_id, site_id from versions join sites using (site_id) where case when listed_no is null
     then not exists (select 1 from previews where previews.version_no = versions.version_no) or live_version_id = version_id
     else live_since is null end`,
);
const misplaced = statement<{ name: string | null; site_id: string }>(
  `select name, previews.site_id as site_id from previews join versions using (version_no)
   where previews.site_id <> versions.site_id`,
);

/** A former name is nobody's present one, and its site is there or has a tombstone (BEYOND 17). */
const misnamed = statement<{ slug: string; site_id: string }>(
  `select slug, site_id from former_slugs where slug in (select slug from sites)
     or (site_id not in (select site_id from sites) and site_id not in (select site_id from tombstones))`,
);

function* brokenRules(): Op<string[]> {
  const found: string[] = [];
  for (const { version_id, site_id } of yield* astray.all())
    found.push(`the version ${version_id} names a site that is not there: ${site_id}`);
  for (const { version_id, site_id } of yield* unshown.all())
    found.push(`nothing shows the version ${version_id} of ${site_id} as it is stored`);
  for (const { name, site_id } of yield* misplaced.all())
    found.push(`the preview ${name} of ${site_id} shows another site's version`);
  for (const { slug, site_id } of yield* misnamed.all())
    found.push(`the former name ${slug} of ${site_id} leads to no site, or is one's own`);
  return found;
}

/** Verifies everything, as fast as the disk can. */
export async function verifyAll(parts: Opened): Promise<Checked> {
  const database = [
    ...parts.engine.faults(),
    ...(await parts.db.read(brokenRules)),
    ...(await wrongFigures(parts.db)),
    ...statsFile.faults(parts.data_dir),
  ];
  const checked: Checked = { blobs: 0, bytes: 0, damages: [], database };
  for await (const page of namedBlobs.pages(parts.db)) {
    for (const blob of page) {
      const damage = await check(parts, blob);
      if (damage) checked.damages.push(damage);
      checked.blobs++;
      checked.bytes += blob.bytes;
    }
  }
  return checked;
}

const TURN_MS = 30 * UNIT_MS.d;
const BYTES_PER_MS = 10_000;

const turn = statement<{ blob_no: number; blobs: number }>(
  "select blob_no, (select count(*) from blobs) as blobs from verify_turn",
);
const moveTurn = statement("update verify_turn set blob_no = ?");

/** A slice of the slow turn: called every `interval` milliseconds, it has seen every blob after 30 days. It reads no
 *  faster than 10 MB/s, and remembers in the database how far it came. */
export async function verifyTurn(data: Opened, interval: number): Promise<Damage[]> {
  const { db } = data;
  const { blob_no, blobs } = (await db.read(() => turn.get()))!;
  const share = Math.ceil((blobs * interval) / TURN_MS);
  const slice = await namedBlobs.after(db, blob_no, share);
  const damages: Damage[] = [];
  for (const blob of slice) {
    const damage = await check(data, blob);
    if (damage) damages.push(damage);
    await Bun.sleep(blob.bytes / BYTES_PER_MS);
  }
  await db.write(() => moveTurn.do(slice.at(-1)?.blob_no ?? 0));
  return damages;
}
