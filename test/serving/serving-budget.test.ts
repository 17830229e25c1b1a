/** What the caches of a serving process may hold. */
import { describe, expect, test } from "bun:test";
import { createBudget, type Kept } from "../../src/serve/budget.ts";

describe("the budget", () => {
  const item = (name: string, cost: number, dropped: string[]): Kept => ({
    cost,
    used: false,
    drop: () => void dropped.push(name),
  });
  test("lets the oldest unused go, and passes over what was used since", () => {
    const dropped: string[] = [];
    const budget = createBudget(30);
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => item(name, 10, dropped)) as [Kept, Kept, Kept, Kept];
    for (const kept of [a, b, c]) budget.keep(kept);
    a.used = true;
    budget.keep(d);
    expect(dropped).toEqual(["b"]);
    budget.keep(item("e", 10, dropped));
    expect(dropped).toEqual(["b", "c"]);
    expect(budget.total()).toBe(30);
  });
  test("holds its bound when everything is in use, and when one item is larger than all of it", () => {
    const dropped: string[] = [];
    const budget = createBudget(30);
    for (let n = 0; n < 100; n++) budget.keep({ ...item(`${n}`, 10, dropped), used: true });
    expect([budget.total(), dropped.length]).toEqual([30, 97]);
    budget.keep(item("giant", 1_000, dropped));
    expect(budget.total()).toBeLessThanOrEqual(30);
    expect(dropped).toContain("giant");
  });
  test("has memory collected for each 16 MB that were made, kept or not: bytes that are dropped are not seen to be free", () => {
    let collections = 0;
    const budget = createBudget(1_000, () => void collections++);
    for (let n = 0; n < 100; n++) budget.made(1024 * 1024);
    expect(collections).toBe(6);
    for (let n = 0; n < 100; n++) budget.made(100);
    expect(collections).toBe(6);
  });
  test("forgets what is released, once", () => {
    const budget = createBudget(30);
    const kept = item("a", 10, []);
    budget.keep(kept);
    budget.release(kept);
    budget.release(kept);
    expect(budget.total()).toBe(0);
  });
});
