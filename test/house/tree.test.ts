/** The tree of docs/design/architecture.md is what the entry files say of their folders. */
import { expect, test } from "bun:test";
import { firstSentence, tree, withTree } from "../../scripts/tree.ts";
import { read } from "./fence/source.ts";

test("the tree is printed from the entry files' first sentences: bun scripts/tree.ts", async () => {
  const page = await read("docs/design/architecture.md");
  expect(page).toBe(withTree(page, await tree()));
});

test.each([
  ["/** A deploy. It has steps. */", "A deploy."],
  [
    "#!/usr/bin/env bun\n/** The API: path → row\n *  → handler. Refusals are thrown. */\nimport 1;",
    "The API: path → row → handler.",
  ],
  ["/** No full stop */", "No full stop"],
  ["import 1;\n/** Too late. */", null],
])("the first sentence of %j is %p", (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});

test("a tree that says something else is replaced, and nothing around it", () => {
  const page = "# A\n\n## The tree\n\n    old\n\n## Next\n\nrest";
  expect(withTree(page, "    new")).toBe("# A\n\n## The tree\n\n    new\n\n## Next\n\nrest");
});
