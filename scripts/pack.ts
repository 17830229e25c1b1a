/** What `npm pack` and `bun pm pack` run around themselves. `bun scripts/pack.ts before`: the CLI and the library into
 *  dist/, and a README whose links lead somewhere from a package's page. `… after`: the README of the checkout again. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readmeOfPackage } from "./release/absolute-links.ts";
import { install, main, ROOT, step, StepFailed } from "./run.ts";

const README = join(ROOT, "README.md");
/** The checkout's own, while the package's stands in its place. */
const KEPT = join(ROOT, "dist", "README.md");

/** Of an edited one nothing is lost: it is not the package's, and stays. */
async function restore(): Promise<void> {
  if (!existsSync(KEPT)) return;
  const kept = await Bun.file(KEPT).text();
  if ((await Bun.file(README).text()) === readmeOfPackage(kept)) await Bun.write(README, kept);
  await rm(KEPT);
}

async function before(): Promise<void> {
  await restore(); // a pack that was stopped in the middle
  await install("packages", ROOT);
  await step("package", ["scripts/build.ts", "--only", "lib", "--only", "cli"]);
  const readme = await Bun.file(README).text();
  await mkdir(join(ROOT, "dist"), { recursive: true });
  await Bun.write(KEPT, readme);
  await Bun.write(README, readmeOfPackage(readme));
}

await main(async () => {
  const [when] = process.argv.slice(2);
  if (when !== "before" && when !== "after") throw new StepFailed("usage: bun scripts/pack.ts before|after");
  await (when === "before" ? before() : restore());
  return 0;
});
