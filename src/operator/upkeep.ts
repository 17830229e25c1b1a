/** `gc`, `verify`, `backup`, `restore`, `health`: the upkeep of a data directory. */
import { resolve } from "node:path";
import { openOperations, type Operations, restoreFrom } from "../store/operations.ts";
import { slotOf } from "../run/metrics.ts";
import type { Checked, Damage } from "../store/upkeep.ts";
import { visible } from "../base/visible.ts";
import type { Call, Command } from "./command.ts";
import { health } from "./health.ts";
import { counted } from "./print.ts";

const gc: Command = {
  name: "gc",
  arguments: [],
  options: { "--force": null },
  summary: "sweep now: expired sites, and files that nothing names for an hour",
  more: "--force sweeps even where the database and the files do not seem to belong together. The server does the same by itself every SVC_GC_INTERVAL.",
  async run({ switches, open, note }) {
    const operations = open();
    const { sites, blobs } = await operations.sweep(Date.now(), switches.has("--force"));
    const swept = `swept ${counted(sites, "expired site")} and ${counted(blobs, "orphaned file")}`;
    await operations.record("gc", swept);
    note(swept);
    return 0;
  },
};

const CONSEQUENCE = {
  missing: "is missing",
  damaged: "is damaged and was moved to quarantine",
  unreadable: "cannot be read, and was left where it is: see to the disk, or to the file's owner and mode",
};

/** One line for the blob, one for each file that visitors can no longer get. */
const damageText = ({ sha256, why, losses }: Damage): string =>
  [
    `blob ${sha256} ${CONSEQUENCE[why]}`,
    ...losses.map((loss) => {
      const { slug, site_id, version_id, path, live } = loss;
      return `  ${slug} (${site_id}) ${version_id}${live ? " [live]" : ""} ${visible(path)}`;
    }),
  ].join("\n") + "\n";

async function verified(operations: Operations, { print, note }: Call): Promise<number> {
  const { blobs, bytes, damages, database }: Checked = await operations.verify();
  const missing = await operations.missingBlobs();
  operations.figures.set(slotOf("svc_blobs_missing"), missing.length);
  for (const fault of database) print(`database: ${visible(fault)}\n`);
  for (const damage of damages) print(damageText(damage));
  const faults = damages.length + database.length;
  const outcome = `checked ${counted(blobs, "blob")}, ${bytes} bytes: ${counted(faults, "fault")}`;
  await operations.record("verify", outcome);
  note(outcome);
  return faults === 0 ? 0 : 1;
}

const verify: Command = {
  name: "verify",
  arguments: [],
  options: {},
  summary: "re-hash every stored file; exit code 1 where one is missing or damaged",
  more: "Damaged files (not those that only cannot be read) go to the folder quarantine of the data directory; deploying the same bytes again heals them. The server goes through all of them by itself every 30 days.",
  run: (call) => verified(call.open(), call),
};

const backup: Command = {
  name: "backup",
  arguments: ["dir"],
  options: { "--link": null },
  summary: "copy everything into a new folder while the server runs",
  more: "On a file system that shares blocks (btrfs, xfs) the copy takes no room on the same disk. --link makes hard links where blocks cannot be shared: quick and without room, but the backup's files are then the live ones under a second name, and a chown, chmod or write in the backup hits the server's own. Copy the folder to another machine afterwards; `sha256sum -c SHA256SUMS` checks it anywhere.",
  async run({ arguments: [folder], switches, open, print, note }) {
    const operations = open();
    const report = await operations.backUp(folder!, switches.has("--link"));
    await operations.record("backup", resolve(folder!));
    for (const sha256 of report.damaged) print(`blob ${sha256} is missing or damaged and is not in the backup\n`);
    note(`backed up ${counted(report.blobs, "blob")}, ${report.bytes} bytes, as of ${report.created_at}, to ${folder}`);
    if (report.damaged.length === 0) return 0;
    note("svc-server verify tells which sites need them.");
    return 1;
  },
};

const restore: Command = {
  name: "restore",
  arguments: ["dir"],
  options: {},
  summary: "make an empty data directory out of a backup, then verify it",
  more: "The server must not run. The data directory (--data-dir) must be empty or new.",
  async run(call) {
    const { data_dir } = call;
    const [folder] = call.arguments;
    const { created_at } = await restoreFrom(folder!, data_dir);
    call.note(`restored ${folder}, taken ${created_at}, into ${data_dir}`);
    const operations = openOperations({ data_dir, now: Date.now });
    try {
      await operations.record("restore", `${resolve(folder!)}, taken ${created_at}`);
      return await verified(operations, call);
    } finally {
      operations.close();
    }
  },
};

export const UPKEEP: readonly Command[] = [gc, verify, backup, restore, health];
