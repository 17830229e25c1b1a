/** A Chromium of its own for one page: an empty profile, a bound on what each of its processes may hold, no variable of
 *  the server's. It is a child of this process and of its group, which ends with it. */
import { mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Chromium } from "../job.ts";
import { type Connection, ENDED, type Event, openConnection } from "./connection.ts";
import { switchesFor } from "./switches.ts";

interface Browser extends Connection {
  /** What it last complained of, for whoever reads why it did not start. */
  complaint(): string;
}

interface Start extends Chromium {
  folder: string;
  gate: number | null;
  heard(event: Event): void;
}

/** Of memory that one process may write to. The group as a whole is watched from outside. */
const MOST_MEMORY_KB = 512 * 1024;
const STDERR_KEPT = 4000;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** A desktop's and the machine's own: nothing of them is the browser's. */
const NO_BUSES = { DBUS_SESSION_BUS_ADDRESS: "disabled:", DBUS_SYSTEM_BUS_ADDRESS: "disabled:" };
const LIMITED = `ulimit -c 0; ulimit -d ${MOST_MEMORY_KB} 2>/dev/null; exec "$0" "$@"`;

/** A container has 64 MB of it. */
function hasSharedMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize >= 256 * 1024 * 1024;
  } catch {
    return false;
  }
}

async function keepLast(stream: ReadableStream<Uint8Array>, keep: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) keep(decoder.decode(chunk, { stream: true }));
  } catch {} // it ended
}

/** Throws where the machine gives no process. */
export function startBrowser({ program, sandbox, folder, gate, heard }: Start): Browser {
  const profile = join(folder, "profile");
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  const switches = switchesFor({ sandbox, profile, gate, shared_memory: hasSharedMemory() });
  const child = Bun.spawn(["/bin/sh", "-c", LIMITED, program, ...switches], {
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder, PATH, LC_ALL: "C.UTF-8", ...NO_BUSES },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  let said = "";
  void keepLast(child.stderr, (text) => void (said = (said + text).slice(-STDERR_KEPT)));
  const [, , , to, from] = child.stdio as unknown as (number | null)[];
  const connection = openConnection(to!, from!, heard);
  void child.exited.then(() => connection.close(ENDED));
  return { ...connection, complaint: () => said.trim() };
}
