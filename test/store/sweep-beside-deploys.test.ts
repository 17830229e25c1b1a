/** RELIABILITY 2, G3: a sweep beside a stream of deploys, on a catalogue that takes a while to be checked. */
import { expect, test } from "bun:test";
import { deploy, get } from "../kit/coding-attacks.ts";
import { addSites } from "../kit/many.ts";
import { operator } from "../kit/operator.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";

const SITES = 8_000;
const FILES = 20;
const SWEEPS = 6;

test("none of six is refused, and every deploy that was answered is there afterwards", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, n) => [`f${n}.txt`, `file ${n}`]));
  addSites(dir.path, await deploy(server, { "index.html": "<title>many</title>", ...files }), SITES);
  const answered: [slug: string, text: string][] = [];
  let sweeping = true;
  const deploying = Array.from({ length: 2 }, async (_, lane) => {
    for (let n = 0; sweeping; n++) {
      const text = `<title>${lane}-${n}</title>`;
      answered.push([(await deploy(server, { "index.html": text })).slug, text]);
    }
  });
  const refused: string[] = [];
  for (let n = 0; n < SWEEPS; n++) {
    const { code, stderr } = await operator(dir.path, ["gc"]);
    if (code !== 0) refused.push(stderr);
  }
  sweeping = false;
  await Promise.all(deploying);
  expect(refused).toEqual([]);
  expect(answered.length).toBeGreaterThan(SWEEPS);
  for (const [slug, text] of answered) expect(await (await get(server, slug, "/", "identity")).text()).toContain(text);
  await server.end();
}, 180_000);
