/** What a subcommand of svc-server is, and what it is given. */
import type { Config } from "../config/index.ts";
import type { Operations } from "../store/operations.ts";
import type { ServerAddress } from "../store/upkeep.ts";

export interface Call {
  data_dir: string;
  /** The settings; base URL and sites domain, where they are not set, are those of the server's last start. */
  config(): Promise<Config>;
  /** The same without opening anything: `address` is where the server was at its last start. */
  settings(address: ServerAddress | null): Config;
  /** As many as the command's `arguments`. */
  arguments: readonly string[];
  /** The values of the command's own options. */
  options: ReadonlyMap<string, string>;
  /** Those of its options that take no value and were given. */
  switches: ReadonlySet<string>;
  print(text: string): void;
  /** For what is no result: it goes to stderr. */
  note(text: string): void;
  /** The data directory, opened at the first call and closed after the command. */
  open(): Operations;
}

export interface Command {
  /** One word or two. */
  name: string;
  /** The names of its arguments. As many must be given. */
  arguments: readonly string[];
  /** Option → the word for its value, or null where it takes none. */
  options: Readonly<Record<string, string | null>>;
  /** Those of its options that take a value and need not be given. */
  optional?: readonly string[];
  /** One line for the list of commands. */
  summary: string;
  /** Further sentences of its own help. */
  more?: string;
  /** Resolves to the exit code; throws an error whose message is a sentence. */
  run(call: Call): Promise<number>;
}
