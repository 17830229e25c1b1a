/** The pages of the web side whole: each state at each width in each scheme, which are too many pictures for `verify`.
 *  `bun test/torture/looks.ts`. Needs a Chromium; ten minutes. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { bun } from "../../scripts/run.ts";

const env = { BUN_CHROME_PATH: await chromiumPath(), SVC_TEST_WHOLE: "1" };
const names = [
  ...["dashboard-looks.long", "looks/deploy-tokens.long", "looks/site-sections.long", "comments/desk-looks.long"],
  ...["manual", "statistics", "site-password"],
];
process.exit(await bun(["test", "--timeout=60000", ...names.map((name) => `./test/browser/${name}.test.ts`)], { env }));
