/** No regular expression of the pipeline or of a server (RELIABILITY A24) takes the square of what it reads: each that stands in the source is tried with
 *  long runs of every class of characters, at each of its repeats. A new one is tried by itself. */
import { expect, test } from "bun:test";
import { longTexts } from "../kit/patterns/texts.ts";
import { literals, madePatterns, type Pattern } from "../kit/patterns/source.ts";
import { WHOLE } from "../kit/whole.ts";
import { slowestText } from "../kit/patterns/slowest.ts";

const written = await literals();
const made = await madePatterns();
const byText = new Map<string, Pattern>([...written, ...made].map((one) => [`/${one.source}/${one.flags}`, one]));

test("every regular expression is found: the literals, and those put together as their module is loaded", () => {
  expect(written.length).toBeGreaterThan(450);
  expect(made.length).toBeGreaterThan(35);
  const files = written.map(({ file }) => file);
  expect(files).toContain("src/html/xml-text.ts");
  expect(files).toContain("src/http/multipart.ts");
  expect(files).toContain("src/serve/skew.ts");
});

/** Quadratic ones take 8 million steps for as many characters, a hundred times what linear ones take. */
const SIZE = 4000;
type LongText = ReturnType<typeof longTexts> extends Iterable<infer Text> ? Text : never;
/** A dozen, those that colour code, have thousands of texts and take a minute each: so many of them here, evenly, and all in
 *  `bun run torture patterns`. */
const MOST = 1000;
const textsFor = (pattern: Pattern): Iterable<LongText> => {
  const texts = [...longTexts(pattern)];
  const step = WHOLE ? 1 : Math.ceil(texts.length / MOST);
  return texts.filter((_, i) => i % step === 0);
};
const slowestOf = (pattern: Pattern): string | null => slowestText(pattern, () => textsFor(pattern), SIZE);

test.each([...byText.keys()])(
  "%s",
  (text) => {
    expect(slowestOf(byText.get(text)!)).toBeNull();
  },
  60_000,
);

test.each([
  ["a refresh's content", { source: String.raw`^[\s\d.]*[;,]?\s*url\s*=`, flags: "i" }],
  ["a data address without a comma", { source: String.raw`^[\s\0]*data:([\w.+/-]*)([^,]*),([\s\S]*)$`, flags: "i" }],
  ["a base of letters", { source: "[^/]*$", flags: "" }],
  ["blanks in a link", { source: "^[\\0- ]+|[\\0- ]+$", flags: "g" }],
  ["what begins anywhere and never ends", { source: "<!--[^]*?-->", flags: "" }],
  ["behind a choice", { source: String.raw`^(?:a|(?<name>b\d*\w*):)`, flags: "" }],
  ["in a loop", { source: String.raw`^(?:x|\w*)*$`, flags: "" }],
])("what takes the square is seen: %s", (_, { source, flags }) => {
  expect(slowestOf({ file: "", source, flags })).not.toBeNull();
});
