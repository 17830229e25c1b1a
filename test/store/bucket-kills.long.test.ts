/** SCALE 3: nothing that was acknowledged is lost in a bucket. A server is killed again and again under deploys of contents that come and
 *  go, while sweeps that know no hour run beside it and deletions reach the bucket seconds late. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { contentHash } from "../../src/base/version-id.ts";
import type { Bytes } from "../../src/base/types.ts";
import type { StoreAddress } from "../../src/store/index.ts";
import { openOperations } from "../../src/store/operations.ts";
import { settingsOf } from "../kit/database-server.ts";
import { startBucket } from "../kit/bucket.ts";
import { ROOT } from "../kit/paths.ts";
import { startPostgres } from "../kit/postgres.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { callsOf, type DeployResult } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { WHOLE } from "../kit/whole.ts";

setDefaultTimeout(240_000);

const KILLS = WHOLE ? 30 : 6;
const CLIENTS = 4;
/** Deploys that are acknowledged between two kills, at least. */
const BETWEEN = 20;
/** So few contents that sites share them, and lose the last name of one all the time. */
const CONTENTS = 12;
const LATEST_MS = 3000;
const SLOWEST_MS = 1500;

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const contentOf = (n: number): string => `<!doctype html><title>${n}</title><p>${"x".repeat(n * 50)}`;

test(`SCALE 3: ${KILLS} kills, sweeps without a pause, late deletions: every file of every acknowledged deploy is there`, async () => {
  await using postgres = await startPostgres();
  await using folder = await temporaryFolder();
  using bucket = startBucket();
  bucket.before = async (method) => {
    if (method === "DELETE") await Bun.sleep(Math.random() * LATEST_MS);
    if (method === "PUT" && Math.random() < 0.3) await Bun.sleep(Math.random() * SLOWEST_MS); // longer than a sweep waits
    if (method === "PUT" && Math.random() < 0.05) return new Response("", { status: 503 });
    return undefined;
  };
  const address: StoreAddress = {
    data_dir: folder.path,
    database_url: await postgres.database(),
    bucket: {
      url: "s3://bucket/all",
      access: {
        ...{ endpoint: bucket.endpoint, region: "us-east-1", session_token: null },
        ...{ access_key_id: "key", secret_access_key: "secret" },
      },
      cache_bytes: 1 << 20,
    },
  };
  const start = () => startProcess(["--log", "off"], { env: settingsOf(address) });
  let server: ServerProcess = await start();
  const operations = openOperations({ ...address, now: Date.now });
  const sql = postgres.sql(address.database_url!);

  let over = false;
  const sites: DeployResult[] = [];
  let acknowledged = 0;
  const files = () => ({
    "index.html": contentOf(pick([...Array(CONTENTS).keys()])),
    "b.txt": contentOf(pick([...Array(CONTENTS).keys()])),
  });
  const client = async () => {
    while (!over) {
      const calls = callsOf(server);
      try {
        const site = Math.random() < 0.6 ? pick(sites) : undefined;
        if (site === undefined) sites.push(await calls.deploy(files()));
        else await calls.redeploy(site, files());
        acknowledged++;
        if (sites.length > 6) {
          const [gone] = sites.splice(0, 1);
          await operations.actOnSite({ action: "delete", site_id: gone!.site_id });
        }
      } catch {
        await Bun.sleep(100); // it was killed, or the bucket refused
      }
    }
  };
  /** An hour of others is a third of a second here. A statement from outside may wait for a deploy that waits for it, at the versions of one row:
   *  PostgreSQL ends one of the two, and whoever it was tries again, the service and this. */
  const DEADLOCK = "40P01";
  const aging = async () => {
    while (!over) {
      const aged = sql.unsafe(
        `with old as (select blob_no from blobs where touched_at < now() - interval '0.3 s' order by sha256 for no key update)
         update blobs set touched_at = now() - interval '61 minutes' from old where blobs.blob_no = old.blob_no`,
      );
      await aged.catch((error: { errno?: unknown }) => {
        if (error.errno !== DEADLOCK) throw error;
      });
      await Bun.sleep(10);
    }
  };
  const sweeper = async () => {
    while (!over) {
      await operations.sweep(Date.now(), true).catch(() => {});
    }
  };
  const working = [...Array.from({ length: CLIENTS }, client), aging(), sweeper(), sweeper()];
  for (let kills = 0; kills < KILLS; kills++) {
    const enough = acknowledged + BETWEEN;
    await until(() => acknowledged >= enough);
    await Bun.sleep(Math.random() * 1000);
    await server.end();
    server = await start();
  }
  const last = acknowledged + BETWEEN;
  await until(() => acknowledged >= last);
  over = true;
  await Promise.all(working);
  await Bun.sleep(LATEST_MS); // for deletions whose sender is dead
  await server.end();

  const named: { sha256: string; blob_no: string; stored: boolean }[] = await sql.unsafe(
    "select distinct sha256, blob_no, stored from files join blobs using (blob_no)",
  );
  const lost = named.filter(({ sha256, blob_no, stored }) => {
    const object = bucket.objects.get(`all/blobs/${sha256.slice(0, 2)}/${sha256}-${blob_no}`);
    return !stored || object === undefined || contentHash(object.bytes as Bytes) !== sha256;
  });
  expect(lost).toEqual([]);
  const there: { site_id: string }[] = await sql.unsafe("select site_id from sites");
  for (const { site_id } of sites) expect(there).toContainEqual({ site_id });
  expect(named.length).toBeGreaterThan(3);
  const swept = bucket.requests.filter((one) => one.startsWith("DELETE")).length;
  expect(swept).toBeGreaterThan(0); // contents lost their last name, and were deployed again
  console.log(`${acknowledged} deploys, ${swept} deletions, ${named.length} blobs named`);
  operations.close();
  await sql.close();
});
