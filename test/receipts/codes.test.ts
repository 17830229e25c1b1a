/** CONTRACT 4.2 and BEYOND 0: the codes of warnings are those of their lists, and the manual has them all. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const named = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map((match) => match[1]!));

async function codes(type = "WarningCode"): Promise<string[]> {
  const [, union] = new RegExp(`type ${type} =([^;]+);`).exec(await read("src/base/types.ts"))!;
  return [...union!.matchAll(/"(\w+)"/g)].map((match) => match[1]!);
}

test("CONTRACT 4.2: its list of warnings is what a deploy can be answered with, not_judged too", async () => {
  const [, list] = /\n- \*\*warnings\*\* entries: [^\n]+\n([\s\S]+?)\n- /.exec(await read("docs/design/contract.md"))!;
  const [, rules] = /\nNew warnings, [^:]+:<line>`[^:]+:<line>`:([^]+?)\n\n/.exec(await read("docs/design/beyond.md"))!;
  const listed = new Set([...named(list!), ...named(rules!)]);
  listed.delete("fix_recipe");
  expect([...listed].toSorted()).toEqual((await codes()).toSorted());
});

test("docs/receipts.md has a row with an example for each of them, and for all that is fixed", async () => {
  const rows = (await read("docs/receipts.md")).split("\n").filter((line) => /^\| `[a-z_]+` /.test(line));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const told = cells.filter(([, , what, example]) => what !== "" && example !== "").map(([, code]) => code!);
  const browser = ["script_error", "failed_request", "blank_page"];
  const all = [...(await codes("HealedCode")), ...(await codes())].map((code) => `\`${code}\``);
  expect(told.filter((code) => !browser.includes(code.replaceAll("`", ""))).toSorted()).toEqual(all.toSorted());
});
