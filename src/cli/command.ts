/** What a command is made of, and what it is given. */
import type { Flag } from "./flags.ts";
import type { Links } from "./saved/links.ts";
import type { Server } from "./saved/server.ts";
import type { Env, Terminal } from "./terminal/index.ts";

/** What a command works with beside its own arguments. */
export interface Context {
  env: Env;
  cwd: string;
  now(): number;
  server: Server;
  links: Links;
  terminal: Terminal;
}

export interface Given {
  /** The one argument that a command may take. */
  argument: string | undefined;
  /** All of them, of a command that takes several. */
  all: readonly string[];
  json: boolean;
  quiet: boolean;
  has(flag: string): boolean;
  value(flag: string): string | undefined;
  /** Of a flag that may be given more than once, in order. */
  values(flag: string): readonly string[];
}

export interface Command {
  /** All its words: `comments token create`. The empty string is the command that runs when none is named. */
  name: string;
  /** `[path]` or `[version]`; null where it takes none. */
  argument: string | null;
  /** It takes any number of arguments. */
  takesMany?: true;
  summary: string;
  /** Further lines of its help. */
  details: string[];
  flags: Flag[];
  /** What its next word names; such a row only leads to them, and never runs. */
  under?: readonly Command[];
  run(context: Context, given: Given): Promise<void>;
}

/** A row that leads to others. */
export const group = (row: Pick<Command, "name" | "summary" | "details"> & { under: readonly Command[] }): Command => ({
  ...row,
  argument: "<command>",
  flags: [],
  run: () => Promise.reject(new Error(`${row.name} leads to commands and is none`)),
});

export const JSON_FLAG: Flag = { name: "json", help: "print one JSON object on stdout" };
export const QUIET_FLAG: Flag = { name: "quiet", short: "q", help: "print the result alone" };
/** What every command takes. */
export const COMMON_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "show this help" },
  { name: "version", short: "v", help: "show the version" },
];
export const SITE_FLAG: Flag = { name: "site", value: "id", help: "this site, instead of the one linked here" };
export const TOKEN_FLAG: Flag = { name: "token", value: "manage_token", help: "this token, instead of the saved one" };
