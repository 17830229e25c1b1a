/** What deploys leave in memory, by the kernel's own count: of the server, and of the processes that deploys run in. */
import { expect, test } from "bun:test";
import { deploy, prose } from "../kit/coding-attacks.ts";
import { deployProcesses, startProcess, temporaryFolder } from "../kit/process.ts";
import { MB, residentBytes } from "../torture/parts/figures.ts";

const AT_ONCE = 4;
const ROUND = 100;

/** Measured on two cores: 104 and 78; the same in threads of one process took 167. */
const SERVER_BYTES = 160 * MB;
const PROCESS_BYTES = 128 * MB;
const GROWTH_BYTES = 32 * MB;

/** Nothing of it was there before: 24 files that are stored, judged and coded anew. */
const files = (n: number): Record<string, string> =>
  Object.fromEntries([
    ["index.html", `<title>${n}</title>${prose(40_000, n)}`],
    ...Array.from({ length: 24 }, (_, f) => [`f${f}.css`, prose(40_000, 1000 * n + f)] as const),
  ]);

test.if(process.platform === "linux")(
  "RELIABILITY 6: 200 deploys of 1 MB leave the server under 160 MB and a deploy's process under 128, as the first 100 did",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    let next = 0;
    async function deployMany(until: number): Promise<{ server: number; process: number }> {
      let process = 0;
      const one = async () => {
        while (next < until) {
          await deploy(server, files(next++));
          for (const pid of deployProcesses(server.pid)) process = Math.max(process, residentBytes(pid));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      return { server: residentBytes(server.pid), process };
    }
    const first = await deployMany(ROUND);
    const last = await deployMany(2 * ROUND);
    expect(first.process).toBeGreaterThan(MB); // somebody was seen at work
    expect(last.server).toBeLessThan(SERVER_BYTES);
    expect(last.process).toBeLessThan(PROCESS_BYTES);
    expect(last.server - first.server).toBeLessThan(GROWTH_BYTES);
    expect(last.process - first.process).toBeLessThan(GROWTH_BYTES);
    await server.end();
  },
  180_000,
);
