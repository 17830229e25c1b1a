/** A folder for what tests write: in memory, where there is room. A server makes 256 folders and a file of 16 MB at its start
 *  and removes them in the end; a thousand of them keep a disk busy for minutes. */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const SHARED_MEMORY = "/dev/shm";
const TMPFS = 0x01021994;
/** Several times what the tests hold at once. */
const ROOM = 6 * 1024 ** 3;

function hasRoom(): boolean {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    return type === TMPFS && Math.min(bavail * bsize, freemem()) >= ROOM;
  } catch {
    return false;
  }
}

/** Containers forbid it often; tests start programs that they have made. */
async function runsPrograms(folder: string): Promise<boolean> {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const ran = await Promise.try(() => Bun.spawn([program]).exited).catch(() => 1);
  rmSync(program);
  return ran === 0;
}

interface Scratch {
  /** Where there is no such folder, nothing: temporary files go where they go anyway. */
  env: { TMPDIR?: string };
  remove(): void;
}

/** Goes with this process however that is ended, but for SIGKILL: it would keep the memory. Whoever names a folder by TMPDIR
 *  gets that one. */
export async function makeScratch(): Promise<Scratch> {
  const none = { env: {}, remove: () => {} };
  if (process.platform !== "linux" || process.env["TMPDIR"] || !hasRoom()) return none;
  const path = mkdtempSync(join(SHARED_MEMORY, "svc-verify-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.on("exit", remove);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
  chmodSync(path, 0o755); // tests start programs as other users, too
  if (await runsPrograms(path)) return { env: { TMPDIR: path }, remove };
  remove();
  return none;
}
