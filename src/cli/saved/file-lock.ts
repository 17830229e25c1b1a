/** One of several CLIs at a time. Nothing that Node has on each system locks a file for as long as a process lives, so the
 *  lock is a file that names its holder. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";

/** Of a lock that names nobody: its holder was ended as it took it. */
const UNNAMED_MS = 2_000;
/** Of one whose holder cannot be asked for, being of another machine, or whose number another program may have by now. */
const FORGOTTEN_MS = 60_000;
const PATIENCE_MS = 10_000;

interface FileLock {
  /** False once somebody else took it, who thought its holder dead. */
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

/** Whether nobody holds it any more. */
function isLeft(lock: string): boolean {
  const content = contentOf(lock);
  if (content === null) return false; // it was given back
  const [, pid, host] = /^(\d+) (\S+)\n/.exec(content) ?? [];
  if (pid === undefined) return ageOf(lock) > UNNAMED_MS;
  return (host === hostname() && !isRunning(Number(pid))) || ageOf(lock) > FORGOTTEN_MS;
}

/** One at a time looks and takes it away: what was looked at before may be another's lock by now. */
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

/** Throws EEXIST where another holds it for ten seconds. */
export function takeLock(lock: string): FileLock {
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
