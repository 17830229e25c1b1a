/** Every regular expression of the source with every long text, those that colour code too: `bun test/torture/patterns.ts`.
 *  `verify` takes one text in four of those. A minute. */
import { bun } from "../../scripts/run.ts";

const env = { SVC_TEST_WHOLE: "1" };
process.exit(await bun(["test", "--timeout=300000", "./test/html/long-patterns.test.ts"], { env }));
