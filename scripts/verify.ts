/** `bun run verify [file…]`: installs what the tests need and runs the suite. Needs Node and nothing else. */
import { availableParallelism } from "node:os";
import { chromiumPath } from "./chromium.ts";
import { bun, install, main, ROOT, say, step, TOOLS } from "./run.ts";

/** Long, because browsers, servers and compiled binaries use the same cores as the tests. */
const TIMEOUT_MS = 30_000;

await main(async () => {
  await install("packages", ROOT);
  await install("test tools", TOOLS);
  await step("types", ["check"]);
  const browser = await chromiumPath();
  say(`browser: ${browser}`);
  const files = process.argv.slice(2);
  const parallel = `--parallel=${Math.max(2, availableParallelism())}`;
  return bun(["test", parallel, `--timeout=${TIMEOUT_MS}`, ...files], { env: { BUN_CHROME_PATH: browser } });
});
