/** PIPELINE 1: emoji shortcodes are those of GitHub's list, and the list in the repository is that list. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { emojiList } from "../../scripts/emoji.ts";
import { withEmoji } from "../../src/pipeline/markdown/text.ts";
import { ROOT } from "../kit/paths.ts";

const list = (): Promise<string> => Bun.file(join(ROOT, "src/pipeline/markdown/emoji.txt")).text();

test("PIPELINE 1: emoji.txt is what scripts/emoji.ts makes of the pinned list", async () => {
  expect(await list()).toBe(await emojiList());
});

test("PIPELINE 1: each name of it is read, and none twice", async () => {
  const entries = (await list())
    .trim()
    .split(/, |\n/)
    .map((entry) => entry.trim().split(" "));
  const names = entries.flatMap(([emoji, ...of_it]) => of_it.map((name) => [name, emoji!] as const));
  expect(new Set(names.map(([name]) => name)).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(1800);
  for (const [name, emoji] of names) expect(withEmoji(`:${name}:`)).toBe(emoji);
});
