/** What svc can do. A command is a row here and a file; the first one runs when none is named. */
import type { Command } from "../command.ts";
import { claim } from "./claim.ts";
import { deploy } from "./deploy.ts";
import { forget } from "./forget.ts";
import { install } from "./install.ts";
import { list } from "./list.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { rollback } from "./rollback.ts";
import { update } from "./update.ts";
import { usage } from "./usage.ts";
import { versions } from "./versions.ts";

export const COMMANDS: readonly Command[] = [
  deploy,
  update,
  versions,
  rollback,
  forget,
  login,
  logout,
  list,
  usage,
  claim,
  install,
];
