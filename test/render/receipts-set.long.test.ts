/** CONTRACT 9: with the render engine on, what the lint cannot see is seen. Of the receipts' test set every broken site that
 *  the lint has nothing to say of is looked at, and of the sound ones each eighth; `bun run torture render` looks at all of
 *  them. bench/receipts.md has the figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BROKEN, SOUND } from "../receipts/index.ts";
import { REAL } from "../receipts/real-builds.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { WHOLE } from "../kit/whole.ts";
import { look, PATIENCE_MS, startRenderer } from "./rendering.ts";

const SITES = [...BROKEN, ...SOUND, ...REAL].filter(({ wrong }, i) => WHOLE || wrong !== null || i % 8 === 0);

let server: TestServer;
let lint: TestServer;
beforeAll(async () => {
  [server, lint] = [await startRenderer(), await startServer()];
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await lint[Symbol.asyncDispose]();
});

interface Judged {
  name: string;
  broken: boolean;
  linted: boolean;
  warned: boolean;
}
const judged: Judged[] = [];

test.each(SITES)(
  "$name: the browser's warnings are of a site that is broken",
  async ({ name, files, wrong }) => {
    const contents = await files();
    const linted = (await lint.deploy(contents)).warnings.length > 0;
    const broken = wrong !== null;
    if (broken && linted) return void judged.push({ name, broken, linted, warned: true });
    const { status, reason, warnings } = await look(server, contents);
    expect([status, reason]).toEqual(["done", undefined]);
    judged.push({ name, broken, linted, warned: linted || warnings.length > 0 });
    if (wrong === null) expect(warnings).toEqual([]);
    for (const { message, fix_recipe } of warnings) {
      expect(message).toMatch(/^[^\n]+$/);
      expect(fix_recipe).toMatch(/^[A-Z][^\n]+\.$/);
    }
  },
  PATIENCE_MS,
);

test("lint and browser together: precision 0.98, recall 0.99", () => {
  expect(judged.length).toBe(SITES.length);
  const figures = (told: (one: Judged) => boolean) => {
    const right = judged.filter((one) => one.broken && told(one)).length;
    return { precision: right / judged.filter(told).length, recall: right / judged.filter((one) => one.broken).length };
  };
  const [alone, together] = [figures(({ linted }) => linted), figures(({ warned }) => warned)];
  const missed = judged.filter(({ broken, warned }) => broken && !warned).map(({ name }) => name);
  console.log(`${judged.length} sites`, { alone, together, missed });
  expect(together.precision).toBeGreaterThanOrEqual(0.98);
  expect(together.recall).toBeGreaterThanOrEqual(0.99);
});
