/** CONTRACT 9: which versions wait for the engine, as whoever takes them sees it: bounded, owners' first, and in turn by where
 *  they come from. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStore, type Store } from "../../src/store/index.ts";
import { read, write } from "../kit/database.ts";
import { addSites } from "../kit/many.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";

const MOST = 500;
const PAGE = { "index.html": "<!doctype html><title>x</title>x" };

let server: TestServer;
let store: Store;
beforeEach(async () => {
  server = await startServer();
  store = await openStore({ data_dir: server.data_dir, now: Date.now });
});
afterEach(async () => {
  await store.close();
  await server[Symbol.asyncDispose]();
});

/** So many sites of one network wait, each asked for a moment after the one before. `name`: four letters. */
async function crowd(name: string, count: number): Promise<void> {
  const { data_dir } = server;
  const site = await server.deploy(PAGE);
  addSites(data_dir, site, count - 1, name);
  const ofThem = `site_id = ?1 or site_id glob 'site_${name}0*'`;
  write(data_dir, `update sites set network = ?2, owner_account_id = null where ${ofThem}`, site.site_id, name);
  write(
    data_dir,
    `insert into renders (version_no, site_id, status, asked_at)
     select version_no, site_id, 'pending', version_no from versions where ${ofThem}`,
    site.site_id,
  );
}

/** Whose turns come, as long as anybody waits. */
async function turns(most: number): Promise<string[]> {
  const taken: string[] = [];
  for (let task = await store.renders.take(); task !== null && taken.length < most; task = await store.renders.take()) {
    const [of_site] = read<{ place: string }>(
      server.data_dir,
      "select coalesce(network, owner_account_id) as place from sites where site_id = ?",
      task.site_id,
    );
    taken.push(of_site!.place);
    const outcome = { status: "done", reason: null, warnings: [], pictures: { desktop: null, phone: null } } as const;
    const seen = { console: [], failed_requests: [], dom_summary: null };
    await store.renders.settle(task, { ...outcome, seen });
  }
  return taken;
}

const waiting = () =>
  Object.fromEntries(
    read<{ place: string; n: number }>(
      server.data_dir,
      `select network as place, count(*) as n from renders join sites using (site_id)
       where status = 'pending' group by network order by network`,
    ).map(({ place, n }) => [place, n]),
  );

test("CONTRACT 9: networks take their turns, however many one of them has waiting", async () => {
  await crowd("many", 40);
  await crowd("some", 2);
  await crowd("afew", 3);
  expect(await turns(9)).toEqual(["many", "some", "afew", "many", "some", "afew", "many", "afew", "many"]);
});

test("CONTRACT 9: what has an owner is looked at first, accounts in turn", async () => {
  const { data_dir } = server;
  await crowd("many", 4);
  const [ann, bob] = [await visitorOf(server), await visitorOf(server)];
  for (const [who, count] of [
    [ann, 3],
    [bob, 1],
  ] as const) {
    for (let n = 0; n < count; n++) {
      const { site_id } = await who.deploy({ "index.html": `<title>${n}</title>${n}` });
      write(
        data_dir,
        "insert into renders (version_no, site_id, status, asked_at) select version_no, site_id, 'pending', version_no + 1000 from versions where site_id = ?",
        site_id,
      );
    }
  }
  const names: Record<string, string> = { [ann.person.account_id]: "Ann", [bob.person.account_id]: "Bob" };
  const order = (await turns(6)).map((place) => names[place] ?? place);
  expect(order).toEqual(["Ann", "Bob", "Ann", "Ann", "many", "many"]);
});

test("CONTRACT 9: no more than 500 wait; a network has half of them at most while others wait, and loses its own first", async () => {
  await crowd("many", 700);
  await store.renders.take();
  expect(waiting()).toEqual({ many: MOST });
  await crowd("some", 300);
  await crowd("afew", 3);
  await store.renders.take();
  expect(waiting()).toEqual({ afew: 3, many: 248, some: 248 });
  const given_up = read(server.data_dir, "select distinct reason from renders where status = 'failed'");
  expect(given_up).toEqual([{ reason: "Too many versions were waiting to be looked at." }]);
  // Who waits longest does so no more: the newest are those that somebody still looks at.
  const [oldest] = read<{ oldest: number }>(
    server.data_dir,
    "select min(asked_at) as oldest from renders join sites using (site_id) where status = 'pending' and network = 'many'",
  );
  expect(oldest!.oldest).toBe(700 - 248 + 1);
});

test("CONTRACT 9: owners lose none as long as others have any", async () => {
  await crowd("many", 600);
  const ann = await visitorOf(server);
  const { site_id } = await ann.deploy(PAGE);
  write(
    server.data_dir,
    "insert into renders (version_no, site_id, status, asked_at) select version_no, site_id, 'pending', 0 from versions where site_id = ?",
    site_id,
  );
  expect((await store.renders.take())!.site_id).toBe(site_id);
  expect(waiting()).toEqual({ many: MOST / 2, null: 1 });
});
