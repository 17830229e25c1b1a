/** Time from upload to answer, beside the floor: reading the same zip, hashing its files and flushing them to the same
 *  disk. Interleaved in one run, so that only the ratio counts. Then an update of one file of 200. `bun bench/deploy.ts [rounds]` */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../test/kit/process.ts";
import { zipOf } from "../test/kit/zip.ts";
import { floor } from "./floor.ts";
import { measureUpdates } from "./updating/index.ts";

const rounds = Number(process.argv[2] ?? 15);
/** A server is asked for more than its first deploys, which compile the program on their way. */
const WARM_UP = 20;
const CASES = [
  { name: "1 file, 5 KB", files: 1, size: 5_000 },
  { name: "50 files, 1 MB", files: 50, size: 20_000 },
  { name: "200 files, 8 MB", files: 200, size: 40_000 },
];

/** Half text, half noise, like a built site: it shrinks to about half. Never the same twice. */
function upload({ files, size }: { files: number; size: number }): Uint8Array<ArrayBuffer> {
  const entries: Record<string, Uint8Array> = {
    "index.html": Buffer.from(`<title>${randomBytes(8).toString("hex")}</title>`),
  };
  for (let n = 1; n < files; n++) {
    entries[`assets/${n}.bin`] = Buffer.concat([randomBytes(size / 2), Buffer.alloc(size / 2, `line ${n}\n`)]);
  }
  if (files === 1) entries["index.html"] = Buffer.from(`<title>one</title>${randomBytes(size / 2).toString("hex")}`);
  return zipOf(entries);
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const root = await mkdtemp(join(tmpdir(), "svc-bench-"));
const server = await startProcess(["--data-dir", join(root, "data"), "--log", "off"], {
  env: { SVC_RATE_DEPLOY: "off" },
});
const deploy = async (zip: Uint8Array<ArrayBuffer>) => {
  const headers = { "content-type": "application/zip" };
  const response = await fetch(`http://127.0.0.1:${server.port}/sites`, { method: "POST", body: zip, headers });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
};

process.stdout.write(`| deploy | upload to answer, p50 | floor, p50 | ratio | slowest |\n|---|---|---|---|---|\n`);
for (const one of CASES) {
  const [ours, floors]: [number[], number[]] = [[], []];
  for (let n = 0; n < WARM_UP; n++) await deploy(upload(one));
  for (let round = 0; round < rounds; round++) {
    const zip = upload(one);
    floors.push(await timed(() => floor(zip, join(root, `${one.files}-${round}`))));
    ours.push(await timed(() => deploy(zip)));
  }
  const [a, b] = [median(ours), median(floors)];
  process.stdout.write(
    `| ${one.name} | ${a.toFixed(1)} ms | ${b.toFixed(1)} ms | ${(a / b).toFixed(2)} | ${Math.max(...ours).toFixed(0)} ms |\n`,
  );
}
await measureUpdates(server.port, root, rounds);
server.kill("SIGTERM");
await server.exited;
await rm(root, { recursive: true, force: true });
