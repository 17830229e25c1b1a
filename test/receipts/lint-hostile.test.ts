/** The lint reads whatever is uploaded, in its thread and within its deadline (CONTRACT 4.1: 10 s for a whole deploy). */
import { expect, test } from "bun:test";
import { lint } from "../../src/pipeline/lint/index.ts";
import type { Bytes, Draft, Warning } from "../../src/base/types.ts";
import { cpuOf, expectLinear } from "../kit/cpu.ts";
import { HOSTILE } from "./hostile.ts";
import { partOf } from "../kit/whole.ts";

const draftOf = (texts: Record<string, string>): Draft => ({
  files: new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text) as Bytes])),
  made: new Set(),
  stripped_folder: null,
  healed: [],
  warnings: [],
});

const lintOf = (draft: Draft) => lint(draft, { enabled: false, rule: "none" }, () => {});

/** Processor time: others share the machine. Each takes 0.01 to 2.6 s on a quick one; ten times that is for slow ones. */
const BOUND_MS = 26_000;

test.each(partOf(HOSTILE, 8))(
  "$name: linted in time, with at most 100 warnings",
  ({ files }) => {
    const draft = draftOf(files());
    let warnings: readonly Warning[] = [];
    expect(cpuOf(() => ({ warnings } = lintOf(draft)))).toBeLessThan(BOUND_MS);
    expect(warnings.length).toBeLessThanOrEqual(100);
  },
  60_000,
);

test("an ordinary site of 200 files is linted without a warning, in a time that grows as its pages do", () => {
  const page = (i: number, pages: number) =>
    `<!doctype html><title>${i}</title><link rel=stylesheet href=/s.css><script type=module src=/m.js></script>${`<p>${"The kite rises. ".repeat(40)}</p><a href=/${(i * 7) % pages}>On</a><img src=/a.png>`.repeat(12)}`;
  const siteOf = (pages: number) =>
    draftOf({
      ...Object.fromEntries(
        Array.from({ length: pages }, (_, i) => [i === 0 ? "index.html" : `${i}.html`, page(i, pages)]),
      ),
      "0.html": page(0, pages),
      "s.css": "p{background:url(a.png)}",
      "m.js": "export{}",
      "a.png": "",
    });
  expectLinear(196, siteOf, (draft) => expect(lintOf(draft).warnings).toEqual([]));
});
