/** CONTRACT 9: which versions wait for the engine, as whoever takes them sees it: bounded, owners' first, and in turn by where
 *  they come from. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore, type Store } from "../../src/store/index.ts";
import type { RenderOutcome } from "../../src/store/renders.ts";
import { read, write } from "../kit/database.ts";
import { addSites } from "../kit/many.ts";
import { signUp } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

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
    await store.renders.settle(task, SEEN);
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

test("CONTRACT 9: after two of owners, accounts in turn, comes one of a site without an owner", async () => {
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
  expect(order).toEqual(["Ann", "Bob", "many", "Ann", "Ann", "many"]);
});

test("CONTRACT 9: no more than 500 wait; a network has half of them at most while others wait, and loses its own first", async () => {
  await crowd("many", 700);
  await store.renders.take();
  expect(waiting()).toEqual({ many: MOST });
  await crowd("some", 300);
  await crowd("afew", 3);
  await store.renders.take();
  expect(waiting()).toEqual({ afew: 3, many: 249, some: 248 }); // who waits longest has what is left over
  const given_up = read(server.data_dir, "select distinct reason from renders where status = 'failed'");
  expect(given_up).toEqual([{ reason: "Too many versions were waiting to be looked at." }]);
  // Who waits longest does so no more: the newest are those that somebody still looks at.
  const [oldest] = read<{ oldest: number }>(
    server.data_dir,
    "select min(asked_at) as oldest from renders join sites using (site_id) where status = 'pending' and network = 'many'",
  );
  expect(oldest!.oldest).toBe(700 - 249 + 1);
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

interface Many {
  /** Four letters. */
  name: string;
  /** So many versions wait. */
  count: number;
  /** Of each, by its number from 0. */
  network: (n: number) => string;
  account?: (n: number) => string;
}

/** Versions that wait since one moment after the other, as deploys from these networks and accounts leave them. */
async function asked({ name, count, network, account = () => "" }: Many): Promise<void> {
  const { data_dir } = server;
  const site = await server.deploy(PAGE);
  addSites(data_dir, site, count, name);
  const rows = read<{ site_id: string; version_no: number }>(
    data_dir,
    "select site_id, version_no from versions where site_id glob ? order by version_no",
    `site_${name}0*`,
  );
  const values = JSON.stringify(
    rows.map(({ site_id, version_no }, n) => ({ site_id, version_no, from: network(n), owner: account(n) || null })),
  );
  const of = (member: string) => `value->>'${member}'`;
  write(
    data_dir,
    `update sites set owner_account_id = ${of("owner")}, expires_at = iif(${of("owner")} is null, expires_at, null)
     from json_each(?) where sites.site_id = ${of("site_id")}`,
    values,
  );
  write(
    data_dir,
    `insert into renders (version_no, site_id, status, asked_at, asked_from)
     select ${of("version_no")}, ${of("site_id")}, 'pending', ${of("version_no")}, ${of("from")} from json_each(?)`,
    values,
  );
}

/** Whose turns come: four letters of the site. */
async function names(most: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < most) {
    const task = (await store.renders.take())!;
    taken.push(task.site_id.slice("site_".length, "site_".length + 4));
    await store.renders.settle(task, SEEN);
  }
  return taken;
}

const SEEN: RenderOutcome = {
  status: "done",
  reason: null,
  warnings: [],
  seen: { console: [], failed_requests: [], dom_summary: null },
  pictures: { desktop: null, phone: null },
};

const waitingOf = (name: string): number =>
  read<{ n: number }>(
    server.data_dir,
    "select count(*) as n from renders where status = 'pending' and site_id glob ?",
    `site_${name}0*`,
  )[0]!.n;

describe("RELIABILITY A29: neither accounts nor networks make one person many places", () => {
  test("sixty accounts of one network have one turn, as one owner elsewhere has", async () => {
    await asked({ name: "many", count: 60, network: () => "theirs", account: (n) => `acct_${n}` });
    await asked({ name: "ours", count: 3, network: () => "ours", account: () => "acct_ours" });
    expect(await names(7)).toEqual(["many", "ours", "many", "ours", "many", "ours", "many"]);
  });

  test("an account that deploys from sixty networks has one turn", async () => {
    await asked({ name: "many", count: 60, network: (n) => `net-${n}`, account: () => "acct_theirs" });
    await asked({ name: "ours", count: 3, network: () => "ours", account: () => "acct_ours" });
    expect(await names(7)).toEqual(["many", "ours", "many", "ours", "many", "ours", "many"]);
  });

  test("a source that waited no more in between is not new: its turn is remembered", async () => {
    await asked({ name: "ours", count: 3, network: () => "ours" });
    await asked({ name: "they", count: 1, network: () => "theirs" });
    expect(await names(2)).toEqual(["ours", "they"]);
    await asked({ name: "them", count: 1, network: () => "theirs" });
    expect(await names(3)).toEqual(["ours", "them", "ours"]);
  });

  test("however many owners wait, each third turn is of a site without one", async () => {
    await asked({ name: "many", count: 40, network: (n) => `net-${n}`, account: (n) => `acct_${n}` });
    await asked({ name: "free", count: 2, network: (n) => `free-${n}` });
    expect(await names(7)).toEqual(["many", "many", "free", "many", "many", "free", "many"]);
  });
});

describe("RELIABILITY A29: a crowd of places leaves the queue full, and does not empty it", () => {
  test("of 501 places with one version each the one that came last loses it", async () => {
    await asked({ name: "many", count: 500, network: (n) => `net-${n}` });
    await asked({ name: "last", count: 1, network: () => "last" });
    await store.renders.take();
    expect([waitingOf("many"), waitingOf("last")]).toEqual([MOST, 0]);
    const failed = read(server.data_dir, "select reason from renders where status = 'failed'");
    expect(failed).toEqual([{ reason: "Too many versions were waiting to be looked at." }]);
  });

  test("of 400 places with two each all keep one, and who waited longest both", async () => {
    await asked({ name: "many", count: 800, network: (n) => `net-${n >> 1}` });
    await store.renders.take();
    expect(waitingOf("many")).toBe(MOST);
    const places = read<{ n: number }>(
      server.data_dir,
      "select count(*) as n from renders where status = 'pending' group by asked_from order by min(version_no)",
    );
    expect(places.map(({ n }) => n)).toEqual([...Array(100).fill(2), ...Array(300).fill(1)]);
  });

  test("six hundred accounts of one network take no place from an owner elsewhere", async () => {
    await asked({ name: "many", count: 600, network: () => "theirs", account: (n) => `acct_${n}` });
    await asked({ name: "ours", count: 1, network: () => "ours", account: () => "acct_ours" });
    await store.renders.take();
    expect([waitingOf("many"), waitingOf("ours")]).toEqual([MOST / 2, 1]);
  });

  test("owners leave a third of the room to sites without one", async () => {
    await asked({ name: "many", count: 700, network: (n) => `net-${n}`, account: (n) => `acct_${n}` });
    await asked({ name: "free", count: 300, network: (n) => `free-${n}` });
    await store.renders.take();
    expect([waitingOf("many"), waitingOf("free")]).toEqual([334, 166]);
  });
});

test("CONTRACT 9: what was seen of a version that is deleted meanwhile is stored for no other, which may have its number", async () => {
  const site = await server.deploy(PAGE);
  const number = "select version_no from versions where site_id = ?";
  const [{ version_no } = { version_no: 0 }] = read<{ version_no: number }>(server.data_dir, number, site.site_id);
  const pending = "insert into renders (version_no, site_id, status, asked_at) values (?, ?, 'pending', 1)";
  write(server.data_dir, pending, version_no, site.site_id);
  const task = (await store.renders.take())!;
  expect(await store.renders.settle({ ...task, version_id: "0123456789abcdef" }, SEEN)).toBe(false);
  expect(await store.renders.settle({ ...task, site_id: "site_x" }, SEEN)).toBe(false);
  expect(await store.renders.settle(task, SEEN)).toBe(true);
});

test("RELIABILITY A29: nothing is kept of who deployed once a version was looked at, or given up", async () => {
  await asked({ name: "many", count: 502, network: (n) => `net-${n}` });
  const task = (await store.renders.take())!;
  await store.renders.settle(task, SEEN);
  const left = read(
    server.data_dir,
    "select status, count(*) as n, count(asked_from) as known from renders group by status order by status",
  );
  expect(left).toEqual([
    { status: "done", n: 1, known: 0 },
    { status: "failed", n: 2, known: 0 },
    { status: "pending", n: 499, known: 499 },
  ]);
});

test("RELIABILITY A29: a deploy waits by its IPv4 address or IPv6 /48, an owner's too, and no address is kept", async () => {
  const never = join(server.data_dir, "never");
  await writeFile(never, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  const settings = { SVC_RENDER: "chrome", SVC_CHROME: never }; // everything waits for its browser
  await using busy = await startServer("--trust-proxy", "127.0.0.1", settings);
  const person = await signUp(busy);
  const deploy = async (address: string, headers = {}) => {
    const answer = await busy.post(zipOf({ "index.html": address }), { "x-forwarded-for": address, ...headers });
    expect(answer.status).toBe(200);
    const { site_id } = (await answer.json()) as { site_id: string };
    const row = "select asked_from from renders where site_id = ?";
    return read<{ asked_from: string }>(busy.data_dir, row, site_id)[0]!.asked_from;
  };
  const [a, b, c, d] = [
    await deploy("2001:db8:1:1::1"),
    await deploy("2001:db8:1:2::1", person.bearer),
    await deploy("2001:db8:2:1::1"),
    await deploy("192.0.2.7"),
  ];
  expect(b).toBe(a);
  expect(new Set([a, c, d]).size).toBe(3);
  for (const one of [a, c, d]) expect(one).toMatch(/^[\w-]{22}$/);
});
