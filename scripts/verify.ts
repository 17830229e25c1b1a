/** `bun run verify [file…]`: installs what the tests need and runs the suite. Needs Node and nothing else. */
import { availableParallelism } from "node:os";
import { chromiumPath } from "./chromium.ts";
import { install, main, ROOT, say, step, StepFailed, TOOLS } from "./run.ts";
import { runSuite, testFiles } from "./suite.ts";

await main(async () => {
  await install("packages", ROOT);
  await install("test tools", TOOLS);
  await step("types", ["check"]);
  const browser = await chromiumPath();
  say(`browser: ${browser}`);
  const words = process.argv.slice(2);
  const files = await testFiles(words);
  if (files.length === 0) throw new StepFailed(`No test file's path contains ${words.join(" or ")}.`);
  return runSuite(files, availableParallelism() + 1, { BUN_CHROME_PATH: browser });
});
