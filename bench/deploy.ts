/** Time from upload to answer, beside the floor: reading the same zip, hashing its files and flushing them to the same
 *  disk. Interleaved in one run, so that only the ratio counts. Then an update of one file of 200. `bun bench/deploy.ts [rounds]` */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { startProcess } from "../test/kit/process.ts";
import { zipOf } from "../test/kit/zip.ts";
import { measureUpdates } from "./updating/index.ts";

const rounds = Number(process.argv[2] ?? 15);
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

/** Every local entry, by the sizes that the central directory gives: no check, no limit, nothing but the bytes. */
function* entriesOf(zip: Uint8Array): Generator<Uint8Array> {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.length);
  let at = view.readUInt32LE(view.length - 6);
  for (let left = view.readUInt16LE(view.length - 12); left > 0; left--) {
    const [method, packed, local] = [
      view.readUInt16LE(at + 10),
      view.readUInt32LE(at + 20),
      view.readUInt32LE(at + 42),
    ];
    const start = local + 30 + view.readUInt16LE(local + 26) + view.readUInt16LE(local + 28);
    const data = view.subarray(start, start + packed);
    yield method === 8 ? inflateRawSync(data) : data;
    at += 46 + view.readUInt16LE(at + 28) + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
  }
}

async function flushed(path: string, bytes: Uint8Array | null): Promise<void> {
  const file = await open(path, bytes ? "wx" : "r");
  if (bytes) await file.write(bytes);
  await file.sync();
  await file.close();
}

/** What no host can leave out: 8 writers at once, then the folder. */
async function floor(zip: Uint8Array, folder: string): Promise<void> {
  await mkdir(folder);
  const files = [...entriesOf(zip)].map((bytes, n) => ({
    name: `${n}-${createHash("sha256").update(bytes).digest("hex")}`,
    bytes,
  }));
  const lane = async () => {
    for (let file = files.pop(); file; file = files.pop()) await flushed(join(folder, file.name), file.bytes);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  await flushed(folder, null);
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
  await deploy(upload(one));
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
