/** `bun run verify [file…]`: installs what the tests need, compiles the server that they start, and runs the suite. Needs
 *  Node and nothing else. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "./chromium.ts";
import { install, main, ROOT, say, step, StepFailed, TOOLS } from "./run.ts";
import { makeScratch } from "./scratch.ts";
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
  const outdir = await mkdtemp(join(tmpdir(), "svc-verify-"));
  const scratch = await makeScratch();
  try {
    await chmod(outdir, 0o755); // tests start it as other users, too
    await step("svc-server", ["scripts/build.ts", "--only", "svc-server", "--outdir", outdir]);
    const env = { BUN_CHROME_PATH: browser, SVC_TEST_SERVER: join(outdir, "svc-server"), ...scratch.env };
    return await runSuite(files, availableParallelism() + 1, env);
  } finally {
    scratch.remove();
    await rm(outdir, { recursive: true, force: true });
  }
});
