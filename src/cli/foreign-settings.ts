/** Bun reads settings from the folder in which it runs a script: what a stranger's project puts there has had its say
 *  before the first line of svc. The binary and the package's command under Node read none of it (CONTRACT 8). */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "./failure.ts";
import { scriptOfBun } from "./invocation.ts";
import type { Env } from "./terminal/index.ts";

const filesOf = (mode: string): string[] => ["bunfig.toml", ".env", ".env.local", `.env.${mode}`, `.env.${mode}.local`];

/** Throws where svc runs from source, by Bun, in a folder of somebody else's with such a file. */
export function refuseForeignSettings(cwd: string, env: Env): void {
  const script = scriptOfBun();
  if (script === null || (existsSync(script) && dirname(realpathSync(script)) === cwd)) return;
  const modes = ["development", env["NODE_ENV"] ?? ""].filter((mode) => mode !== "");
  const found = modes.flatMap(filesOf).find((file) => existsSync(join(cwd, file)));
  if (found === undefined) return;
  throw new Failure(
    "foreign_settings",
    `Bun has read ${found} of this folder, which could send your deploy and your token elsewhere: nothing was sent. ` +
      "Use the svc binary or the svc of the npm package here (bun run build and npm pack make them): neither reads it.",
  );
}
