/** `bun bench/bodies.ts [seconds] [rounds]`: CPU per request of the ways in which Bun can send the same body. What
 *  src/serve keeps follows from it: Blobs, in whole Responses that are cloned. */
import { unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure, median } from "./load.ts";

const SIZES = [5_300, 40_960, 102_400, 262_144, 524_288, 1_000_000, 1_048_576];
const WAYS = ["bytes", "blob", "clone", "file"] as const;

/** The server: one way, all sizes. */
function serve(way: string): void {
  const headers = new Headers({
    etag: '"0123456789abcdef:/page.html"',
    "cache-control": "public, max-age=60, must-revalidate",
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    vary: "Accept-Encoding",
    "accept-ranges": "bytes",
  });
  const init = { headers };
  const answers = new Map(
    SIZES.map((size) => {
      const bytes = new Uint8Array(size).fill(97);
      const blob = new Blob([bytes]);
      const whole = new Response(blob, init);
      const make: Record<string, () => Response> = {
        bytes: () => new Response(bytes, init),
        blob: () => new Response(blob, init),
        clone: () => whole.clone() as Response,
        file: () => new Response(Bun.file(join(tmpdir(), `svc-bodies-${process.ppid}-${size}`)), init),
      };
      return [size, make[way]!] as const;
    }),
  );
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: (request) => answers.get(Number(request.url.slice(request.url.lastIndexOf("/") + 1)))!(),
  });
  console.log(server.port);
}

async function compare(seconds: number, rounds: number): Promise<void> {
  const files = SIZES.map((size) => join(tmpdir(), `svc-bodies-${process.pid}-${size}`));
  await Promise.all(files.map((path, i) => Bun.write(path, new Uint8Array(SIZES[i]!).fill(97))));
  const servers = WAYS.map((way) => Bun.spawn(["bun", import.meta.path, "serve", way], { stdout: "pipe" }));
  try {
    const ports = await Promise.all(servers.map(({ stdout }) => firstLine(stdout)));
    for (const size of SIZES) {
      const runs = WAYS.map((): number[] => []);
      for (let round = 0; round < rounds; round++) {
        for (const [i, port] of ports.entries()) {
          const targets = [{ host: "bench.test", path: `/${size}` }];
          const load = { origin: `http://127.0.0.1:${port}`, targets, headers: {} };
          runs[i]!.push(measure(servers[i]!.pid, tmpdir(), load, seconds).cpu_us);
        }
      }
      console.log(`${size} bytes: ${WAYS.map((way, i) => `${way} ${median(runs[i]!).toFixed(1)} us`).join(", ")}`);
    }
  } finally {
    for (const server of servers) server.kill();
    for (const path of files) unlinkSync(path);
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim();
  throw new Error("the server said no port");
}

const [first, second] = process.argv.slice(2);
if (first === "serve") serve(second!);
else await compare(Number(first ?? 1), Number(second ?? 5));
