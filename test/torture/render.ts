/** What the render engine is tried with, whole: the receipts' test set, and every hostile page; `verify` takes a part of both.
 *  `bun test/torture/render.ts`. Needs a Chromium; ten minutes. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { bun } from "../../scripts/run.ts";

const env = { BUN_CHROME_PATH: await chromiumPath(), SVC_TEST_WHOLE: "1" };
const files = ["receipts-set", "bounds"].map((name) => `./test/render/${name}.test.ts`);
process.exit(await bun(["test", "--timeout=60000", ...files], { env }));
