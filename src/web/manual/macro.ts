/** Runs while a program is built, or while its source is loaded: what it returns stands in the program (BUN 1). */
import { join } from "node:path";
import { buildOutput } from "../../run/build-output.ts";

/** The chapters as JSON. A process renders them, for a macro cannot wait for anything. */
export function manualAsJson(): string {
  const program = join(import.meta.dir, "..", "..", "..", "scripts", "manual.ts");
  return buildOutput([program], "The manual could not be made from docs/:");
}
