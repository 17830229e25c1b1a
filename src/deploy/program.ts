/** The program that deploys and workers run in: the server's own. In the binary deploys are a hidden subcommand, from source a
 *  file. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const DEPLOY_COMMAND = "__deploy";

/** An upgrade may have put another file in its place while the server runs: the kernel still has this one. */
const SELF = "/proc/self/exe";

export const ownProgram = (): string => (process.platform === "linux" && existsSync(SELF) ? SELF : process.execPath);

export function deployCommand(): string[] {
  const program = ownProgram();
  if (Bun.isStandaloneExecutable) return [program, DEPLOY_COMMAND];
  return [program, fileURLToPath(new URL("./entry.ts", import.meta.url))];
}
