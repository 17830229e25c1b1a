/** `svc install skill`: writes what svc is, and how it is used, where coding agents read it. The new content of all files is
 *  known before the first one is written. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Context, CallWords } from "../command.ts";
import { codeOf, Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { pick } from "../terminal/input.ts";
import { text } from "../terminal/text.ts";
import { changeText, lineEndOf, withBlock } from "./skill-block.ts";
import { findSign, SKILL, type SkillTarget, TARGETS } from "./skill-targets.ts";

const flagged = (given: CallWords): SkillTarget[] =>
  given.has("all") ? [...TARGETS] : TARGETS.filter(({ name }) => given.has(name));

/** The targets of the flags. Without flags: on a terminal those that a person ticks, else those that are always written and
 *  those that are detected. */
async function chosen({ cwd, terminal }: Context, given: CallWords): Promise<SkillTarget[]> {
  const exact = flagged(given);
  if (exact.length > 0) return exact;
  const found = TARGETS.map((target) => findSign(target, cwd));
  const asks = terminal.interactive && !isDry(given);
  if (!asks) return TARGETS.filter((_, i) => found[i] !== "not detected");
  const choices = TARGETS.map(({ name, file }, i) => ({
    label: name.padEnd(9) + file.padEnd(32),
    note: found[i] === "detected" ? "detected" : "",
    ticked: found[i] !== "not detected",
  }));
  return (await pick(terminal, "Write the svc skill for which agents?", choices)).map((i) => TARGETS[i]!);
}

const isDry = (given: CallWords): boolean => given.has("dry-run") || given.has("print");

/** Changes below the home folder. Targets that have no place there are named to the person. */
function globalChanges({ terminal }: Context, given: CallWords): Change[] {
  const exact = flagged(given);
  const wanted = exact.length > 0 ? exact : TARGETS;
  const [placed, rest] = [
    wanted.filter(({ global }) => global !== null),
    wanted.filter(({ global }) => global === null),
  ];
  const names = rest.map(({ name }) => name).join(", ");
  if (placed.length === 0)
    throw new Failure("no_global_place", `Below the home folder there is no place for ${names}.`);
  if (names !== "") terminal.say(text`  No place below the home folder: ${names}. Run it in a project for these.`);
  return plan(placed, { root: homedir(), boundary: null }, ({ global }) => global!);
}

async function localChanges(context: Context, given: CallWords): Promise<Change[]> {
  const place: SkillPlace = { root: context.cwd, boundary: boundaryOf(context.cwd) };
  return plan(await chosen(context, given), place, ({ file }) => file);
}

const WOULD = { written: "would be written", updated: "would be updated", unchanged: "unchanged" } as const;

const line = (name: string, file: string, status: string): string => `${name.padEnd(9)} ${file.padEnd(32)} ${status}`;

function list({ cwd, terminal }: Context, given: CallWords): void {
  const rows = TARGETS.map((target) => ({ target: target.name, file: target.file, found: findSign(target, cwd) }));
  if (given.json) return terminal.json({ ok: true, targets: rows });
  for (const { target, file, found } of rows) terminal.result(line(target, file, found));
}

export async function install(context: Context, given: CallWords): Promise<void> {
  if (given.argument !== "skill") throw usage(`What can be installed is the skill: ${svc("install skill")}`);
  if (given.has("list")) return list(context, given);
  const isGlobal = given.has("global");
  const changes = isGlobal ? globalChanges(context, given) : await localChanges(context, given);
  if (!isDry(given)) changes.forEach(writeChange);
  if (given.json) {
    const targets = changes.map(({ target, file, status }) => ({ target: target.name, file, status }));
    return context.terminal.json({ ok: true, dry_run: isDry(given), targets });
  }
  for (const { target, file, status } of changes) {
    const shown = isGlobal ? `~/${file}` : file;
    context.terminal.result(line(target.name, shown, isDry(given) ? WOULD[status] : status));
  }
  if (changes.length === 0) context.terminal.say(text`Nothing was ticked, and nothing written.`);
}

interface Change {
  target: SkillTarget;
  /** The path as it is shown. */
  file: string;
  /** The file itself, with all symbolic links followed. */
  location: string;
  status: "written" | "updated" | "unchanged";
  bytes: Buffer;
}

interface SkillPlace {
  root: string;
  /** No symbolic link may lead out of it; null if they may lead anywhere. */
  boundary: string | null;
}

/** The repository around a folder, else the folder itself: links in a project may lead no further. */
function boundaryOf(root: string): string {
  const real = realpathSync(root);
  for (let at = real; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return real;
  }
}

/** The target of a symbolic link whose file does not exist yet; null if there is no link. */
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

const isBelow = (location: string, folder: string): boolean =>
  location.startsWith(folder.endsWith(sep) ? folder : folder + sep);

function planOne(target: SkillTarget, file: string, { root, boundary }: SkillPlace): Change {
  const location = realLocation(resolve(root, file));
  if (boundary !== null && !isBelow(location, boundary)) {
    throw new Failure("outside", `${file} is a link out of this project, to ${location}. Nothing was written.`);
  }
  if (boundary !== null && isBelow(location, join(boundary, ".git"))) {
    throw new Failure("outside", `${file} is a link into the .git folder, to ${location}. Nothing was written.`);
  }
  const before = read(location, file);
  const bytes = contentFor(target, before);
  const status = before === null ? "written" : before.equals(bytes) ? "unchanged" : "updated";
  return { target, file, location, status, bytes };
}

/** The changes that the targets need. If two names lead to one file (`GEMINI.md` as a link to `AGENTS.md`), the first changes
 *  it and the other is reported as unchanged. Shared files come first. */
function plan(targets: readonly SkillTarget[], place: SkillPlace, fileOf: (target: SkillTarget) => string): Change[] {
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

/** Opens the file that is there, so that its mode, its owner and every link to it stay. */
function open(location: string, isNew: boolean): number {
  if (!isNew) return openSync(location, "r+");
  mkdirSync(dirname(location), { recursive: true });
  return openSync(location, "wx");
}

function write({ location, bytes, status }: Change): void {
  const descriptor = open(location, status === "written");
  try {
    // Written over, then cut to length: a crash between the two loses no byte of the new content.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
    ftruncateSync(descriptor, bytes.length);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeChange(change: Change): void {
  if (change.status === "unchanged") return;
  try {
    write(change);
  } catch (error) {
    throw new Failure("not_written", `${change.file} could not be written: ${(error as Error).message}`);
  }
}
