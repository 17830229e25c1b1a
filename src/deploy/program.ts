/** What a deploy's process is started by. */
import { DEPLOY_COMMAND, ownCommand } from "../run/program.ts";

export const deployCommand = (): string[] => ownCommand(DEPLOY_COMMAND, new URL("./entry.ts", import.meta.url));
