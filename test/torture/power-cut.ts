/** Power cuts: `bun test/torture/power-cut.ts [cuts] [ext4|xfs|btrfs|all] [without-fsync]`, 24 and all unless said
 *  otherwise: about 1.5 s a cut. Needs Linux, root, loop mounts and each file system's mkfs (Debian: e2fsprogs, xfsprogs,
 *  btrfs-progs; btrfs is cut by xfs's clone of its image and needs xfsprogs too).
 *  The file system with the data directory loses at a random moment all that was not flushed; it is mounted again, and
 *  every answered deploy must be there, whole. With `without-fsync` (strace makes every fsync a no-op) the check must fail:
 *  that shows that it can. A file system that cannot be mounted here is said so, and the exit code is 1. */
import { join } from "node:path";
import { SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { crashRounds } from "../store/crash.ts";
import { isKind, type Kind, whyNot } from "./parts/disk.ts";
import { cutDisk } from "./parts/power.ts";

const WITHOUT_FSYNC = [
  "strace",
  "-D",
  "-f",
  "-qq",
  "-o",
  "/dev/null",
  "-e",
  "trace=fsync",
  "-e",
  "inject=fsync:retval=0",
];
const [cuts = "24", which = "all", mode = ""] = process.argv.slice(2);

async function cutPower(kind: Kind): Promise<void> {
  await using dir = await temporaryFolder();
  await using disk = cutDisk(dir.path, kind);
  const onRound = (n: number) => n % 8 === 0 && process.stderr.write(`${kind}: ${n} cuts\n`);
  const report = await crashRounds(join(disk.path, "data"), {
    rounds: Number(cuts),
    seed: Date.now(),
    command: mode === "without-fsync" ? [...WITHOUT_FSYNC, ...SVC_SERVER] : SVC_SERVER,
    cut: (server) => disk.cut(server),
    onRound,
  });
  process.stdout.write(`no violation: ${kind}, ${JSON.stringify(report)}\n`);
}

for (const kind of isKind(which) ? [which] : (["ext4", "xfs", "btrfs"] as const)) {
  const reason = whyNot(kind) ?? (kind === "btrfs" ? whyNot("xfs") : null);
  try {
    if (reason) throw new Error(`not tried: ${reason}`);
    await cutPower(kind);
  } catch (error) {
    process.stdout.write(`${kind}: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
