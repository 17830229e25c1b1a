/** A process of its own that ingests the archives of a folder and prints what that took: memory is counted by process. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../../src/base/errors.ts";
import { ingest } from "../../src/pipeline/archive/index.ts";
import { cpuOf } from "../kit/cpu.ts";
import { LIMITS } from "../kit/ingesting.ts";

// Sampled at each file: on Linux the maximum of `resourceUsage` is that of the process that started this one, if larger.
let peak = 0;
const sample = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
};

function outcome(zip: Uint8Array): string {
  try {
    return `${ingest(zip, LIMITS, sample).hashes.size} files`;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  } finally {
    sample();
  }
}

const folder = process.argv[2]!;
const before = process.memoryUsage.rss();
const took = readdirSync(folder).map((name) => {
  const zip = readFileSync(join(folder, name));
  let what = "";
  const ms = cpuOf(() => (what = outcome(zip)));
  return { name, outcome: what, ms };
});
process.stdout.write(JSON.stringify({ took, peak_bytes: peak - before }));
