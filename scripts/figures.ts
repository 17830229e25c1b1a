/** `bun run figures [--list]`: the house in figures; `--list` names the files, types and comments that three of them count. */
import { type Figures, figuresOf, loneFiles, riddles, sharedTypeNames } from "../test/house/fence/figures.ts";
import { glob, PRODUCT, sources } from "../test/house/fence/source.ts";

const all = await sources(...PRODUCT);
const figures: Figures = figuresOf(all, await glob("src/**/*"));
for (const [name, figure] of Object.entries(figures)) {
  process.stdout.write(`${name.replaceAll("_", " ").padEnd(42)}${figure}\n`);
}
if (process.argv.includes("--list")) {
  process.stdout.write(`\n${[...loneFiles(all), "", ...sharedTypeNames(all), "", ...riddles(all)].join("\n")}\n`);
}
