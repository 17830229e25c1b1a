/** The process that looks at one page, as the engine sees it: bounded in time and memory, and ended with all that it
 *  started. */
import { readdirSync, readFileSync } from "node:fs";
import { type Child, startChild } from "../child/child.ts";
import { ownCommand } from "../child/program.ts";
import { every } from "../every.ts";
import type { FromRender, ToRender } from "./job.ts";

export const RENDER_COMMAND = "__render";
const renderCommand = (): string[] => ownCommand(RENDER_COMMAND, new URL("./entry.ts", import.meta.url));

const MOST_MS = 20_000;
const MOST_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 100;

/** What the processes of a group hold in memory, the browser's shared pages counted once and its own files not at all.
 *  0 where nobody tells. */
function memoryOfGroup(group: number): number {
  let sum = 0;
  try {
    for (const pid of readdirSync("/proc")) if (/^\d/.test(pid)) sum += memoryIfOf(group, pid);
  } catch {} // no /proc, or no descriptor: the browser has bounds of its own
  return sum * 1024;
}

/** In KB; 0 where it is of another group, or gone. */
function memoryIfOf(group: number, pid: string): number {
  try {
    // Behind the name, which may hold anything: state, parent, group.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) !== group) return 0;
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const of = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return of("RssAnon") + of("RssShmem");
  } catch {
    return 0;
  }
}

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

/** Throws where the machine gives no process. */
export function startPageProcess(message: ToRender, command = renderCommand()): PageProcess {
  const answer = Promise.withResolvers<FromRender>();
  const heard = { message: answer.resolve, died: () => answer.reject(new PageGivenUp(died)) };
  const child: Child<ToRender> = startChild<ToRender, FromRender>(command, heard, { group: true });
  child.send(message);
  const giveUp = (why: string) => {
    answer.reject(new PageGivenUp(why));
    child.kill();
  };
  const late = setTimeout(giveUp, MOST_MS, tooLong);
  const watch = every(
    LOOK_MS,
    () => memoryOfGroup(child.pid) > MOST_BYTES && giveUp(tooLarge),
    () => {},
  );
  const done = answer.promise.finally(() => {
    clearTimeout(late);
    watch.stop();
    child.kill();
  });
  done.catch(() => {}); // whoever asks hears of it
  return { done, kill: child.kill };
}
