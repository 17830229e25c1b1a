/** WEB 4.4: no task of the page's thread over 100 ms, with as much as the zone takes. How a walk of thousands of files lets
 *  the page in between is told by test/web/zone.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { pace, watchTasks } from "./tasks.ts";
import { openZone, type ZoneWorld } from "../zone/world.ts";

let world: ZoneWorld;
let slower: number;
beforeAll(async () => {
  world = await openZone("--max-bytes", "20971520", "--max-zip-bytes", "20971520");
  slower = await pace(world.browser);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const PAGE = "<!doctype html><title>x</title>";
const numbered = (count: number, content: (i: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i % 9}/${i}.txt`, content(i)]));
const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(25_000))).toString("hex");
/** 200 files, 10 MB. */
const FULL = { "index.html": PAGE, ...numbered(199, (i) => i + noise) };
/** A receipt of 150 warnings. */
const BROKEN = {
  "index.html": `${PAGE}${Array.from({ length: 150 }, (_, i) => `<img src="missing-${i}.png" alt="">`).join("")}`,
};

/** The text is made before, as the browser has it before a paste. */
const pasted = async (expression: string) => async () => {
  await world.browser.evaluate(
    `void (window.clipboard = new DataTransfer(), clipboard.setData("text/plain", ${expression}))`,
  );
  return () =>
    world.browser.evaluate<void>(`void document.body.dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true }))`);
};
const rests = () => until(async () => /done|failed|asking/.test(await world.state()));

const dropped = async (name: string, files: Record<string, string>) => {
  const at = await world.folder(name, files);
  return async () => () => world.drop(at);
};
const picked = async (name: string, files: Record<string, string>) => {
  const at = await world.folder(name, files);
  return async () => () => world.choose("folder", at);
};

describe("WEB 4.4: no task of the page's thread over 100 ms", () => {
  test.each<[string, () => Promise<() => Promise<() => Promise<void>>>]>([
    ["200 files and 10 MB, dropped", () => dropped("full", FULL)],
    ["200 files and 10 MB, picked", () => picked("full", FULL)],
    ["a text of 2 MB, pasted", () => pasted(`"# Long\\n\\n".repeat(260_000)`)],
    ["a text that begins with 150,000 comments, pasted", () => pasted(`"\\n <!-- -->".repeat(150_000) + "<p>"`)],
    ["150 warnings", () => dropped("broken", BROKEN)],
  ])(
    "%s",
    async (_, prepare) => {
      const lay = await prepare();
      await world.open();
      const give = await lay();
      const watch = await watchTasks(world.browser);
      await give();
      await rests();
      const { longest_ms, tasks } = await watch.end();
      expect(tasks).toBeGreaterThan(0);
      expect(longest_ms).toBeLessThan(100 * slower);
    },
    120_000,
  );
});
