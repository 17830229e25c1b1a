/** The process that looks at one page, as the engine sees it: bounded in time and memory, and ended with all that it
 *  started. */
import { readdirSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { startJobChild } from "../run/child.ts";
import { every } from "../run/every.ts";
import { ownCommand, RENDER_COMMAND } from "../run/program.ts";
import type { FromRender, ToRender } from "./job.ts";

const renderCommand = (): string[] => ownCommand(RENDER_COMMAND, new URL("./entry.ts", import.meta.url));

const MOST_MS = 20_000;
const MOST_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 100;

/** It was ended, or died: a sentence for the site's owner. */
export class PageGivenUp extends Error {
  override readonly name = "PageGivenUp";
}

export interface PageProcess {
  /** Rejects with `PageGivenUp`. */
  done: Promise<FromRender>;
  kill(): void;
}

const tooLong = "The page was given up after 20 seconds: it kept the browser busy.";
const tooLarge = "The page was given up: it took more than 512 MB of memory.";
const died = "The browser that looked at the page crashed.";

/** Throws when the machine gives no process. */
export function startPageProcess(message: ToRender, command = renderCommand()): PageProcess {
  const child = startJobChild<ToRender, FromRender>(command, { group: true });
  const given_up = Promise.withResolvers<never>();
  const giveUp = (why: string) => {
    given_up.reject(new PageGivenUp(why));
    child.kill();
  };
  const answer = child.run(message).catch(() => {
    throw new PageGivenUp(died);
  });
  const { folder } = "look" in message ? message.look : message.try;
  const late = setTimeout(giveUp, MOST_MS, tooLong);
  const watch = every(
    LOOK_MS,
    () => memoryOfGroup(child.pid, folder) > MOST_BYTES && giveUp(tooLarge),
    () => {},
  );
  const done = Promise.race([answer, given_up.promise]).finally(() => {
    clearTimeout(late);
    watch.stop();
    child.kill();
  });
  done.catch(() => {}); // the caller hears of it
  return { done, kill: child.kill };
}

const TMPFS = 0x01021994;
/** Address range, permissions, offset, device, inode, path of a shared mapping of a file. */
const SHARED = /^([\da-f]+)-([\da-f]+) ..[x-]s ([\da-f]+) (\S+ \d+) +(\/.*)$/gm;

/** By file, which several processes map: how far its mappings reach, in bytes. */
type FileSizes = Map<string, number>;

function addFiles(files: FileSizes, pid: string, folder: string): void {
  for (const [, from, to, offset, file, path] of readFileSync(`/proc/${pid}/maps`, "latin1").matchAll(SHARED)) {
    if (!path!.startsWith(folder)) continue;
    const end = parseInt(offset!, 16) + parseInt(to!, 16) - parseInt(from!, 16);
    files.set(file!, Math.max(files.get(file!) ?? 0, end));
  }
}

/** In bytes; 0 for a process of another group, or one that is gone. `folder`: null when its files are counted as shared pages. */
function memoryIfOf(group: number, pid: string, files: FileSizes, folder: string | null): number {
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

/** Bytes that the processes of a group hold in memory: their own pages, shared ones, and files of `folder` that replace shared
 *  memory when /dev/shm has no room. The browser's program and libraries are not counted. 0 when the platform cannot tell. */
function memoryOfGroup(group: number, folder: string): number {
  let sum = 0;
  const files: FileSizes = new Map();
  try {
    const on_disk = onDisk(folder);
    for (const pid of readdirSync("/proc")) if (/^\d/.test(pid)) sum += memoryIfOf(group, pid, files, on_disk);
  } catch {} // no /proc, or no descriptor: the browser has bounds of its own
  return [...files.values()].reduce((all, bytes) => all + bytes, sum);
}
