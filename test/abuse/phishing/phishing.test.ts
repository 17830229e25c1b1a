/** PIPELINE 3: how much of what phishing pages are made of the scan sees, by class. What it misses stands here too, and in
 *  docs/abuse.md. */
import { describe, expect, test } from "bun:test";
import { judge } from "../../kit/abuse-site.ts";
import { BRANDS, CARDS, COMMANDS, HIDDEN, REDIRECTS, WALLETS } from "./disguises.ts";
import { BOTS, FORMS, SCRIPTS, SERVICES } from "./senders.ts";
import type { Shape } from "./shape.ts";

/** With how many of each are caught. */
const CLASSES: readonly (readonly [name: string, shapes: readonly Shape[], caught: number])[] = [
  ["forms that send elsewhere", FORMS, 11],
  ["bots and webhooks", BOTS, 6],
  ["scripts that collect", SCRIPTS, 16],
  ["services that collect", SERVICES, 9],
  ["borrowed brands", BRANDS, 10],
  ["wallets", WALLETS, 6],
  ["cards", CARDS, 3],
  ["pages that pass visitors on", REDIRECTS, 10],
  ["hidden pages", HIDDEN, 10],
  ["commands and programs", COMMANDS, 6],
];

describe.each(CLASSES)("%s", (_, shapes, caught) => {
  test.each([...shapes])("$name: $verdict", ({ files, verdict }) => {
    expect(judge(files)).toBe(verdict);
  });

  test(`${caught} of ${shapes.length} are caught`, () => {
    expect(shapes.filter(({ files }) => judge(files) !== "pass")).toHaveLength(caught);
  });
});

test("87 of 96 shapes are caught", () => {
  const shapes = CLASSES.flatMap(([, all]) => all);
  expect([shapes.filter(({ files }) => judge(files) !== "pass").length, shapes.length]).toEqual([87, 96]);
});
