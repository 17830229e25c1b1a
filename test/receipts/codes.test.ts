/** CONTRACT 4.2 and BEYOND 0: the codes of warnings are those of their lists, and the manual has them all. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const named = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map((match) => match[1]!));

async function codes(): Promise<string[]> {
  const [, union] = /type WarningCode =([^;]+);/.exec(await read("src/base/types.ts"))!;
  return [...union!.matchAll(/"(\w+)"/g)].map((match) => match[1]!);
}

test("CONTRACT 4.2: its list of warnings is what a deploy can be answered with, not_judged too", async () => {
  const [, list] = /\n- \*\*warnings\*\* entries: [^\n]+\n([\s\S]+?)\n- /.exec(await read("docs/design/contract.md"))!;
  const [, rules] = /\nNew warnings, [^:]+:<line>`[^:]+:<line>`:([^]+?)\n\n/.exec(await read("docs/design/beyond.md"))!;
  const listed = new Set([...named(list!), ...named(rules!)]);
  listed.delete("fix_recipe");
  expect([...listed].toSorted()).toEqual((await codes()).toSorted());
});

test("docs/receipts.md tells what each of them means", async () => {
  const told = named(await read("docs/receipts.md"));
  expect((await codes()).filter((code) => !told.has(code))).toEqual([]);
});
