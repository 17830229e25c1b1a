/** What tests and benchmarks serve is this machine's alone: Bun.serve without a hostname listens on every network. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

/** The lines on which a server begins whose options name no place to listen. */
const open = (source: string): number[] =>
  [...source.matchAll(/\bBun\.(?:serve|listen)\(/g)]
    .filter(({ index }) => !/\b(?:hostname|unix)\b/.test(source.slice(index, index + 400)))
    .map(({ index }) => source.slice(0, index).split("\n").length);

test("every server of the tests and the benchmarks listens on loopback", async () => {
  const found: string[] = [];
  for (const folder of ["test", "bench"]) {
    for await (const path of new Bun.Glob("**/*.ts").scan(join(ROOT, folder))) {
      if (path.includes("node_modules") || path === "house/loopback.test.ts") continue;
      const lines = open(await Bun.file(join(ROOT, folder, path)).text());
      found.push(...lines.map((line) => `${folder}/${path}:${line}`));
    }
  }
  expect(found).toEqual([]);
});

test.each([
  ["Bun.serve({ port: 0, fetch })", 1],
  ['Bun.serve({ hostname: "127.0.0.1", port: 0, fetch })', 0],
  ["Bun.listen({ unix: path, socket })", 0],
])("%s is told %d times", (source, times) => {
  expect(open(source)).toHaveLength(times);
});
