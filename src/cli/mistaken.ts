/** A first word that was meant as a command and is none: what to type instead (CONTRACT 8). */
import { existsSync, readdirSync } from "node:fs";
import { quoted } from "../client/build-dir.ts";
import type { Command } from "./command.ts";
import { Failure, usage } from "./failure.ts";
import { svc } from "./invocation.ts";
import { nearest } from "../base/nearest.ts";

/** Words of other tools, and what they are here. The empty one is the deploy, which has no word. */
const FOREIGN: Readonly<Record<string, string>> = {
  deploy: "",
  publish: "",
  init: "",
  ls: "list",
  sites: "list",
  status: "versions",
  rm: "delete",
  remove: "delete",
  teardown: "delete",
};

/** One of them that is short is near to any short word. */
const LONG_FOREIGN = Object.keys(FOREIGN).filter((word) => word.length > 4);

const callOf = (command: string, rest: readonly string[]): string =>
  svc([command, ...rest.map(quoted)].filter(Boolean).join(" "));

const isForeign = (word: string): boolean => Object.hasOwn(FOREIGN, word);

/** The command that a foreign word stands for, and what it does. */
function ofForeign(word: string, rest: readonly string[]): string {
  const command = FOREIGN[word]!;
  const deploys = command === "" ? `: ${svc("<path>")} deploys` : "";
  return `There is no svc command ${word}${deploys}. Run: ${callOf(command, rest)}`;
}

/** Of a folder with very many names the first are enough. */
const MOST_NAMES = 1000;

function namesHere(): string[] {
  try {
    return readdirSync(".").slice(0, MOST_NAMES);
  } catch {
    return [];
  }
}

/** A command, or what lies in the current directory; null where neither is near. */
function meantBy(word: string, rest: readonly string[], commands: readonly Command[]): string | null {
  const names = ["help", ...commands.slice(1).map(({ name }) => name)];
  const guess = nearest(word, [...names, ...LONG_FOREIGN, ...namesHere()]);
  if (guess === null) return null;
  if (names.includes(guess)) return callOf(guess, rest);
  return LONG_FOREIGN.includes(guess) ? callOf(FOREIGN[guess]!, rest) : callOf(quoted(guess), rest);
}

/** `words`: all that was typed from the first word on, flags too. */
export function refuseMistaken(words: readonly string[], commands: readonly Command[]): void {
  const [word = "", ...rest] = words;
  if (!/^[\w-]+$/.test(word) || existsSync(word)) return;
  if (isForeign(word)) throw usage(ofForeign(word, rest));
  const meant = meantBy(word, rest, commands);
  const hint = meant === null ? `${svc("help")} lists the commands.` : `Did you mean ${meant}?`;
  if (rest.length === 0) throw new Failure("not_found", `There is no file or folder ${word}. ${hint}`);
  if (meant !== null) throw usage(`There is no svc command ${word}. ${hint}`);
}

/** Of `svc help <word>`. */
export function noHelpOn(word: string, commands: readonly Command[]): Error {
  if (isForeign(word)) return usage(ofForeign(word, []));
  const guess = nearest(
    word,
    commands.slice(1).map(({ name }) => name),
  );
  const way = guess === null ? `See ${svc("--help")}.` : `Did you mean ${svc(`help ${guess}`)}?`;
  return usage(`There is no svc command ${word}. ${way}`);
}
