/** The program that workers and children run in: the server's own. In the binary each kind is a hidden subcommand, from
 *  source a file. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** An upgrade may have put another file in its place while the server runs: the kernel still has this one. */
const SELF = "/proc/self/exe";

export const ownProgram = (): string => (process.platform === "linux" && existsSync(SELF) ? SELF : process.execPath);

export const ownCommand = (subcommand: string, entry: URL): string[] => [
  ownProgram(),
  Bun.isStandaloneExecutable ? subcommand : fileURLToPath(entry),
];
