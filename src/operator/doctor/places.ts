/** Folders that may not be there yet. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The folder, or the nearest one around it that is there. */
export function nearestThere(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
}
