/** WEB 1.9: counts, sizes and times in words. */
import { expect, test } from "bun:test";
import { ahead } from "../../src/web/browser/wording.ts";
import { count, figure } from "../../src/base/units.ts";
import { day, size } from "../../src/web/browser/zone/words.ts";
import { ago, moment, onDay } from "../../src/web/words.ts";

const H = 3_600_000;
const D = 24 * H;
const NOW = Date.UTC(2026, 10, 22, 12);

test("WEB 1.9: counts have separators of thousands", () => {
  expect([0, 7, 999, 1000, 12_345, 1_234_567].map(figure)).toEqual(["0", "7", "999", "1,000", "12,345", "1,234,567"]);
  expect([count(1, "file"), count(0, "file"), count(1204, "file")]).toEqual(["1 file", "0 files", "1,204 files"]);
});

test("WEB 1.9: sizes as the command line prints them", () => {
  expect([0, 1, 1023, 1024, 1536, 10_485_760].map(size)).toEqual([
    "0 bytes",
    "1 byte",
    "1,023 bytes",
    "1 KB",
    "1.5 KB",
    "10 MB",
  ]);
});

test.each([
  [14 * D, "14 days"],
  [14 * D - 20, "14 days"],
  [D, "1 day"],
  [D - 20, "1 day"],
  [D - H, "23 hours"],
  [13 * H, "13 hours"],
  [5 * H, "5 hours"],
  [90_000, "2 minutes"],
  [1, "1 minute"],
])("WEB 4.6: what is %i ms ahead is %s from now", (ms, words) => {
  expect(ahead(ms)).toBe(words);
});

test.each([
  [0, "just now"],
  [59_999, "just now"],
  [60_000, "1 minute ago"],
  [3 * H, "3 hours ago"],
  [8 * D, "1 week ago"],
  [400 * D, "1 year ago"],
])("WEB 1.9: what was %i ms before is %s, the full time behind it", (ms, words) => {
  const iso = new Date(NOW - ms).toISOString();
  const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  const title = `${full.format(NOW - ms)} UTC`;
  expect(ago(iso, NOW).text).toBe(`<time datetime="${iso}" title="${title}">${words}</time>`);
});

test("WEB 4.6, 6: a day has its year where it is another one, in page and script alike", () => {
  for (const [days, words] of [
    [14, "6 December"],
    [60, "21 January 2027"],
    [-330, "27 December 2025"],
  ] as const) {
    const at = NOW + days * D;
    expect(onDay(new Date(at).toISOString(), NOW).text).toEndWith(`>${words}</time>`);
    if (days > 0) expect(day(at, NOW)).toBe(words);
  }
  expect(moment("2026-09-05T07:04:59.999Z")).toBe("5 Sep 2026, 07:04");
});
