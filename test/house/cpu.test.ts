/** The helper that tests trust when they say that work is linear, or takes as long as other work. */
import { expect, test } from "bun:test";
import { expectAlike, expectLinear, expectWithin } from "../kit/cpu.ts";

const letters = (size: number): string => "a".repeat(size);
const pairs = (text: string): number => {
  let sum = 0;
  for (let i = 0; i < text.length; i++) for (let j = 0; j < i; j++) sum += text.charCodeAt(j);
  return sum;
};

test.each<[what: string, work: (text: string) => unknown]>([
  ["every pair of letters", pairs],
  ["a regular expression that starts over at each letter", (text) => /a*b/.test(text)],
])("%s is seen to be quadratic", (_, work) => {
  for (let warm = 0; warm < 5; warm++) work(letters(4_000)); // compiled meanwhile, a quarter would take as long as the whole
  const seen = (): boolean => {
    try {
      expectLinear(8_000, letters, work);
      return false;
    } catch (error) {
      return String(error).includes("4 times the input takes");
    }
  };
  // What disturbs the quarter alone, as neighbours on the machine do, lets one look pass: not three of them.
  expect(seen() || seen() || seen()).toBe(true);
});

test.each<[what: string, size: number, work: (text: string) => unknown]>([
  ["a search that the machine does at the pace of its memory", 9 << 20, (text) => text.indexOf("b")],
  ["a loop", 100_000, (text) => [...text].map((letter) => letter.charCodeAt(0))],
  ["what takes no time at all", 100, (text) => text.length],
])("%s passes", (_, size, work) => expectLinear(size, letters, work));

test("work that takes more than its multiple of other work is seen, and work that does not passes", () => {
  const once = () => pairs(letters(500));
  const fourTimes = () => pairs(letters(1000));
  expect(() => expectWithin(2, once, fourTimes)).toThrow("2 times the other work");
  expectWithin(8, once, fourTimes);
  expectWithin(0.5, fourTimes, once);
});

test("work that takes a fifth longer than other work is told apart from it, and work that takes as long is not", async () => {
  const work = (size: number) => async () => pairs(letters(size));
  const apart = (longer: number): Promise<boolean> =>
    expectAlike(0.05, 40, { one: work(1000), same: work(1000), longer: work(longer) }).then(
      () => false,
      (error) => String(error).includes("told apart by the time they take"),
    );
  // A machine that is very busy makes chance too large for one look: not for three of them.
  expect((await apart(1100)) || (await apart(1100)) || (await apart(1100))).toBe(true);
  expect(await apart(1000)).toBe(false);
});
