/** The receipts' test set as the render engine sees it, all of it: `bun test/torture/render-set.ts`. `verify` looks at a part
 *  (docs/receipts.md has the figures). Needs a Chromium; three minutes. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { bun } from "../../scripts/run.ts";

const env = { BUN_CHROME_PATH: await chromiumPath(), SVC_TEST_WHOLE_SET: "1" };
process.exit(await bun(["test", "--timeout=60000", "./test/render/receipts-set.test.ts"], { env }));
