/** Judges the paths of a deploy together. */
import type { Warning } from "../../base/types.ts";
import { show } from "../show.ts";
import { refuseEntry } from "./refusals.ts";

interface Named {
  name: string;
  path: string;
}

/** Two entries at one path, or a path that is a file and a folder: whichever won, a reader of the zip saw another site. */
export function refuseClashes(files: readonly Named[], folders: readonly Named[]): void {
  const inside = new Map<string, string>();
  for (const { path, name } of folders) inside.set(path, name);
  for (const { path, name } of files) for (const folder of parents(path)) inside.set(folder, name);
  const seen = new Map<string, string>();
  for (const { path, name } of files) {
    const twin = seen.get(path);
    if (twin !== undefined) throw refuseEntry("invalid_zip", show(name), whyDuplicate(twin, name));
    seen.set(path, name);
    const below = inside.get(path);
    if (below !== undefined)
      throw refuseEntry("invalid_zip", show(name), `is a file and also a folder, by the entry "${show(below)}"`);
  }
}

function whyDuplicate(twin: string, name: string): string {
  if (twin === name) return `is there twice (a duplicate of "${show(twin)}")`;
  const composed = twin.normalize("NFC") === name.normalize("NFC") ? ", which only composes its letters otherwise" : "";
  return `is a duplicate: it ends at the same path as "${show(twin)}"${composed}`;
}

function* parents(path: string): Generator<string> {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) yield path.slice(0, at);
}

/** Both are kept and served, but a folder on Windows or macOS can hold only one of them. */
export function caseCollisions(paths: Iterable<string>): Warning[] {
  const first = new Map<string, string>();
  const warnings: Warning[] = [];
  for (const path of paths) {
    const folded = path.toLowerCase();
    const other = first.get(folded);
    if (other === undefined) first.set(folded, path);
    else
      warnings.push({
        code: "case_collision",
        path,
        message: `${other} and ${path} differ by letter case alone; both are served, but most computers can keep only one of them in a folder.`,
        fix_recipe: `Rename ${path} so that it differs from ${other} by more than letter case.`,
      });
  }
  return warnings;
}
