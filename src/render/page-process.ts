/** The process that looks at one page, as the engine sees it: bounded in time and memory, and ended with all that it
 *  started. */
import { type Child, startChild } from "../run/child.ts";
import { ownCommand, RENDER_COMMAND } from "../run/program.ts";
import { every } from "../run/every.ts";
import { memoryOfGroup } from "./group-memory.ts";
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
  const { folder } = "look" in message ? message.look : message.try;
  const late = setTimeout(giveUp, MOST_MS, tooLong);
  const watch = every(
    LOOK_MS,
    () => memoryOfGroup(child.pid, folder) > MOST_BYTES && giveUp(tooLarge),
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
