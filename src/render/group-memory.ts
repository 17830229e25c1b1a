/** What the processes of a group hold in memory, as Linux tells it: their own pages, shared ones, and files that stand for
 *  shared memory where /dev/shm has no room. A browser's program and libraries are not counted. */
import { readdirSync, readFileSync, realpathSync, statfsSync } from "node:fs";

const TMPFS = 0x01021994;
/** Address range, permissions, offset, device, inode, path of a shared mapping of a file. */
const SHARED = /^([\da-f]+)-([\da-f]+) ..[x-]s ([\da-f]+) (\S+ \d+) +(\/.*)$/gm;

/** By file, which several processes map: how far its mappings reach, in bytes. */
type Files = Map<string, number>;

function addFiles(files: Files, pid: string, folder: string): void {
  for (const [, from, to, offset, file, path] of readFileSync(`/proc/${pid}/maps`, "latin1").matchAll(SHARED)) {
    if (!path!.startsWith(folder)) continue;
    const end = parseInt(offset!, 16) + parseInt(to!, 16) - parseInt(from!, 16);
    files.set(file!, Math.max(files.get(file!) ?? 0, end));
  }
}

/** In bytes; 0 where it is of another group, or gone. `folder`: null where its files are counted as shared pages. */
function memoryIfOf(group: number, pid: string, files: Files, folder: string | null): number {
  try {
    // Behind the name, which may hold anything: state, parent, group.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) !== group) return 0;
    if (folder !== null) addFiles(files, pid, folder);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const of = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return (of("RssAnon") + of("RssShmem")) * 1024;
  } catch {
    return 0;
  }
}

/** The folder as mappings name it; null where it is a part of memory, whose pages are shared ones. */
function onDisk(folder: string): string | null {
  return Number(statfsSync(folder).type) === TMPFS ? null : `${realpathSync(folder)}/`;
}

/** In bytes; 0 where nobody tells. `folder`: what the group writes to. */
export function memoryOfGroup(group: number, folder: string): number {
  let sum = 0;
  const files: Files = new Map();
  try {
    const on_disk = onDisk(folder);
    for (const pid of readdirSync("/proc")) if (/^\d/.test(pid)) sum += memoryIfOf(group, pid, files, on_disk);
  } catch {} // no /proc, or no descriptor: the browser has bounds of its own
  return [...files.values()].reduce((all, bytes) => all + bytes, sum);
}
