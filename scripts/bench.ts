/** `bun run bench [name] [arguments…]`: one of the programs of bench/; without a name, which there are. A program says at
 *  its top how it is called. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bun, main, ROOT, say, StepFailed } from "./run.ts";

const FOLDER = "bench";

/** The call as the top of the file has it; undefined for what only helps the others. */
function callOf(name: string): string | undefined {
  const top = readFileSync(join(ROOT, FOLDER, `${name}.ts`), "utf8").slice(0, 600);
  return /`[^`\n]*\bbun (bench\/[^`\n]+)`/.exec(top)?.[1];
}
const names = readdirSync(join(ROOT, FOLDER))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"));
const programs = names.filter((name) => callOf(name)?.startsWith(`${FOLDER}/${name}.ts`)).toSorted();

await main(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined) {
    for (const one of programs) say(callOf(one)!.replace(`${FOLDER}/${one}.ts`, `bun run bench ${one}`));
    return 0;
  }
  if (!programs.includes(name)) throw new StepFailed(`No ${name} in ${FOLDER}: there are ${programs.join(", ")}.`);
  return bun([join(FOLDER, `${name}.ts`), ...args]);
});
