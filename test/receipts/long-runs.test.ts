/** What an upload is judged by takes time as its length, wherever it has a long run of one class of characters: in each
 *  kind of file, in each attribute that a reader names, in each address. */
import { expect, test } from "bun:test";
import { judgedInParts, markdownReaders } from "../kit/patterns/judged.ts";
import { addresses, PLACES, textsAt, valuesOf, wordsOfReaders } from "../kit/patterns/files.ts";
import { slowest } from "../kit/patterns/slowest.ts";
import { RUNS } from "../kit/patterns/texts.ts";
import { longTest, partOf } from "../kit/whole.ts";

const SIZE = 8000;
/** Some times what the slowest takes; a part of what anything quadratic would. */
const ENOUGH_MS = 8;

test.each(partOf(Object.keys(PLACES), 8))(
  "%s",
  (place) => expect(slowest(judgedInParts, textsAt(place), SIZE, ENOUGH_MS)).toBeNull(),
  60_000,
);

longTest(
  "addresses, wherever they stand",
  () => {
    expect(slowest(judgedInParts, addresses(), SIZE, 2 * ENOUGH_MS)).toBeNull();
  },
  120_000,
);

const words = await wordsOfReaders();

test("the attributes of which readers ask are known by their source", () => {
  expect(words).toContainEqual("srcset");
  expect(words).toContainEqual("http-equiv");
  expect(words).toContainEqual("aria-label");
});

longTest(
  "every attribute, on every kind of element",
  () => {
    for (const word of words) expect(slowest(judgedInParts, valuesOf(word), SIZE, 2 * ENOUGH_MS)).toBeNull();
  },
  120_000,
);

const BEGINNINGS = [
  "",
  "---\ntitle: ",
  "---\nkey: '",
  '---\nkey: "',
  "# ",
  "x\n\n```",
  "<a href='",
  "<b>",
  "[x](",
  "> [",
];

test("a Markdown file, beside what marked makes of it", () => {
  const texts = BEGINNINGS.flatMap((begin) =>
    Object.entries(RUNS).flatMap(([name, piece]) =>
      ["", "\n---\n", "'>", "/>"].map((end) => ({
        name: JSON.stringify([begin, name, end]),
        of: (size: number) => begin + piece.repeat(size / piece.length) + end,
      })),
    ),
  );
  expect(slowest(markdownReaders, texts, SIZE, ENOUGH_MS)).toBeNull();
}, 120_000);
