/** What takes a browser too long for `verify`, whole: the receipts' test set with and without the render engine, every hostile
 *  page, every way out of the engine, the web side's pages in both widths and both schemes.
 *  `bun test/torture/render.ts`. Needs a Chromium; twenty minutes. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { bun } from "../../scripts/run.ts";

const env = { BUN_CHROME_PATH: await chromiumPath(), SVC_TEST_WHOLE: "1" };
const render = ["receipts-set.long", "bounds.long", "closed-in"].map((name) => `./test/render/${name}.test.ts`);
const looks = ["dashboard-looks", "looks/deploy-tokens", "looks/site-sections", "comments/desk-looks"];
const names = ["receipts", "manual", ...looks.map((name) => `${name}.long`)];
const files = [...render, ...names.map((name) => `./test/browser/${name}.test.ts`)];
process.exit(await bun(["test", "--timeout=60000", ...files], { env }));
