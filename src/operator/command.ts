/** The context that a command of svc-server works with. */
import type { Command, CallWords } from "../command/index.ts";
import type { Config } from "../config/index.ts";
import type { Operations } from "../store/operations.ts";
import type { ServerAddress } from "../store/upkeep.ts";

export interface OperatorContext {
  data_dir: string;
  /** The settings. A base URL or sites domain that is not set is that of the server's last start. */
  config(): Promise<Config>;
  /** The same without opening the data directory: `address` is where the server was at its last start. */
  settings(address: ServerAddress | null): Config;
  print(text: string): void;
  /** Prints to stderr: for what is no result. */
  note(text: string): void;
  /** The data directory, opened at the first call and closed after the command. */
  open(): Operations;
}

export type OperatorCommand = Command<OperatorContext>;
export type { CallWords };

export const JSON_FLAG = { name: "json" } as const;
