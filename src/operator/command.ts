/** What a subcommand of svc-server is, and what it is given. */
import type { Config } from "../config/index.ts";
import type { Operations } from "../store/operations.ts";

export interface Call {
  data_dir: string;
  /** The settings; base URL and sites domain, where they are not set, are those of the server's last start. */
  config(): Promise<Config>;
  /** As many as the command's `arguments`. */
  arguments: readonly string[];
  /** The command's own options: their values, or the empty string for one that takes none. */
  options: ReadonlyMap<string, string>;
  print(text: string): void;
  /** For what is no result: it goes to stderr. */
  note(text: string): void;
  /** The data directory, opened at the first call and closed after the command. */
  open(): Operations;
}

export interface Command {
  /** One word or two. */
  name: string;
  /** Names of its arguments, for help and for counting. */
  arguments: readonly string[];
  /** Option → the word for its value, or null where it takes none. */
  options: Readonly<Record<string, string | null>>;
  /** One line for the list of commands. */
  summary: string;
  /** What else its own help says. */
  more?: string;
  /** Resolves to the exit code; throws an error whose message is a sentence. */
  run(call: Call): Promise<number>;
}
