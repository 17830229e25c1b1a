/** The new content of each file. Nothing is written before all of them are known. */
import { existsSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { codeOf, Failure } from "../failure.ts";
import { lineEndOf, withBlock } from "./block.ts";
import { changeText } from "./encoding.ts";
import { SKILL, type SkillTarget } from "./targets.ts";

export interface Change {
  target: SkillTarget;
  /** As it is shown. */
  file: string;
  /** The file itself, with all symbolic links followed. */
  location: string;
  status: "written" | "updated" | "unchanged";
  bytes: Buffer;
}

export interface Place {
  root: string;
  /** No symbolic link may lead out of it; null: they may lead anywhere. */
  boundary: string | null;
}

/** The repository that a folder lies in, else the folder itself: links in a project may lead no further. */
export function boundaryOf(root: string): string {
  const real = realpathSync(root);
  for (let at = real; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return real;
  }
}

/** Where a symbolic link points whose file is not there yet; null where there is no link. */
function danglingLink(location: string): string | null {
  try {
    return resolve(dirname(location), readlinkSync(location));
  } catch {
    return null;
  }
}

/** The real name of a file that may not be there yet. */
function realLocation(location: string): string {
  try {
    return realpathSync(location);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) throw error;
    const link = danglingLink(location);
    return link === null ? join(realLocation(dirname(location)), basename(location)) : realLocation(link);
  }
}

function read(location: string, file: string): Buffer | null {
  try {
    const found = statSync(location);
    // Reading a pipe would wait for somebody to write into it.
    if (!found.isFile() && !found.isDirectory()) throw new Failure("not_a_file", `${file} is not a file.`);
    return readFileSync(location);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) === "ENOTDIR")
      throw new Failure("not_a_folder", `${dirname(file)} is a file, so ${file} cannot be written.`);
    if (codeOf(error) === "EISDIR") throw new Failure("not_a_file", `${file} is a folder, not a file.`);
    throw error;
  }
}

/** A file that holds the skill alone is written anew, with the line ends that it had. */
function contentFor({ shared, heading }: SkillTarget, before: Buffer | null): Buffer {
  if (shared) return changeText(before ?? Buffer.alloc(0), (text) => withBlock(text, SKILL));
  const end = before === null ? "\n" : lineEndOf(before.toString("latin1"));
  return Buffer.from((heading + SKILL).replaceAll("\n", end));
}

const lies = (location: string, folder: string): boolean =>
  location.startsWith(folder.endsWith(sep) ? folder : folder + sep);

function planOne(target: SkillTarget, file: string, { root, boundary }: Place): Change {
  const location = realLocation(resolve(root, file));
  if (boundary !== null && !lies(location, boundary)) {
    throw new Failure("outside", `${file} is a link out of this project, to ${location}. Nothing was written.`);
  }
  if (boundary !== null && lies(location, join(boundary, ".git"))) {
    throw new Failure("outside", `${file} is a link into the .git folder, to ${location}. Nothing was written.`);
  }
  const before = read(location, file);
  const bytes = contentFor(target, before);
  const status = before === null ? "written" : before.equals(bytes) ? "unchanged" : "updated";
  return { target, file, location, status, bytes };
}

/** Where two names lead to one file (`GEMINI.md` as a link to `AGENTS.md`), the first changes it and the other is told
 *  as unchanged. Shared files are first. */
export function plan(targets: readonly SkillTarget[], place: Place, fileOf: (target: SkillTarget) => string): Change[] {
  const seen = new Set<string>();
  const sharedFirst = [...targets].sort((a, b) => Number(b.shared) - Number(a.shared));
  const changes = sharedFirst.map((target) => {
    const change = planOne(target, fileOf(target), place);
    const isSecond = seen.has(change.location);
    seen.add(change.location);
    return isSecond ? { ...change, status: "unchanged" as const } : change;
  });
  return changes.sort((a, b) => targets.indexOf(a.target) - targets.indexOf(b.target));
}
