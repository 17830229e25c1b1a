/** `backup`, `restore` and `move`: into a new folder, which has everything, or to a place off the box, which is sent what is new, and back;
 *  from one kind of store into the other; and the check of that place. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UNIT_MS } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { type Config, ConfigError } from "../config/index.ts";
import { bucketAccess } from "../config/shared.ts";
import { slotOf } from "../run/metrics.ts";
import { moveToFolder, moveToShared, restoreShared, type SharedAddress } from "../store/move.ts";
import { backupPlaces, openFound, type Operations, restoreFrom, snapshots, takeOut } from "../store/operations.ts";
import type { Checked, Damage } from "../store/upkeep.ts";
import {
  inFolder,
  type CallWords,
  type Finding,
  JSON_FLAG,
  type OperatorCommand,
  type OperatorContext,
  type Patient,
} from "./command.ts";
import { counted, json } from "./print.ts";

const CONSEQUENCE = {
  missing: "is missing",
  damaged: "is damaged and was moved to quarantine",
  unreadable: "cannot be read, and was left where it is: see to the disk, or to the file's owner and mode",
};

/** A line for the blob, and one for each file that visitors can no longer get. */
const damageText = ({ sha256, why, losses }: Damage): string =>
  [
    `blob ${sha256} ${CONSEQUENCE[why]}`,
    ...losses.map((loss) => {
      const { slug, site_id, version_id, path, live } = loss;
      return `  ${slug} (${site_id}) ${version_id}${live ? " [live]" : ""} ${visible(path)}`;
    }),
  ].join("\n") + "\n";

export async function verified(operations: Operations, { print, note }: OperatorContext): Promise<number> {
  const { blobs, bytes, damages, database }: Checked = await operations.verify();
  const missing = await operations.missingBlobs();
  operations.figures.set(slotOf("svc_blobs_missing"), missing.length);
  operations.figures.set(slotOf("svc_last_verify_timestamp_seconds"), Date.now() / 1000);
  for (const fault of database) print(`database: ${visible(fault)}\n`);
  for (const damage of damages) print(damageText(damage));
  const strays = (await operations.shared?.strays(false)) ?? 0;
  if (strays > 0) note(`${counted(strays, "object")} of the bucket have no row: svc-server gc --bucket removes them`);
  const faults = damages.length + database.length;
  const outcome = `checked ${counted(blobs, "blob")}, ${bytes} bytes: ${counted(faults, "fault")}`;
  await operations.record("verify", outcome);
  note(outcome);
  return faults === 0 ? 0 : 1;
}

const placeOf = (text: string, config: Config) => backupPlaces.open(text, bucketAccess(config));

async function copyWhole({ open, print, note }: OperatorContext, folder: string, links: boolean): Promise<number> {
  const operations = await open();
  const report = await operations.backUp(folder, links);
  await operations.record("backup", resolve(folder));
  for (const sha256 of report.damaged) print(`blob ${sha256} is missing or damaged and is not in the backup\n`);
  note(`backed up ${counted(report.blobs, "blob")}, ${report.bytes} bytes, as of ${report.created_at}, to ${folder}`);
  return endWith(report.damaged, note);
}

function endWith(damaged: readonly string[], note: OperatorContext["note"]): number {
  if (damaged.length === 0) return 0;
  note("svc-server verify tells which sites need them.");
  return 1;
}

async function sendNew(context: OperatorContext, text: string, keep: number | null): Promise<number> {
  const { open, print, note, settings } = context;
  const place = placeOf(text, settings(null));
  const operations = await open();
  const taken = await operations.takeSnapshot(place, keep);
  await operations.record("backup", `${place.name}@${taken.name}`);
  operations.figures.set(slotOf("svc_last_backup_timestamp_seconds"), Date.parse(taken.taken_at) / 1000);
  for (const sha256 of taken.damaged) note(`blob ${sha256} is missing or damaged and was not sent`);
  const removed =
    taken.removed_snapshots === 0 ? "" : `; removed ${counted(taken.removed_snapshots, "older snapshot")}`;
  note(`sent ${taken.sent} of ${counted(taken.blobs, "file")}, ${taken.sent_bytes} bytes, to ${place.name}${removed}`);
  if (taken.not_removed !== null) note(`the backup is made, but older ones stay: ${taken.not_removed}`);
  print(`${taken.name}\n`);
  return Math.max(endWith(taken.damaged, note), taken.not_removed === null ? 0 : 1);
}

async function showSnapshots(
  { print, note, settings }: OperatorContext,
  text: string,
  as_json: boolean,
): Promise<void> {
  const place = placeOf(text, settings(null));
  if (!backupPlaces.namesBucket(text) && !existsSync(text)) throw new Error(`There is no folder ${text}.`);
  const rows = await snapshots.list(place);
  if (rows.length === 0) note(`There is no snapshot in ${place.name}.`);
  if (as_json) return print(json({ snapshots: rows }));
  for (const { name, taken_at, bytes } of rows) print(`${taken_at}  ${bytes}  ${name}\n`);
}

function keepOf(given: CallWords): number | null {
  const text = given.value("keep");
  if (text === undefined) return null;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Error("--keep takes how many snapshots stay, a number from 1.");
}

const backup: OperatorCommand = {
  name: "backup",
  arguments: ["[place]"],
  flags: [{ name: "link" }, { name: "keep", value: "n" }, { name: "list" }, JSON_FLAG],
  summary: "copy everything into a new folder, or send a bucket what is new, while the server runs",
  details: [
    "A folder gets everything. On a file system that shares blocks (btrfs, xfs) the copy takes no room on the same disk. --link makes hard links where blocks cannot be shared: quick and without room, but the backup's files are then the live ones under a second name, and a chown, chmod or write in the backup hits the server's own. `sha256sum -c SHA256SUMS` checks it anywhere.",
    "s3://bucket/prefix gets the files that are not there yet, then a snapshot of the database, whose name is printed. --keep removes older snapshots beyond that number, and what only they have. --list shows the snapshots of a place. The bucket's service and keys are in SVC_S3_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. With SVC_BACKUP the server makes such backups by itself; a call without a place makes one there now, also where it is a folder.",
  ],
  async run(context, given) {
    const { argument } = given;
    if (given.has("link") && context.settings(null).shared !== null) {
      throw new ConfigError("--link is for the files of a data directory: the bucket's are copied.");
    }
    const place = argument ?? context.settings(null).backup;
    if (place === null) throw new Error("Name a place, a new folder or s3://bucket/prefix, or set SVC_BACKUP.");
    if (given.has("list")) return showSnapshots(context, place, given.has("json"));
    if (given.has("json")) throw new Error("--json is for --list: a backup prints its name.");
    const keep = keepOf(given);
    if (argument === undefined || backupPlaces.namesBucket(place)) {
      if (given.has("link"))
        throw new Error("--link is for a whole copy in a folder of this machine: name the folder.");
      return sendNew(context, place, keep);
    }
    if (keep !== null) throw new Error("--keep is for s3://bucket/prefix: each copy in a folder stands alone.");
    return copyWhole(context, place, given.has("link"));
  },
};

/** `s3://bucket/prefix@2026…`, or a folder in which snapshots are kept; null for a folder with a whole copy. */
function snapshotIn(text: string): { place: string; snapshot: string | null } | null {
  const [, before = text, snapshot = null] = /^(.+)@(\w[\w-]*)$/.exec(text) ?? [];
  if (backupPlaces.namesBucket(text)) return { place: before, snapshot };
  if (existsSync(join(text, "SHA256SUMS"))) return null;
  if (backupPlaces.holdsSnapshots(text)) return { place: text, snapshot: null };
  return backupPlaces.holdsSnapshots(before) ? { place: before, snapshot } : null;
}

async function bringBack(context: OperatorContext, text: string): Promise<{ from: string; taken_at: string }> {
  const { data_dir, settings, note } = context;
  const { shared } = settings(null);
  const tell = (sentence: string) => note(`upgrade of the database: ${sentence}`);
  const kept = snapshotIn(text);
  const place = kept && placeOf(kept.place, settings(null));
  if (shared !== null) {
    if (place === null && !existsSync(text)) throw new Error(`There is no folder ${text}.`);
    const out = (folder: string) => (place ? snapshots.takeOut(place, kept!.snapshot, folder) : takeOut(text, folder));
    const from = place ? place.name : resolve(text);
    return inFolder("restore", (folder) =>
      restoreShared(shared as SharedAddress, { place: from, folder, takeOut: out }, note),
    );
  }
  if (place === null) return { from: resolve(text), taken_at: (await restoreFrom(text, data_dir, tell)).created_at };
  const { name, taken_at } = await snapshots.restore(place, kept!.snapshot, data_dir, tell);
  return { from: `${place.name}@${name}`, taken_at };
}

const SHARED_PLACE = "the database of SVC_DATABASE_URL and the bucket of SVC_BLOBS";

const restore: OperatorCommand = {
  name: "restore",
  arguments: ["<place>"],
  flags: [],
  summary: "make an empty data directory out of a backup, then verify it",
  details: [
    "The server must not run. The data directory (--data-dir) must be empty or new; with SVC_DATABASE_URL and SVC_BLOBS the database and the bucket's prefix must be. A place with snapshots gives the latest one; <place>@<snapshot> another, by its name or the beginning of it.",
  ],
  async run(context, { argument: text = "" }) {
    const { data_dir, note, settings, open } = context;
    const { from, taken_at } = await bringBack(context, text);
    const { shared } = settings(null);
    note(`restored ${text}, taken ${taken_at}, into ${shared === null ? data_dir : SHARED_PLACE}`);
    const operations = await open();
    await operations.record("restore", `${from}, taken ${taken_at}`);
    return verified(operations, context);
  },
};

const KINDS = ["shared", "embedded"];

const move: OperatorCommand = {
  name: "move",
  arguments: [],
  flags: [{ name: "to", value: "kind", required: true }, { name: "with-gaps" }],
  summary: "move the whole service, stopped, out of the data directory into a database and a bucket, or back",
  details: [
    "--to shared: from --data-dir into SVC_DATABASE_URL and SVC_BLOBS, for several servers. --to embedded: the other way. Both are given, and what it moves into must be empty.",
    "No server may run. Nothing is taken away from where it was: that is marked once all is there, so that no server starts on it any more. A move that was interrupted is run again, and passes over what is there. Files that are missing or damaged end it before that mark; --with-gaps moves without them.",
  ],
  async run({ settings, note }, given) {
    const to = given.value("to")!;
    if (!KINDS.includes(to)) throw new ConfigError(`--to is ${JSON.stringify(to)}: it must be shared or embedded.`);
    const { shared, data_dir } = settings(null);
    if (shared === null) {
      throw new ConfigError("svc-server move needs both places: --data-dir, and SVC_DATABASE_URL with SVC_BLOBS.");
    }
    const address = shared as SharedAddress;
    const now = Date.now;
    const moving = { data_dir, tell: note, now, with_gaps: given.has("with-gaps") };
    const moved = await (to === "shared" ? moveToShared : moveToFolder)(address, moving);
    const [from, into] = to === "shared" ? [data_dir, SHARED_PLACE] : [SHARED_PLACE, data_dir];
    const said = `moved from ${from} into ${into}`;
    if (moved === null) note(`it was all ${said} by a call before this one`);
    else note(`${said}: ${counted(moved.blobs, "file")}, ${moved.bytes} bytes`);
    for (const sha256 of moved?.damaged ?? []) note(`blob ${sha256} was missing or damaged there, and is missing here`);
    const operations = await openFound(to === "shared" ? { data_dir: tmpdir(), ...address, now } : { data_dir, now });
    try {
      await operations.record("move", said);
    } finally {
      await operations.close();
    }
    return endWith(moved?.damaged ?? [], note);
  },
};

export const BACKUPS: readonly OperatorCommand[] = [backup, restore, move];

const PROBE = "probe";

/** Writes to the place, reads it back, and looks at the age of the last backup. */
export async function checkBackups({ config, now }: Patient): Promise<Finding> {
  if (config.backup === null) return { status: "skip", message: "SVC_BACKUP is not set: backups are yours to make." };
  const place = placeOf(config.backup, config);
  await place.refuseFor(config.data_dir);
  const word = String(now);
  await place.putText(PROBE, word);
  const read = Buffer.from((await place.getBytes(PROBE)) ?? "").toString();
  const stays = await place.remove(PROBE).catch((error: Error) => error.message);
  if (read !== word) return { status: "fail", message: `${place.name} did not give back what was written there.` };
  const last = await snapshots.latestAt(place);
  const age = last === null ? Infinity : now - last;
  if (typeof stays === "string") return { status: "warn", message: `${stays} Older backups stay there, too.` };
  if (age < 2 * config.backup_every)
    return { status: "ok", message: `The last backup in ${place.name} is ${hours(age)} old.` };
  const message =
    last === null ? `There is no backup in ${place.name} yet` : `The last backup in ${place.name} is ${hours(age)} old`;
  return { status: "warn", message: `${message}: the server's log says why, or it does not run.` };
}

const hours = (ms: number): string =>
  ms < UNIT_MS.h ? "less than an hour" : counted(Math.floor(ms / UNIT_MS.h), "hour");
