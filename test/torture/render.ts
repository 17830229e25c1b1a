/** What takes a browser too long for `verify`, whole: the receipts' test set with the render engine, every hostile page, every
 *  way out of the engine. `bun test/torture/render.ts`. Needs a Chromium; a quarter of an hour. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { bun } from "../../scripts/run.ts";

const env = { BUN_CHROME_PATH: await chromiumPath(), SVC_TEST_WHOLE: "1" };
const files = ["receipts-set.long", "bounds.long", "closed-in"].map((name) => `./test/render/${name}.test.ts`);
process.exit(await bun(["test", "--timeout=60000", ...files], { env }));
