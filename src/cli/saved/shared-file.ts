/** The files that the CLI remembers things in, outside of every project: small JSON that holds secrets, that several CLIs may
 *  change at once, and that must not be lost to a broken write. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { homedir, hostname } from "node:os";
import { dirname, join, posix, win32 } from "node:path";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";
import type { Env } from "../terminal/index.ts";

/** The parsed content; null if there is no file. Throws if it is not JSON. */
export function readShared(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
}

/** Windows refuses to replace a file while another program has it open; a CLI has it open for milliseconds. */
function replace(from: string, to: string): void {
  for (let tries = 0; ; tries++) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (tries === 20 || !["EPERM", "EACCES", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      sleepSync(10);
    }
  }
}

function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, "w", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads, changes and replaces the file as one step. All of it is synchronous, so Ctrl-C comes before or after it. */
export function changeShared(file: string, change: () => unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.new`;
  const lock = takeLock(`${file}.lock`);
  try {
    writeWhole(next, `${JSON.stringify(change(), null, 2)}\n`);
    if (!lock.isHeld()) throw new Error(`${file} is being written by another svc; run the command again.`);
    replace(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** The life of a lock without a name: its holder was ended while it took it. */
const UNNAMED_MS = 2_000;
/** The life of a lock whose holder cannot be looked up: it is on another machine, or another program has its number now. */
const FORGOTTEN_MS = 60_000;
const PATIENCE_MS = 10_000;

interface FileLock {
  /** False after another CLI took the lock because it thought the holder dead. */
  isHeld(): boolean;
  release(): void;
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0; // it is gone
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM"; // somebody else's
  }
}

/** Whether the lock was left by a holder that is gone. */
function isLeft(lock: string): boolean {
  const content = contentOf(lock);
  if (content === null) return false; // it was given back
  const [, pid, host] = /^(\d+) (\S+)\n/.exec(content) ?? [];
  if (pid === undefined) return ageOf(lock) > UNNAMED_MS;
  return (host === hostname() && !isRunning(Number(pid))) || ageOf(lock) > FORGOTTEN_MS;
}

/** Removes a lock that was left. One CLI at a time does so: a lock that was looked at before may be another's by now. */
function clear(lock: string): void {
  const guard = `${lock}.clearing`;
  try {
    mkdirSync(guard);
  } catch {
    if (ageOf(guard) < UNNAMED_MS) return;
  }
  try {
    if (isLeft(lock)) rmSync(lock, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

/** Takes the lock, which one CLI holds at a time. Node has nothing on every system that locks a file for as long as a process
 *  lives, so the lock is a file that names its holder. Throws EEXIST if another CLI holds it for ten seconds. */
function takeLock(lock: string): FileLock {
  const mine = `${process.pid} ${hostname()}\n${Date.now()}\n`;
  for (const started = Date.now(); ; sleepSync(10)) {
    try {
      writeFileSync(lock, mine, { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || Date.now() - started > PATIENCE_MS) throw error;
      if (isLeft(lock)) clear(lock);
    }
  }
  const isHeld = () => contentOf(lock) === mine;
  return { isHeld, release: () => void (isHeld() && rmSync(lock, { force: true })) };
}

/** The folder of the saved files. */
export function configDir(env: Env, platform: string = process.platform, home: string = homedir()): string {
  if (env["SVC_CONFIG_DIR"]) return env["SVC_CONFIG_DIR"];
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "svc");
  if (platform === "win32") return win32.join(env["APPDATA"] || win32.join(home, "AppData", "Roaming"), "svc");
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG specification says that a relative path is to be ignored.
  return posix.join(xdg?.startsWith("/") ? xdg : posix.join(home, ".config"), "svc");
}

export const projectsFile = (env: Env): string => join(configDir(env), "projects.json");
export const pendingLoginsFile = (env: Env): string => join(configDir(env), "logins.json");
export const sessionFile = (env: Env): string => join(configDir(env), "session.json");
