/** Runs while a program is built, or while its source is loaded: what it returns stands in the program (BUN 1). */
import { join } from "node:path";

/** The chapters as JSON. A process renders them, for a macro cannot wait for anything. */
export function manualAsJson(): string {
  const program = join(import.meta.dir, "..", "..", "..", "scripts", "manual.ts");
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, program]);
  if (!success) throw new Error(`The manual could not be made from docs/:\n${stderr.toString()}`);
  return stdout.toString();
}
