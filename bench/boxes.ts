/** `bun bench/boxes.ts [seconds]`: versions that are published in a second by 16 clients, each of its own site: by one embedded server, by one,
 *  two and four servers of one service on a PostgreSQL server that flushes each COMMIT and on Ceph's gateway, and by one and two whose
 *  database answers 2 ms late; in turn, three rounds, everything on this machine. And how long one client waits for one. Needs Debian's
 *  packages or apt; 6 seconds are four minutes. */
import { settingsOf } from "../test/kit/database-server.ts";
import { addressOfBucket, startCeph } from "../test/kit/ceph.ts";
import { type Boxes, startBoxes } from "../test/kit/boxes.ts";
import { startPostgres } from "../test/kit/postgres.ts";
import { type DeployResult, startServer, type TestServer, UNLIMITED } from "../test/kit/server.ts";
import { median } from "./load.ts";

const seconds = Number(process.argv[2] ?? 6);
const [ROUNDS, CLIENTS, LATE_MS] = [3, 16, 2];

await using postgres = await startPostgres(["fsync=on"]);
await using ceph = await startCeph();
await using embedded = await startServer();
/** One service of so many servers; `late`: through doors that keep the database's answers. */
async function service(count: number, late: boolean): Promise<{ boxes: Boxes; calls: TestServer[] }> {
  const boxes = await startBoxes(postgres);
  const { database_url } = boxes;
  const place = settingsOf({ data_dir: "", database_url, bucket: await addressOfBucket(ceph) });
  const { SVC_DATA_DIR: _, SVC_DATABASE_URL: direct, ...others } = place;
  const env = { ...UNLIMITED, ...others, ...(late ? {} : { SVC_DATABASE_URL: direct! }) };
  const started = await Promise.all(Array.from({ length: count }, () => boxes.start(env)));
  if (late) for (const box of started) box.turn("slow", LATE_MS);
  return { boxes, calls: started.map(({ calls }) => calls) };
}

let made = 0;
const contents = () => ({ "index.html": `<!doctype html><title>${++made}</title>` });

/** Sites of their own for so many clients, each at its server. */
const sitesAt = (calls: readonly TestServer[], clients: number): Promise<{ at: TestServer; site: DeployResult }[]> =>
  Promise.all(
    Array.from({ length: clients }, async (_, n) => {
      const at = calls[n % calls.length]!;
      return { at, site: await at.deploy(contents()) };
    }),
  );

/** Versions that were published in `seconds`, a second, and the median of what each took. */
async function published(calls: readonly TestServer[], clients: number): Promise<{ rate: number; ms: number }> {
  const sites = await sitesAt(calls, clients);
  const took: number[] = [];
  const end = performance.now() + seconds * 1000;
  const client = async ({ at, site }: (typeof sites)[number]) => {
    while (performance.now() < end) {
      const began = performance.now();
      await at.redeploy(site, contents());
      took.push(performance.now() - began);
    }
  };
  await Promise.all(sites.map(client));
  return { rate: took.length / seconds, ms: median(took) };
}

/** Started for its row alone: servers that have nothing to do beat all the same. */
const ROWS: Record<string, () => Promise<{ boxes?: Boxes; calls: TestServer[] }>> = {
  embedded: async () => ({ calls: [embedded] }),
  "one server": () => service(1, false),
  "two servers": () => service(2, false),
  "four servers": () => service(4, false),
  [`one server, database ${LATE_MS} ms away`]: () => service(1, true),
  [`two servers, database ${LATE_MS} ms away`]: () => service(2, true),
};

const all = new Map<string, { rate: number; alone_ms: number }[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, start] of Object.entries(ROWS)) {
    const { boxes, calls } = await start();
    await published(calls, 4); // nothing is new to it
    const { rate } = await published(calls, CLIENTS);
    const { ms: alone_ms } = await published(calls, 1);
    all.set(name, [...(all.get(name) ?? []), { rate, alone_ms }]);
    await boxes?.[Symbol.asyncDispose]();
  }
}

const base = all.get("embedded")!;
console.log(
  `| | versions a second, ${CLIENTS} clients | of embedded | one client waits, ms | of embedded |\n|---|---|---|---|---|`,
);
for (const [name, found] of all) {
  const ratio = (key: "rate" | "alone_ms") => median(found.map((one, n) => one[key] / base[n]![key])).toFixed(2);
  const [rate, alone] = (["rate", "alone_ms"] as const).map((key) => median(found.map((one) => one[key])));
  console.log(`| ${name} | ${rate!.toFixed(0)} | ${ratio("rate")} | ${alone!.toFixed(1)} | ${ratio("alone_ms")} |`);
}
