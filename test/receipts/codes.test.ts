/** CONTRACT 4.2: the codes of warnings are those of its list, and the manual has them all. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const named = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map((match) => match[1]!));

async function codes(): Promise<string[]> {
  const [, union] = /type WarningCode =([^;]+);/.exec(await read("src/types.ts"))!;
  return [...union!.matchAll(/"(\w+)"/g)].map((match) => match[1]!);
}

test("CONTRACT 4.2: its list of warnings is what a deploy can be answered with, not_judged too", async () => {
  const [, list] = /\n- \*\*warnings\*\* entries: [^\n]+\n([\s\S]+?)\n- /.exec(await read("docs/design/contract.md"))!;
  const of_contract = named(list!);
  of_contract.delete("fix_recipe");
  expect([...of_contract].toSorted()).toEqual((await codes()).toSorted());
});

test("docs/receipts.md tells what each of them means", async () => {
  const told = named(await read("docs/receipts.md"));
  expect((await codes()).filter((code) => !told.has(code))).toEqual([]);
});
