/** Slow readers (RELIABILITY H55): `bun test/torture/slow-readers.ts [bytes] [of each]`, 10,000,000 and 3 unless said
 *  otherwise; that takes nine minutes, and 2,000,000 two and a half. Needs Linux. Readers at 100 KB/s and at 20 KB/s get
 *  the file whole; one that stops reading loses its connection within 130 s; of one that goes away nothing is left within
 *  ten seconds; in the end the server has the descriptors that it began with. */
import { connect, type Socket } from "node:net";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";
import { descriptors, MB, progress, isHeld, residentBytes, within } from "./parts/figures.ts";

const [bytes = 10_000_000, each = 3] = process.argv.slice(2).map(Number);
const CLOSED_WITHIN_MS = 130_000;
const noise = new Uint8Array(bytes);
for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(noise.subarray(at, Math.min(bytes, at + 65_536)));
const expected = new Bun.CryptoHasher("sha256").update(noise).digest("hex");

interface Reading {
  socket: Socket;
  /** It comes from there. */
  port(): number;
  /** Bytes of the body so far. */
  read: number;
  /** Resolves to the body's SHA-256 when the connection ends. */
  ended: Promise<string>;
}

const all: Socket[] = [];

/** Asks for the file; `pace` is told each chunk's length and may pause the socket. */
function ask(port: number, host: string, pace: (socket: Socket, length: number) => void): Reading {
  const hasher = new Bun.CryptoHasher("sha256");
  const socket = connect(port, "127.0.0.1");
  all.push(socket);
  const ended = Promise.withResolvers<string>();
  let from = 0;
  socket.on("connect", () => (from = socket.localPort ?? 0));
  const reading: Reading = { socket, port: () => from, read: 0, ended: ended.promise };
  let head = "";
  socket.on("data", (chunk: Buffer) => {
    let body = chunk;
    if (!head.includes("\r\n\r\n")) {
      const before = head.length;
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      body = end === -1 ? Buffer.alloc(0) : chunk.subarray(end + 4 - before);
    }
    hasher.update(body);
    reading.read += body.length;
    pace(socket, chunk.length);
  });
  socket.on("error", () => {});
  socket.on("close", () => ended.resolve(hasher.digest("hex")));
  socket.write(`GET /big.bin HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return reading;
}

/** So many bytes a second on average: after each chunk it rests as long as the chunk was due to take. */
const steady = (rate: number) => (socket: Socket, length: number) => {
  socket.pause();
  setTimeout(() => socket.resume(), (length / rate) * 1000).unref();
};

async function whole(kind: string, reading: Reading, started: number): Promise<string> {
  const hash = await reading.ended;
  const seconds = (performance.now() - started) / 1000;
  if (hash !== expected)
    throw new Error(`${kind} was cut after ${reading.read} of ${bytes} bytes, ${seconds.toFixed(0)} s`);
  return `${kind}: whole in ${seconds.toFixed(0)} s (${(bytes / 1000 / seconds).toFixed(0)} KB/s)`;
}

async function deploy(port: number): Promise<string> {
  const body = zipOf({ "index.html": "<title>big</title>", "big.bin": noise });
  const headers = { "content-type": "application/zip" };
  const response = await fetch(`http://127.0.0.1:${port}/sites`, { method: "POST", headers, body, keepalive: false });
  return `${((await response.json()) as { slug: string }).slug}.localhost`;
}

const some = <T>(make: () => T): T[] => Array.from({ length: each }, make);

async function readSlowly(pid: number, port: number): Promise<void> {
  const host = await deploy(port);
  const warm = ask(port, host, () => {});
  if ((await warm.ended) !== expected) throw new Error("a fast reader did not get the file");
  await Bun.sleep(1_000);
  const before = descriptors(pid);
  const started = performance.now();
  const slow = [
    ...some(() => whole("100 KB/s", ask(port, host, steady(100_000)), started)),
    ...some(() => whole("20 KB/s", ask(port, host, steady(20_000)), started)),
  ];
  const finished = Promise.all(slow);
  finished.catch(() => {}); // told below, after what is measured meanwhile
  const stopped = some(() => ask(port, host, (socket) => void socket.pause()));
  const gone = some(() => ask(port, host, (socket) => void socket.destroy()));
  await Promise.all(gone.map(({ ended }) => ended));
  const held = (readings: Reading[]) => readings.filter(({ port: from }) => isHeld(port, from())).length;
  await within(10_000, "nothing is left of those who went away", () => held(gone) === 0);
  if (held(stopped) < each) throw new Error("the file is too short: who stopped had all of it already");
  const timer = setInterval(
    () => progress(`${descriptors(pid)} descriptors, ${(residentBytes(pid) / MB).toFixed(0)} MB`),
    1000,
  );
  try {
    await within(CLOSED_WITHIN_MS, "a reader that stopped is cut", () => held(stopped) === 0);
    process.stdout.write(`those who stopped: cut after ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
    process.stdout.write(`${(await finished).join("\n")}\n`);
    await within(5_000, "the descriptors of the start", () => descriptors(pid) <= before);
    process.stdout.write(
      `descriptors: ${before} before, ${descriptors(pid)} after; ${(residentBytes(pid) / MB).toFixed(0)} MB\n`,
    );
  } finally {
    clearInterval(timer);
  }
}

await using dir = await temporaryFolder();
const limits = ["--max-zip-bytes", String(bytes + 100_000), "--max-bytes", String(bytes + 100_000)];
const server = await startProcess(["--data-dir", dir.path, "--log", "off", ...limits]);
try {
  await readSlowly(server.pid, server.port);
  process.stdout.write("no violation\n");
} catch (violation) {
  process.stdout.write(`${(violation as Error).message}\n`);
  process.exitCode = 1;
} finally {
  for (const socket of all) socket.destroy();
  server.kill("SIGKILL");
  await server.exited;
}
