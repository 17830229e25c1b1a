/** The measure of bench/storm.ts: a Bun.serve that has one page, reads whatever is uploaded, and throws it away. With a folder
 *  it stores it there: handed by file to processes that do what no host can leave out (bench/floor.ts), one a core. */
import { availableParallelism } from "node:os";
import { join } from "node:path";

const folder = process.argv[2];
const page = new Blob([`<!doctype html><title>A page</title>${"<p>Some words of a paragraph.</p>".repeat(160)}`]);
const init = {
  headers: new Headers({ "content-type": "text/html; charset=utf-8", "cache-control": "public, max-age=60" }),
};

const stored = new Map<string, () => void>();
const keepers = Array.from({ length: folder === undefined ? 0 : availableParallelism() }, () =>
  Bun.spawn([process.execPath, join(import.meta.dir, "storm-keeper.ts")], {
    ipc: (path: string) => stored.get(path)!(),
    stdio: ["ignore", "ignore", "inherit"],
  }),
);
let count = 0;

async function keep(zip: ArrayBuffer): Promise<void> {
  const path = join(folder!, `upload-${count}`);
  await Bun.write(path, zip);
  const done = Promise.withResolvers<void>();
  stored.set(path, done.resolve);
  keepers[count++ % keepers.length]!.send(path);
  await done.promise;
  stored.delete(path);
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  async fetch(request) {
    if (request.method === "POST") {
      const zip = await request.arrayBuffer();
      if (folder !== undefined) await keep(zip);
    }
    return new Response(page, init);
  },
});
console.log(server.port);
process.on("SIGTERM", () => {
  for (const keeper of keepers) keeper.kill();
  process.exit();
});
