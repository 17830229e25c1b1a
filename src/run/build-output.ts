/** The output of programs that run at build time alone, for macros: a macro cannot wait, and `Bun.build` inside one is refused
 *  (BUN 1). */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A run of the tests names a folder here that belongs to the source as it is: each of its processes would run the programs
 *  again. A build has none. */
const KEPT = process.env["SVC_BUILD_OUTPUT"];

/** The standard output of this Bun with `args`; throws `failed` with what it said. */
export function buildOutput(args: string[], failed: string): string {
  const kept = KEPT && join(KEPT, createHash("sha256").update(args.join("\n")).digest("hex").slice(0, 16));
  if (kept && existsSync(kept)) return readFileSync(kept, "utf8");
  const { stdout, stderr, success } = Bun.spawnSync([process.execPath, ...args]);
  if (!success) throw new Error(`${failed}\n${stderr.toString()}`);
  if (kept) {
    writeFileSync(`${kept}-${process.pid}`, stdout);
    renameSync(`${kept}-${process.pid}`, kept);
  }
  return stdout.toString();
}
