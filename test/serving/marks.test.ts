/** RELIABILITY A24: ICU sorts the marks of a letter one by one, so that 16 KB of them behind one letter take it half a second.
 *  What a stranger sends costs time by its length, whatever is in it. */
import { describe, expect, test } from "bun:test";
import { normalForm } from "../../src/base/normal-form.ts";
import { normalise } from "../../src/comments/anchoring/text.ts";
import { fastest, medians } from "../kit/cpu.ts";
import { signUp } from "../kit/people.ts";
import { JSON_TYPE, slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer({ SVC_RATE_OWNED: "off" });
/** Each acute comes before a dot below, which belongs before it. */
const marks = (count: number): string => `a${"\u0301".repeat(count)}${"\u0323".repeat(count)}`;

describe("A24 marks without end cost no more than letters", () => {
  const person = signUp(server);
  const site = server.deploy({ "index.html": "<title>x</title>x" });

  test.each<[what: string, ask: (text: string) => Promise<Response>, marks: number]>([
    [
      "in an address of a site",
      async (text) => server.site(slugOf((await site).url), `/${encodeURIComponent(text)}`),
      1200,
    ],
    [
      "in an address of the service",
      (text) => server.api(`/${encodeURIComponent(text)}`, { headers: { accept: "text/html" } }),
      1200,
    ],
    [
      "in the name of a deploy token",
      async (name) => {
        const { bearer } = await person;
        const body = JSON.stringify({ name, scopes: ["read"] });
        return server.api("/account/tokens", { method: "POST", body, headers: { ...JSON_TYPE, ...bearer } });
      },
      4000,
    ],
  ])("%s", async (_, ask, count) => {
    const [flood, letters] = [marks(count), "é".repeat(2 * count + 1)];
    expect((await ask(flood)).status).toBe((await ask(letters)).status);
    const took = await medians(
      5,
      (round) => ask(`${flood}${round}`),
      (round) => ask(`${letters}${round}`),
    );
    expect(took[0]!).toBeLessThan(3 * took[1]! + 5);
  });
});

test("A24 a page of marks, whose quotes are looked for, costs the thread no more than a page of letters", () => {
  const [flood, letters] = [marks(30_000), "é".repeat(60_000)];
  expect(fastest(3, () => normalise(flood))).toBeLessThan(10 * fastest(3, () => normalise(letters)) + 50);
});

test("A24 texts that somebody writes have their normal form: as many as 32 marks in a row", () => {
  for (const text of [
    "Ế",
    "e\u0302\u0301",
    "각",
    "\u1100\u1161\u11a8",
    "ﬁ",
    "Ａ",
    `a${"\u0301".repeat(16)}${"\u0323".repeat(16)}`,
  ]) {
    for (const form of ["NFC", "NFKC", "NFKD"] as const) expect(normalForm(text, form)).toBe(text.normalize(form));
  }
  expect(normalForm(`e\u0301${marks(500)}e\u0301`)).toStartWith("é");
});
