/** The program that deploys run in: the server's own. In the binary it is a hidden subcommand, from source a file. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const DEPLOY_COMMAND = "__deploy";

/** An upgrade may have put another file in its place while the server runs: the kernel still has this one. */
const SELF = "/proc/self/exe";

export function deployCommand(): string[] {
  const program = process.platform === "linux" && existsSync(SELF) ? SELF : process.execPath;
  if (Bun.isStandaloneExecutable) return [program, DEPLOY_COMMAND];
  return [program, fileURLToPath(new URL("./entry.ts", import.meta.url))];
}
