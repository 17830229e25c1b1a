/** A small file system of its own in a file, or in memory: mounted, cut off, mounted again, gone at the end. Needs Linux,
 *  root and the kind's mkfs; where one is missing, `whyNot` says which. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export type Kind = "tmpfs" | "ext4" | "xfs" | "btrfs";
export const KINDS: readonly Kind[] = ["tmpfs", "ext4", "xfs", "btrfs"];
export const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

export function command(...argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString().trim()}`);
}

/** A server that was killed lets go of its files a moment later. */
export async function unmount(folder: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return command("umount", folder);
    } catch (error) {
      if (tries === 50) throw error;
      await Bun.sleep(100);
    }
  }
}

/** Why there is no such file system here; null where there is. */
export function whyNot(kind: Kind): string | null {
  if (process.platform !== "linux") return "this is not Linux";
  if (process.getuid?.() !== 0) return "mounting takes root";
  if (kind !== "tmpfs" && !Bun.which(`mkfs.${kind}`)) return `there is no mkfs.${kind}`;
  if (kind !== "tmpfs" && !existsSync("/dev/loop-control")) return "there are no loop devices";
  return null;
}

export interface Disk {
  /** Where it is mounted. */
  path: string;
  image: string;
  mount(image?: string): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Mounted. Throws where the kernel does not know the kind. */
export function makeDisk(folder: string, kind: Kind, size: string, options: { inodes?: number } = {}): Disk {
  const path = join(folder, `${kind}-mounted`);
  const image = join(folder, `${kind}-image`);
  mkdirSync(path, { recursive: true });
  function mount(from = image): void {
    const memory = [
      "-t",
      "tmpfs",
      "-o",
      `size=${size}${options.inodes ? `,nr_inodes=${options.inodes}` : ""}`,
      "tmpfs",
    ];
    command("mount", ...(kind === "tmpfs" ? memory : ["-o", "loop", from]), path);
  }
  if (kind !== "tmpfs") {
    command("truncate", "-s", size, image);
    command(`mkfs.${kind}`, "-q", image);
  }
  mount();
  return { path, image, mount, [Symbol.asyncDispose]: () => unmount(path) };
}
