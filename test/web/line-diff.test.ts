/** WEB 6, Changes: the lines by which two texts differ, also where they are long and differ in many places. */
import { expect, test } from "bun:test";
import { diffLines, linesOf } from "../../src/web/line-diff.ts";

const LINES = Array.from({ length: 2000 }, (_, n) => `line ${n}`);
const everyNth = (nth: number): string[] => LINES.map((line, n) => (n % nth === 0 ? `${line}, changed` : line));

/** Both texts can be read out of the difference, in order and by their numbers. */
function check(before: readonly string[], after: readonly string[]): { removed: number; added: number } {
  const lines = diffLines(before, after);
  for (const [side, text] of [
    ["before", before],
    ["after", after],
  ] as const) {
    const own = lines.filter((line) => line[side] > 0);
    expect(own.map((line) => line.text)).toEqual([...text]);
    expect(own.map((line) => line[side])).toEqual(text.map((_, n) => n + 1));
  }
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  return { removed: count("removed"), added: count("added") };
}

test.each([2, 5, 13, 14, 100, 1999])("of 2,000 lines every %ith changed: those alone", (nth) => {
  const changed = Math.ceil(2000 / nth);
  expect(check(LINES, everyNth(nth))).toEqual({ removed: changed, added: changed });
});

test.each<[string, string[], string[], { removed: number; added: number }]>([
  ["nothing", [], [], { removed: 0, added: 0 }],
  ["all of it is new", [], LINES, { removed: 0, added: 2000 }],
  ["no line is left", LINES, LINES.map((line) => `${line}!`), { removed: 2000, added: 2000 }],
  ["the halves are exchanged", LINES, [...LINES.slice(1000), ...LINES.slice(0, 1000)], { removed: 1000, added: 1000 }],
  ["one line a thousand times", Array(1000).fill("x"), Array(1400).fill("x"), { removed: 0, added: 400 }],
])("%s", (_, before, after, counts) => {
  expect(check(before, after)).toEqual(counts);
});

test("texts of a hundred shapes can be read out of their difference", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let n = 0; n < 100; n++) {
    const kinds = 2 + random(400);
    const text = () => Array.from({ length: random(1500) }, () => `${random(kinds)}`);
    const before = text();
    const after =
      n % 2 === 0
        ? text()
        : before.flatMap((line) => (random(9) === 0 ? [] : [line, ...(random(9) === 0 ? [`${random(kinds)}`] : [])]));
    check(before, after);
  }
});

test("bounded: the worst of 2,000 lines against 2,000 takes the thread for milliseconds", () => {
  // Lines that each text has once, far apart, with repeated ones between: every part is tried.
  const side = (letter: string) => LINES.map((line, n) => (n % 70 === 0 ? line : `${letter}${(n * 7919) % 35}`));
  const [a, b] = [side("a"), side("b")];
  diffLines(a, b);
  const began = process.cpuUsage();
  for (let n = 0; n < 5; n++) diffLines(a, b);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 5000).toBeLessThan(60);
});

test("lines end with any of the three ends, and one at the end is none", () => {
  expect(linesOf("a\r\nb\rc\n")).toEqual(["a", "b", "c"]);
});
