/** btrfs writes every change to a new place. Where there is none left, a write to a mapped page ends the process by SIGBUS,
 *  and SQLite maps `-shm` files, which it makes anew at each start. In a folder with the attribute C new files are
 *  written in place. */
import { statfsSync } from "node:fs";

export const BTRFS = 0x9123683e;

/** For files that are made in the folder itself from now on; what is deeper keeps its copies and its checksums. */
export function writeInPlace(folder: string): void {
  try {
    if (statfsSync(folder).type !== BTRFS) return;
    Bun.spawnSync(["chattr", "+C", folder], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  } catch {} // without the program, or on a disk that is full already, all is as it was
}
