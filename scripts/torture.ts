/** `bun run torture [name] [arguments…]`: the long programs of test/torture, all in turn or one with arguments of its own.
 *  Some need more than Node (strace, root, a proxy): each says so at its top, with how long it takes. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { bun, install, main, ROOT, say, StepFailed, TOOLS } from "./run.ts";

const FOLDER = join("test", "torture");
const programs = readdirSync(join(ROOT, FOLDER))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => basename(name, ".ts"))
  .toSorted();

async function torture(name: string, args: string[]): Promise<boolean> {
  say(`\n== ${[name, ...args].join(" ")}`);
  const code = await bun([join(FOLDER, `${name}.ts`), ...args]);
  say(`== ${name}: ${code === 0 ? "no violation" : `FAILED (exit code ${code})`}`);
  return code === 0;
}

await main(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name && !programs.includes(name))
    throw new StepFailed(`No ${name} in ${FOLDER}: there are ${programs.join(", ")}.`);
  await install("packages", ROOT);
  await install("test tools", TOOLS);
  const failed: string[] = [];
  for (const one of name ? [name] : programs) if (!(await torture(one, args))) failed.push(one);
  if (failed.length > 0) throw new StepFailed(`\nFailed: ${failed.join(", ")}`);
  return 0;
});
