/** How much serving keeps in memory: docs/self-hosting.md, "Memory and processes". */
import { expect, test } from "bun:test";
import { cacheBytes } from "../../src/config/machine.ts";

const MB = 1024 * 1024;

test.each([
  { memory: 24_000, processes: 1, cache: 112 },
  { memory: 896, processes: 1, cache: 112 },
  { memory: 512, processes: 1, cache: 64 },
  { memory: 256, processes: 1, cache: 32 },
  { memory: 100, processes: 1, cache: 16 },
  { memory: 1024, processes: 4, cache: 32 },
  { memory: 24_000, processes: 256, cache: 16 },
])(
  "of $memory MB, $processes serving processes keep $cache MB each: an eighth of it among all, 16 to 112",
  ({ memory, processes, cache }) => {
    expect(cacheBytes(processes, memory * MB)).toBe(cache * MB);
  },
);

test("what there is to share is the machine's memory, or less where a limit stands around the server", () => {
  const { stdout } = Bun.spawnSync(
    ["bun", "-e", 'console.log((await import("./src/config/machine.ts")).cacheBytes(1))'],
    {
      cwd: `${import.meta.dir}/../..`,
    },
  );
  const all = Math.min(process.constrainedMemory() || Infinity, Number(/MemTotal:\s+(\d+)/.exec(meminfo())![1]) * 1024);
  expect(Number(stdout.toString())).toBe(Math.min(112 * MB, Math.max(16 * MB, Math.floor(all / 8))));
});

const meminfo = (): string => Bun.spawnSync(["cat", "/proc/meminfo"]).stdout.toString();
