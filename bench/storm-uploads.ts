/** The uploads of bench/storm.ts: makes `count` zips of 200 files (8 MB), none like another, says so, and on a line of
 *  input sends five a second. Prints how often each status came. */
import { randomBytes } from "node:crypto";
import { zipOf } from "../test/kit/zip.ts";

const [origin, count] = process.argv.slice(2) as [string, string];
const EVERY_MS = 200;

/** Half text, half noise, like a built site: it shrinks to about half. */
function upload(): Uint8Array<ArrayBuffer> {
  const noise = randomBytes(200 * 20_000);
  const text = Buffer.alloc(20_000, "a line of text in a file\n");
  const files: [string, Uint8Array][] = Array.from({ length: 199 }, (_, n) => [
    `assets/${n}.js`,
    Buffer.concat([noise.subarray(n * 20_000, (n + 1) * 20_000), text]),
  ]);
  return zipOf(new Map<string, Uint8Array>([["index.html", randomBytes(16)], ...files]));
}

const zips = Array.from({ length: Number(count) }, upload);
console.log("ready");
for await (const _ of console) break;

const statuses: Record<string, number> = {};
async function send(body: Uint8Array<ArrayBuffer>): Promise<void> {
  const headers = { "content-type": "application/zip" };
  const status = await fetch(`${origin}/sites`, { method: "POST", headers, body }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status === 503 && !answer.headers.has("retry-after") ? "503 without Retry-After" : answer.status;
    },
    (error: Error) => error.message,
  );
  statuses[status] = (statuses[status] ?? 0) + 1;
}

const begin = performance.now();
const sent: Promise<void>[] = [];
for (const [n, zip] of zips.entries()) {
  await Bun.sleep(Math.max(0, begin + n * EVERY_MS - performance.now()));
  sent.push(send(zip));
}
await Promise.all(sent);
console.log(JSON.stringify(statuses));
