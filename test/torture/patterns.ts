/** Every regular expression of the source with every long text, those that colour code too, and rules of every kind with every
 *  anagram: `bun test/torture/patterns.ts`. `verify` takes one text in four of the expressions, and an anagram at each end of a
 *  literal. Two minutes. */
import { bun } from "../../scripts/run.ts";

const env = { SVC_TEST_WHOLE: "1" };
const files = ["./test/html/long-patterns.test.ts", "./test/rules/anagrams.test.ts"];
process.exit(await bun(["test", "--timeout=300000", ...files], { env }));
