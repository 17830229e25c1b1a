/** Work that is done again and again: what it throws ends nothing, and does not fill the log. */
import { expect, test } from "bun:test";
import { every, loggedBy } from "../../src/run/every.ts";
import { until } from "../kit/until.ts";

test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("no descriptor");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no descriptor"))],
])("work that %s is done again at the next turn", async (_, work) => {
  const failures: number[] = [];
  const timer = every(1, work, (_, in_a_row) => void failures.push(in_a_row));
  await until(() => failures.length >= 5);
  timer.stop();
  expect(failures.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
});

test("a turn that does not fail begins the count anew, and after stop there is none", async () => {
  let turns = 0;
  const failures: number[] = [];
  const timer = every(
    1,
    () => {
      if (++turns % 3 !== 0) throw new Error("x");
    },
    (_, n) => void failures.push(n),
  );
  await until(() => failures.length >= 4);
  timer.stop();
  const told = turns;
  expect(failures.slice(0, 4)).toEqual([1, 2, 1, 2]);
  await Bun.sleep(20);
  expect(turns).toBe(told);
});

test("the log hears of the first in a row, the second, the fourth …", () => {
  const lines: string[] = [];
  const failed = loggedBy({ error: (message) => void lines.push(message) }, "counting");
  for (let n = 1; n <= 1000; n++) failed(new Error("x"), n);
  expect(lines).toHaveLength(10);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(["counting", "counting (2 times)", "counting (512 times)"]);
});
