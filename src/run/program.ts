/** The program that workers and children run in: the server's own. In the binary each kind is a hidden subcommand, from
 *  source a file. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The hidden subcommands. They are here, so that server.ts can tell them apart before it loads any code of the server. */
export const WORKER_COMMAND = "__worker";
export const DEPLOY_COMMAND = "__deploy";
export const CODING_COMMAND = "__code";
export const RENDER_COMMAND = "__render";
export const BACKUP_COMMAND = "__backup";
export const WEBHOOK_COMMAND = "__webhooks";

/** An upgrade may have put another file in its place while the server runs: the kernel still has this one. */
const SELF = "/proc/self/exe";

export const ownProgram = (): string => (process.platform === "linux" && existsSync(SELF) ? SELF : process.execPath);

/** The compiled program whose children a server run from source has; null means children from source, too. */
let compiled: string | null = null;

/** Tests have a server in their own process and its children from the compiled program, which starts three times as fast. */
export const haveChildrenOf = (program: string | null): void => void (compiled = program);

export function ownCommand(subcommand: string, entry: URL): string[] {
  if (Bun.isStandaloneExecutable) return [ownProgram(), subcommand];
  return compiled === null ? [ownProgram(), fileURLToPath(entry)] : [compiled, subcommand];
}
