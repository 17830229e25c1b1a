/** A path that must be there, or a word that was meant as a command. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "./command.ts";
import { Failure } from "./failure.ts";
import { svc } from "./invocation.ts";
import { nearest } from "./nearest.ts";

export function requireExisting({ cwd, words }: Context, path: string): void {
  if (path !== "" && existsSync(resolve(cwd, path))) return;
  if (path.includes("\uFFFD"))
    throw new Failure("not_found", `${path} cannot be sent: its name is not UTF-8. Rename it.`);
  const guess = /^[\w-]+$/.test(path) ? nearest(path, words) : null;
  const hint = guess === null ? "" : ` Did you mean ${svc(guess)}?`;
  throw new Failure("not_found", `There is no file or folder ${path === "" ? "without a name" : path}.${hint}`);
}
