/** Judges one name at a time: what a path of a site may look like. */

import { normalForm } from "../../base/normal-form.ts";
import type { Warning } from "../../base/types.ts";
import { show } from "../show.ts";
import { refuseEntry } from "./refusals.ts";

interface CleanPath {
  /** Without a leading `./` or a trailing slash; empty for the root folder itself. */
  path: string;
  folder: boolean;
  backslashes: boolean;
}

/** Characters that no path of a site may have: controls, line breaks, and marks that turn or hide text. Fewer than
 *  are escaped in a shown name: a soft hyphen or a joiner is no reason to refuse an upload. */
const REFUSED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/u;
const LONGEST_PATH = 512;
const LONGEST_SEGMENT = 255;
const MOST_LEVELS = 64;

/** Windows wrote backslashes, tar and others a leading `./`, macOS decomposed letters: all three become one form. */
export function cleanPath(name: string): CleanPath {
  const slashed = name.replaceAll("\\", "/");
  const normal = normalForm(slashed.replace(/^\.\//, ""));
  const folder = slashed.endsWith("/");
  const path = folder && normal !== "/" ? normal.replace(/\/$/, "") : normal;
  const is_root = folder && path === "";
  const reason = is_root ? null : whyUnsafe(path);
  if (reason) throw refuseEntry("unsafe_path", show(name), `has an unsafe path: it ${reason}`);
  return { path, folder, backslashes: slashed !== name };
}

function whyUnsafe(path: string): string | null {
  if (path === "") return "is empty";
  if (REFUSED.test(path)) return "holds a control character or an invisible one";
  if (path.startsWith("/")) return "is absolute";
  if (/^[a-z]:/i.test(path)) return "starts with a drive letter";
  if (Buffer.byteLength(path) > LONGEST_PATH) return `is longer than ${LONGEST_PATH} bytes`;
  const segments = path.split("/");
  if (segments.length > MOST_LEVELS) return `goes deeper than ${MOST_LEVELS} levels`;
  return segments.map(whyUnsafeSegment).find((reason) => reason !== null) ?? null;
}

function whyUnsafeSegment(segment: string): string | null {
  if (segment === "..") return 'has a ".." segment';
  if (segment === ".") return 'has a "." segment';
  if (segment === "") return "has an empty segment";
  return Buffer.byteLength(segment) > LONGEST_SEGMENT ? `has a segment over ${LONGEST_SEGMENT} bytes` : null;
}

// Judges the paths of a deploy together.

interface PathEntry {
  name: string;
  path: string;
}

/** Two entries at one path, or a path that is a file and a folder: whichever won, a reader of the zip saw another site. */
export function refuseClashes(files: readonly PathEntry[], folders: readonly PathEntry[]): void {
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
  const composed = normalForm(twin) === normalForm(name) ? ", which only composes its letters otherwise" : "";
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
