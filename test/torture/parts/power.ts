/** Two ways to cut the power of a file system while a server writes to it. Both leave the disk as it was at that moment:
 *  what was written and not flushed by the file system is lost. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ServerProcess } from "../../kit/process.ts";
import { command, type Disk, type Kind, makeDisk, unmount } from "./disk.ts";

const GOING_DOWN = 0x8004587d; // XFS_IOC_GOINGDOWN, which ext4 knows too
const WITHOUT_FLUSHING = new Uint32Array([2]);

async function killed(server: ServerProcess): Promise<void> {
  server.kill("SIGKILL");
  await server.exited;
}

/** ext4 and xfs shut themselves down without flushing. */
function shutDown(path: string): boolean {
  const { symbols } = dlopen("libc.so.6", {
    ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  });
  const fd = openSync(path, "r");
  const done = symbols.ioctl(fd, GOING_DOWN, ptr(WITHOUT_FLUSHING)) === 0;
  closeSync(fd);
  return done;
}

interface CutDisk extends AsyncDisposable {
  path: string;
  /** Cuts, and mounts again what the disk has. The server is gone afterwards. */
  cut(server: ServerProcess): Promise<void>;
}

function byShutDown(disk: Disk, kind: Kind): CutDisk {
  return {
    path: disk.path,
    async cut(server) {
      const done = shutDown(disk.path);
      await killed(server);
      if (!done) throw new Error(`${kind} cannot be shut down here`);
      await unmount(disk.path);
      disk.mount();
    },
    [Symbol.asyncDispose]: disk[Symbol.asyncDispose],
  };
}

/** For a file system that has no such call: its image lies on an xfs, which clones a file in one moment. The server is
 *  stopped first, so that it answers nothing after that moment. */
function byClone(folder: string, kind: Kind, size: string): CutDisk {
  const below = makeDisk(folder, "xfs", "2G");
  const images = join(below.path, "images");
  mkdirSync(images);
  const disk = makeDisk(images, kind, size);
  let image = disk.image;
  let cuts = 0;
  return {
    path: disk.path,
    async cut(server) {
      server.kill("SIGSTOP");
      const clone = join(images, `cut-${++cuts}`);
      command("cp", "--reflink=always", image, clone);
      await killed(server);
      await unmount(disk.path);
      rmSync(image);
      image = clone;
      disk.mount(image);
    },
    async [Symbol.asyncDispose]() {
      await disk[Symbol.asyncDispose]();
      await below[Symbol.asyncDispose]();
    },
  };
}

export function cutDisk(folder: string, kind: Kind): CutDisk {
  if (kind === "btrfs") return byClone(folder, kind, "400M");
  return byShutDown(makeDisk(folder, kind, "400M"), kind);
}
