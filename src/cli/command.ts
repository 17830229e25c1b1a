/** The context that a command of svc works with, and the flags that many of them take. */
import type { Command as AnyCommand, Flag as AnyFlag } from "../command/index.ts";
import type { Links } from "./saved/links.ts";
import type { Server } from "./saved/server.ts";
import type { Env, Terminal } from "./terminal/index.ts";

export type { CallWords } from "../command/index.ts";

/** The machine that a command runs on, and the server that it asks. */
export interface Context {
  env: Env;
  cwd: string;
  now(): number;
  server: Server;
  links: Links;
  terminal: Terminal;
}

export interface Flag extends AnyFlag {
  help: string;
}

/** The command with an empty name runs when none is named. */
export type Command = AnyCommand<Context, Flag>;

const OF_GROUP = ["<command>"];

export const isGroup = (command: Command): boolean => command.arguments === OF_GROUP;

/** A row that leads to the commands below it, and never runs. */
export const group = (row: Pick<Command, "name" | "summary" | "details">): Command => ({
  ...row,
  arguments: OF_GROUP,
  flags: [],
  run: () => Promise.reject(new Error(`${row.name} leads to commands and is none`)),
});

export const JSON_FLAG: Flag = { name: "json", help: "print one JSON object on stdout" };
export const QUIET_FLAG: Flag = { name: "quiet", short: "q", help: "print the result alone" };
/** Every command takes these. */
export const COMMON_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "show this help" },
  { name: "version", short: "v", help: "show the version" },
];
export const SITE_FLAG: Flag = { name: "site", value: "id", help: "this site, instead of the one linked here" };
export const TOKEN_FLAG: Flag = { name: "token", value: "manage_token", help: "this token, instead of the saved one" };
