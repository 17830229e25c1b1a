/** A full disk (P6): `bun test/torture/full-disk.ts [tmpfs|ext4|xfs|btrfs|all]`, all unless said otherwise; about ten seconds
 *  each. Needs Linux, root, loop mounts and each file system's mkfs. On a file system of 192 MB (xfs: 320) a server is filled
 *  up to the last byte; pages must go on, deploys must be refused, a delete, a restart and `gc` must work, and with room again
 *  deploys too. A file system that cannot be mounted here is said so, and the exit code is 1. */
import { temporaryFolder } from "../kit/process.ts";
import { onFullDisk } from "../store/full-disk.ts";
import { isKind, type Kind, KINDS, makeDisk, whyNot } from "./parts/disk.ts";

const [which = "all"] = process.argv.slice(2);
const SIZE: Record<Kind, string> = { tmpfs: "192m", ext4: "192M", xfs: "320M", btrfs: "192M" };

async function fillUp(kind: Kind): Promise<void> {
  await using dir = await temporaryFolder();
  await using disk = makeDisk(dir.path, kind, SIZE[kind]);
  await onFullDisk(disk.path);
}

for (const kind of isKind(which) ? [which] : KINDS) {
  try {
    const reason = whyNot(kind);
    if (reason) throw new Error(`not tried: ${reason}`);
    await fillUp(kind);
    process.stdout.write(`${kind}: no violation\n`);
  } catch (error) {
    process.stdout.write(`${kind}: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
