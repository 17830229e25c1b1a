/** `gc`, `verify`, `backup`, `restore`, `health`: the upkeep of a data directory. */
import { resolve } from "node:path";
import { openOperations, type Operations, restoreFrom } from "../store/operations.ts";
import { slotOf } from "../run/metrics.ts";
import type { Checked, Damage } from "../store/upkeep.ts";
import { visible } from "../base/visible.ts";
import type { Config } from "../config/index.ts";
import type { OperatorCommand, OperatorContext } from "./command.ts";
import { counted } from "./print.ts";

const gc: OperatorCommand = {
  name: "gc",
  arguments: [],
  flags: [{ name: "force" }],
  summary: "sweep now: expired sites, and files that nothing names for an hour",
  details: [
    "--force sweeps even where the database and the files do not seem to belong together. The server does the same by itself every SVC_GC_INTERVAL.",
  ],
  async run({ open, note }, given) {
    const operations = open();
    const { sites, blobs } = await operations.sweep(Date.now(), given.has("force"));
    const swept = `swept ${counted(sites, "expired site")} and ${counted(blobs, "orphaned file")}`;
    await operations.record("gc", swept);
    note(swept);
  },
};

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

async function verified(operations: Operations, { print, note }: OperatorContext): Promise<number> {
  const { blobs, bytes, damages, database }: Checked = await operations.verify();
  const missing = await operations.missingBlobs();
  operations.figures.set(slotOf("svc_blobs_missing"), missing.length);
  operations.figures.set(slotOf("svc_last_verify_timestamp_seconds"), Date.now() / 1000);
  for (const fault of database) print(`database: ${visible(fault)}\n`);
  for (const damage of damages) print(damageText(damage));
  const faults = damages.length + database.length;
  const outcome = `checked ${counted(blobs, "blob")}, ${bytes} bytes: ${counted(faults, "fault")}`;
  await operations.record("verify", outcome);
  note(outcome);
  return faults === 0 ? 0 : 1;
}

const verify: OperatorCommand = {
  name: "verify",
  arguments: [],
  flags: [],
  summary: "re-hash every stored file; exit code 1 where one is missing or damaged",
  details: [
    "Damaged files (not those that only cannot be read) go to the folder quarantine of the data directory; deploying the same bytes again heals them. The server goes through all of them by itself every 30 days.",
  ],
  run: (context) => verified(context.open(), context),
};

const backup: OperatorCommand = {
  name: "backup",
  arguments: ["<dir>"],
  flags: [{ name: "link" }],
  summary: "copy everything into a new folder while the server runs",
  details: [
    "On a file system that shares blocks (btrfs, xfs) the copy takes no room on the same disk. --link makes hard links where blocks cannot be shared: quick and without room, but the backup's files are then the live ones under a second name, and a chown, chmod or write in the backup hits the server's own. Copy the folder to another machine afterwards; `sha256sum -c SHA256SUMS` checks it anywhere.",
  ],
  async run({ open, print, note }, given) {
    const folder = given.argument!;
    const operations = open();
    const report = await operations.backUp(folder, given.has("link"));
    await operations.record("backup", resolve(folder));
    for (const sha256 of report.damaged) print(`blob ${sha256} is missing or damaged and is not in the backup\n`);
    note(`backed up ${counted(report.blobs, "blob")}, ${report.bytes} bytes, as of ${report.created_at}, to ${folder}`);
    if (report.damaged.length === 0) return 0;
    note("svc-server verify tells which sites need them.");
    return 1;
  },
};

const restore: OperatorCommand = {
  name: "restore",
  arguments: ["<dir>"],
  flags: [],
  summary: "make an empty data directory out of a backup, then verify it",
  details: ["The server must not run. The data directory (--data-dir) must be empty or new."],
  async run(context, { argument: folder = "" }) {
    const { data_dir, note } = context;
    const { created_at } = await restoreFrom(folder, data_dir);
    note(`restored ${folder}, taken ${created_at}, into ${data_dir}`);
    const operations = openOperations({ data_dir, now: Date.now });
    try {
      await operations.record("restore", `${resolve(folder)}, taken ${created_at}`);
      return await verified(operations, context);
    } finally {
      operations.close();
    }
  },
};

/** Less than the 5 s that a container's check is usually given. */
const WAIT_MS = 4_000;

/** The address at which a server that is bound to `host` can be asked from here. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function addressOf({ host, port, tls_cert }: Config): string {
  if (port === 0)
    throw new Error("--port 0 lets the server pick a port, which nobody else knows. Give both the same one.");
  return `${tls_cert === null ? "http" : "https"}://${reachable(host)}:${port}`;
}

/** For a program that restarts a server which does not answer: an image has no curl to ask with. */
const health: OperatorCommand = {
  name: "health",
  arguments: [],
  flags: [],
  summary: "ask the server on this machine whether it answers; exit code 1 where it does not",
  details: [
    "It asks /healthz at the address that --host and --port (SVC_HOST, SVC_PORT) name. Who signed the certificate does not matter.",
  ],
  async run({ config, note }) {
    const address = addressOf(await config());
    const options = { signal: AbortSignal.timeout(WAIT_MS), tls: { rejectUnauthorized: false }, proxy: false } as const;
    const status = await fetch(`${address}/healthz`, options).then(
      (answer) => `answers with ${answer.status}`,
      (error: Error) => `does not answer (${"code" in error ? error.code : error.name})`,
    );
    const well = status.endsWith(" 200");
    note(well ? `${address} answers` : `${address} ${status}`);
    return well ? 0 : 1;
  },
};

export const UPKEEP: readonly OperatorCommand[] = [gc, verify, backup, restore, health];
