/** What a deploy's process is started by. */
import { ownCommand } from "../run/program.ts";

export const DEPLOY_COMMAND = "__deploy";

export const deployCommand = (): string[] => ownCommand(DEPLOY_COMMAND, new URL("./entry.ts", import.meta.url));
