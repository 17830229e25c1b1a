/** `bun bench/shared.ts [rounds]`: stores on a PostgreSQL server of this machine, one with its blobs in a folder, one in a bucket of Ceph's
 *  gateway (in memory), beside the embedded one, in turn: a deploy of 1, 50 and 200 new files by a client that waits for each, a
 *  rollback, a page that nobody asked for since its deploy, and one that is kept. The database flushes each COMMIT, as it does by
 *  itself. Needs Debian's packages or apt; 25 rounds are three minutes. */
import { openPool } from "../src/store/postgres/connection.ts";
import type { Bytes } from "../src/base/types.ts";
import { openObjects } from "../src/store/bucket/objects.ts";
import { inParallel } from "../src/store/disk/blobs.ts";
import { databases } from "../test/kit/database-server.ts";
import { addressOfBucket, startCeph } from "../test/kit/ceph.ts";
import { startPostgres } from "../test/kit/postgres.ts";
import { slugOf, startServer, type TestServer } from "../test/kit/server.ts";
import { median } from "./load.ts";

const rounds = Number(process.argv[2] ?? 25);
const KEPT = 200;

await using postgres = await startPostgres(["fsync=on"]);
await using embedded = await startServer();
databases.serveAt(await postgres.database());
await using shared = await startServer();
await using ceph = await startCeph();
databases.serveAt(await postgres.database(), await addressOfBucket(ceph));
await using bucketed = await startServer();
const servers = [embedded, shared, bucketed];

let made = 0;
const files = (count: number): Record<string, string> => ({
  "index.html": `<!doctype html><title>${++made}</title>`,
  ...Object.fromEntries(
    Array.from({ length: count - 1 }, (_, n) => [`f${n}.txt`, `File ${n} of ${made}\n`.repeat(20)]),
  ),
});

type Row = (server: TestServer) => Promise<() => Promise<unknown>>;
const deploys =
  (count: number): Row =>
  async (server) => {
    const contents = files(count);
    return () => server.deploy(contents);
  };
const page = async (server: TestServer, slug: string): Promise<void> => {
  await (await server.site(slug, "/")).arrayBuffer();
};
const ROWS: Record<string, Row> = {
  "a deploy of 1 new file": deploys(1),
  "a deploy of 50 new files": deploys(50),
  "a deploy of 200 new files": deploys(200),
  "a rollback": async (server) => {
    const first = await server.deploy(files(1));
    await server.redeploy(first, files(1));
    return () => server.rollback(first, first.version_id);
  },
  "a page that is not kept": async (server) => {
    const { url } = await server.deploy(files(1));
    await Bun.sleep(20); // what is coded ahead is done
    return () => page(server, slugOf(url));
  },
  [`${KEPT} times a page that is kept`]: async (server) => {
    const { url } = await server.deploy(files(1));
    await page(server, slugOf(url));
    return async () => {
      for (let n = 0; n < KEPT; n++) await page(server, slugOf(url));
    };
  },
};

async function took(row: Row, server: TestServer): Promise<number> {
  const work = await row(server);
  const began = performance.now();
  await work();
  return performance.now() - began;
}

console.log(
  "| | embedded, ms | PostgreSQL, ms | with a bucket, ms | ratios, medians of the rounds' own |\n|---|---|---|---|---|",
);
for (const [name, row] of Object.entries(ROWS)) {
  const taken: number[][] = [];
  for (let round = -3; round < rounds; round++) {
    const first = (round + 3) % servers.length;
    const times: number[] = [];
    for (let n = 0; n < servers.length; n++) {
      const at = (first + n) % servers.length;
      times[at] = await took(row, servers[at]!);
    }
    if (round >= 0) taken.push(times);
  }
  const middle = servers.map((_, at) => median(taken.map((times) => times[at]!)).toFixed(2));
  const ratios = [1, 2].map((at) => median(taken.map((times) => times[at]! / times[0]!)).toFixed(2));
  console.log(`| ${name} | ${middle.join(" | ")} | ${ratios.join(", ")} |`);
}

// How many publishes a second one lock gives, whoever asks: a commit's flush decides.
const pool = openPool(shared.address.database_url!, 1);
const began = performance.now();
for (let n = 0; n < 200; n++)
  await pool.current().unsafe("insert into holds (hold_id, expires_at) values ($1, 0)", [`x${n}`]);
console.log(`\nOne row and its COMMIT, by itself: ${((performance.now() - began) / 200).toFixed(2)} ms`);
await pool.close();

// And the gateway's part of 200 new files: the same objects put by themselves, as many at once.
const objects = openObjects(bucketed.address.bucket!);
const bodies = Array.from({ length: 200 }, (_, n) => Buffer.from(`Object ${n}\n`.repeat(20)) as Bytes);
const puts: number[] = [];
for (let round = 0; round < rounds; round++) {
  const began = performance.now();
  const all = bodies.map((bytes, n) => [n, bytes] as const);
  await inParallel(all, 16, ([n, bytes]) =>
    objects.put({ sha256: "f".repeat(64), blob_no: -1 - n - 200 * round }, bytes),
  );
  puts.push(performance.now() - began);
}
console.log(`200 objects put by themselves, 16 at once: ${median(puts).toFixed(0)} ms`);
