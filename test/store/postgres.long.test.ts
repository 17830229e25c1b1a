/** ARCHITECTURE, idea 3: the store's operations are one text for two backends. Here that of PostgreSQL: a real one, on which every
 *  statement is prepared, and operations answer as on SQLite. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { SQL } from "bun";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { type Op, statement } from "../../src/store/operation.ts";
import { openPool, type Pool } from "../../src/store/postgres/connection.ts";
import { numbered, postgresDb, withoutPage } from "../../src/store/postgres/driver.ts";
import { migrate } from "../../src/store/postgres/schema.ts";
import { databaseFile } from "../../src/store/sqlite/database.ts";
import { ROOT } from "../kit/paths.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

setDefaultTimeout(120_000);

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** A database with the schema. */
async function fresh(): Promise<{ url: string; sql: SQL }> {
  const url = await postgres.database();
  const sql = postgres.sql(url);
  await migrate(sql);
  return { url, sql };
}

describe("SCALE 7: the schema", () => {
  test("has the tables and columns of SQLite's, each as empty or full as there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
    const { sql } = await fresh();
    {
      using db = databaseFile.openStore(folder);
      databaseFile.migrate(db);
      const embedded = db
        .query<{ name: string }, []>(
          `select t.name || '.' || c.name || case when c."notnull" or (c.pk and t.wr) or lower(c.type) like '%integer%' and c.pk = 1 then ' not null' else '' end
             || ' ' || lower(c.type) as name
           from pragma_table_list t join pragma_table_info(t.name) c where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%'
           order by 1`,
        )
        .all();
      const shared: { name: string }[] = await sql.unsafe(
        `select table_name || '.' || column_name || case is_nullable when 'NO' then ' not null' else '' end
           || ' ' || case data_type when 'bigint' then 'integer' else data_type end as name
         from information_schema.columns where table_schema = 'public' and table_name <> 'schema_steps'
         order by (table_name || '.' || column_name) collate "C"`,
      );
      const bucket = [
        "blobs.stored not null boolean",
        "blobs.touched_at not null timestamp with time zone",
        "doomed.object not null text",
        ...["only_row", "n"].map((column) => `changes.${column} not null integer`),
        ...["box", "seen"].map((column) => `boxes.${column} not null integer`),
        ...["host", "version", "base_url", "sites_domain", "settings"].map((column) => `boxes.${column} not null text`),
        ...["started_at", "beat_at"].map((column) => `boxes.${column} not null timestamp with time zone`),
        ...["hit_no", "at", "ends_at"].map((column) => `hits.${column} not null integer`),
        "hits.key not null text",
        ...[
          "service.only_row not null integer",
          "service.id not null text",
          "service.state not null text",
          "service.filled_by text",
        ],
        ...["name", "body"].map((column) => `shared_files.${column} not null text`),
        ...["day", "views", "bots", "misses"].map((column) => `stats_days.${column} not null integer`),
        ...["site_id", "visitors"].map((column) => `stats_days.${column} not null text`),
        ...["day", "count", "internal"].map((column) => `stats_names.${column} not null integer`),
        ...["site_id", "kind", "name"].map((column) => `stats_names.${column} not null text`),
        ...["stats_salt.only_row not null integer", "stats_salt.day not null integer", "stats_salt.salt not null text"],
        ...["turns.name not null text", "turns.box not null integer", "turns.until not null timestamp with time zone"],
      ];
      const both = [...embedded.map(({ name }) => name), ...bucket];
      expect(shared.map(({ name }) => name).toSorted()).toEqual(both.toSorted());
      expect(embedded.length).toBeGreaterThan(200);
    }
    const uncollated = await sql.unsafe(
      `select table_name, column_name from information_schema.columns
       where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`,
    );
    expect([...uncollated]).toEqual([]);
    await sql.close();
    await rm(folder, { recursive: true });
  });

  test("is taken once, by one of eight that come at the same time", async () => {
    const url = await postgres.database();
    const all = Array.from({ length: 8 }, () => postgres.sql(url));
    await Promise.all(all.map(migrate));
    const steps: { n: string }[] = await all[0]!.unsafe("select count(*) as n from schema_steps");
    expect(Number(steps[0]!.n)).toBe(1);
    await Promise.all(all.map((sql) => sql.close()));
  });

  test("of a newer program is refused, and nothing is changed", async () => {
    const { sql } = await fresh();
    await sql.unsafe("insert into schema_steps (step, needs) values (1000, 1000)");
    await expect(migrate(sql)).rejects.toThrow("was written by a newer svc-server (schema 1000");
    await sql.unsafe("update schema_steps set needs = 25 where step = 1000");
    await migrate(sql); // a step that this program can run beside
    await sql.close();
  });
});

test("SCALE 2: PostgreSQL prepares every statement of the store", async () => {
  const child = Bun.spawn([process.execPath, join(ROOT, "test/store/statements.ts")], { stdout: "pipe" });
  // Rates and statistics have files of their own.
  const all = ((await child.stdout.json()) as string[]).filter((text) => !/\bhits\b/.test(text));
  const { sql } = await fresh();
  const refused: string[] = [];
  for (const [n, text] of all.entries()) {
    await sql.unsafe(`prepare s${n} as ${numbered(text)}`).catch((error: unknown) => refused.push(`${error}: ${text}`));
  }
  expect(refused).toEqual([]);
  expect(all.length).toBeGreaterThan(400);
  const quoted = (text: string) => text.split("'").filter((_, n) => n % 2 === 1);
  expect(all.filter((text) => quoted(text).some((part) => part.includes("?")))).toEqual([]); // the driver takes it for a place
  await sql.close();
});

const holds = {
  add: statement("insert into holds (hold_id, expires_at) values (?, ?)"),
  all: statement<{ hold_id: string; expires_at: number }>("select hold_id, expires_at from holds order by hold_id"),
  of: statement<{ expires_at: number }>("select expires_at from holds where hold_id = ?"),
  move: statement("update holds set expires_at = ?2 where hold_id = ?1"),
  sum: statement<{ n: number; most: number | null; held: number }>(
    "select coalesce(sum(expires_at), 0) as n, max(expires_at) as most, exists (select 1 from holds) as held from holds",
  ),
};

describe("SCALE 2: the driver", () => {
  let pool: Pool;
  let address: string;
  let sql: SQL;
  let db: ReturnType<typeof postgresDb>;
  let heard: (readonly string[] | "all")[];
  beforeEach(async () => {
    const made = await fresh();
    sql = made.sql;
    address = made.url;
    pool = openPool(made.url, 4);
    heard = [];
    db = postgresDb(pool, { ...withoutPage(), advance: (slugs) => void heard.push(slugs) });
  });
  afterEach(async () => {
    await pool.close();
    await sql.close();
  });
  const ids = async () => (await db.read(() => holds.all.all())).map(({ hold_id }) => hold_id);

  test("gives numbers and conditions as SQLite does, and null for no row", async () => {
    expect(await db.read(() => holds.sum.get())).toEqual({ n: 0, most: null, held: 0 });
    await db.write(() => holds.add.do("a", 2 ** 41));
    expect(await db.read(() => holds.sum.get())).toEqual({ n: 2 ** 41, most: 2 ** 41, held: 1 });
    expect(await db.read(() => holds.of.get("nothing"))).toBeNull();
    expect(await db.write(() => holds.move.run("nothing", 1))).toEqual({ changes: 0 });
    expect(await db.write(() => holds.move.run("a", 1))).toEqual({ changes: 1 });
  });

  test("takes many rows of any characters, inserted together or one by one, in the order of their bytes", async () => {
    const names = ["~", "2026", '"', "\\", "{a,b}", "NULL", "", "ä", "Z", "a", "line\nbreak", "\u{1F600}", "nul\0l"];
    await db.write(() => holds.add.each(names.map((name, n) => [name, n]), "text int8")); // prettier-ignore
    const stored = names.map((name) => name.replace("\0", "\uFFFD"));
    const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    expect(await ids()).toEqual(stored.toSorted(inBytes));
    await db.write(() => holds.move.each(stored.map((name) => [name, 7]), "text int8")); // prettier-ignore
    expect(await db.read(() => holds.sum.get())).toMatchObject({ n: 7 * names.length });
    await db.write(() => holds.add.each([], "text int8"));
  });

  test.each(["do", "get"] as const)(
    "a failure leaves nothing of the whole behind, whoever waits for it: %s",
    async (way) => {
      const failing = db.change(
        function* (): Op<string[]> {
          yield* holds.add.do("a", 1);
          yield* holds.add.do("a", 2);
          if (way === "get") yield* holds.sum.get();
          return [];
        },
        () => "all",
      );
      await expect(failing).rejects.toMatchObject({ errno: "23505" }); // and not that the transaction is aborted
      expect([await ids(), heard]).toEqual([[], []]);
    },
  );

  test("what the operation itself throws undoes it, too", async () => {
    const failing = db.write(function* (): Op<void> {
      yield* holds.add.run("a", 1);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await ids()).toEqual([]);
  });

  test("tells whoever serves of slugs that changed, and of nothing else", async () => {
    await db.write(() => holds.add.do("a", 1));
    await db.change(() => holds.add.do("b", 1), () => []); // prettier-ignore
    await db.change(() => holds.add.do("c", 1), () => ["one"]); // prettier-ignore
    await db.change(() => holds.add.do("d", 1), () => "all"); // prettier-ignore
    expect(heard).toEqual([["one"], "all"]);
  });

  test("a read that writes is refused", async () => {
    await expect(db.read<unknown>(() => holds.add.run("a", 1))).rejects.toThrow("A read may only ask");
  });

  test("a read of several statements is one snapshot", async () => {
    await db.write(() => holds.add.do("a", 1));
    const between = Promise.withResolvers<void>();
    const [first, second] = await Promise.all([
      db.read(function* () {
        const before = yield* holds.all.all();
        between.resolve();
        for (let i = 0; i < 50; i++) yield* holds.sum.get(); // until the other one is through
        return [before, yield* holds.all.all()];
      }),
      between.promise.then(() => db.write(() => holds.add.do("b", 1))).then(ids),
    ]);
    expect(first[1]).toEqual(first[0]!);
    expect(second).toEqual(["a", "b"]);
  });

  test("one writer at a time: what two read and then write is never lost", async () => {
    await db.write(() => holds.add.do("n", 0));
    const add = () =>
      db.write(function* () {
        const { expires_at } = (yield* holds.of.get("n"))!;
        yield* holds.move.do("n", expires_at + 1);
      });
    await Promise.all(Array.from({ length: 40 }, add));
    expect(await db.read(() => holds.of.get("n"))).toEqual({ expires_at: 40 });
  });

  test("what is only noted down waits for no writer", async () => {
    await db.write(() => holds.add.do("a", 1));
    const holding = await sql.reserve();
    await holding.unsafe("begin");
    await holding.unsafe("select pg_advisory_xact_lock($1)", [0x73_76_63]);
    await db.note(() => holds.move.do("a", 5));
    expect(await db.read(() => holds.of.get("a"))).toEqual({ expires_at: 5 });
    await holding.unsafe("rollback");
    holding.release();
  });

  test("whoever does not get the lock is told that the server is busy, and changes nothing", async () => {
    const holding = await sql.reserve();
    await holding.unsafe("begin");
    await holding.unsafe("select pg_advisory_xact_lock($1)", [0x73_76_63]);
    const late = await db.write(() => holds.add.do("a", 1)).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "unavailable", status: 503, headers: { "retry-after": "1" } });
    await holding.unsafe("rollback");
    holding.release();
    expect(await ids()).toEqual([]);
  });

  test("reads are answered while all writes wait for the lock", async () => {
    const holding = await sql.reserve();
    await holding.unsafe("begin");
    await holding.unsafe("select pg_advisory_xact_lock($1)", [0x73_76_63]);
    const writes = Array.from({ length: 6 }, (_, n) => db.write(() => holds.add.do(`w${n}`, 1)));
    await Bun.sleep(100);
    const began = performance.now();
    for (let n = 0; n < 20; n++) expect(await ids()).toEqual([]);
    expect(performance.now() - began).toBeLessThan(1000);
    await holding.unsafe("rollback");
    holding.release();
    await Promise.all(writes);
    expect(await ids()).toHaveLength(6);
  });

  /** Ends every connection but this one's. */
  const cutAll = () =>
    sql.unsafe(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );

  test("connections that the server closed are made anew, and nobody hears of it", async () => {
    for (let turn = 0; turn < 3; turn++) {
      await cutAll();
      await Promise.all([db.write(() => holds.add.do(`w${turn}`, 1)), ids(), db.note(() => holds.move.do("a", 1))]);
    }
    expect(await ids()).toEqual(["w0", "w1", "w2"]);
  });

  test("a connection that goes amid a transaction: it is done once more, and once", async () => {
    let tries = 0;
    await db.write(function* () {
      yield* holds.add.run("a", 1);
      if (tries++ === 0) yield* statement("select pg_terminate_backend(pg_backend_pid())").get();
      yield* holds.add.run("b", 1);
    });
    expect([tries, await ids()]).toEqual([2, ["a", "b"]]);
  });

  test("a writer that stands still loses the lock after five seconds, and begins again", async () => {
    let tries = 0;
    const standing = db.write(function* () {
      yield* holds.add.run("a", 1);
      if (tries++ === 0) Bun.sleepSync(6000); // as under SIGSTOP
      yield* holds.add.run("b", 1);
    });
    await standing;
    expect([tries, await ids()]).toEqual([2, ["a", "b"]]);
  });

  /** A driver behind a connection that is cut at the first COMMIT, before or after that reached the server; afterwards nobody gets
   *  through where it says so. */
  async function behindCut(cut: "before" | "after", then: "open" | "shut") {
    const { hostname, port } = new URL(address);
    let done = false;
    const front = Bun.listen<{ back: Bun.Socket | null; waiting: Uint8Array[] }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        async open(client) {
          client.data = { back: null, waiting: [] };
          if (done && then === "shut") return void client.terminate();
          client.data.back = await Bun.connect({
            hostname,
            port: Number(port),
            socket: {
              data: (_, bytes) => void client.write(bytes),
              close: () => void client.end(),
            },
          });
          for (const bytes of client.data.waiting) client.data.back.write(bytes);
        },
        async data(client, bytes) {
          const { back, waiting } = client.data;
          if (back === null) return void waiting.push(bytes.slice());
          if (done || !bytes.toString("latin1").includes("commit\0")) return void back.write(bytes);
          done = true;
          if (cut === "after") back.write(bytes);
          else back.terminate();
          client.terminate();
        },
        close: (client) => void client.data.back?.end(),
      },
    });
    const behind = openPool(address.replace(`:${port}`, `:${front.port}`), 1);
    const { write } = postgresDb(behind, withoutPage());
    return {
      write,
      async [Symbol.asyncDispose]() {
        await behind.close();
        front.stop(true);
      },
    };
  }

  test("a COMMIT whose answer is lost, and that came through: it is done, and once", async () => {
    await using behind = await behindCut("after", "open");
    let tries = 0;
    const answer = await behind.write(function* () {
      tries++;
      yield* holds.add.run("a", 1);
      return "done";
    });
    expect([answer, tries, await ids()]).toEqual(["done", 1, ["a"]]);
  });

  test("one that did not come through: 503, which says to try again", async () => {
    await using behind = await behindCut("before", "open");
    const told = await behind.write(() => holds.add.do("a", 1)).catch((error: unknown) => error);
    expect(told).toMatchObject({ code: "unavailable", status: 503, headers: { "retry-after": "1" } });
    expect(await ids()).toEqual([]);
  });

  test("one of which nobody can tell: 503 that does not say to try again", async () => {
    await using behind = await behindCut("after", "shut");
    const told = (await behind.write(() => holds.add.do("a", 1)).catch((error: unknown) => error)) as Error;
    expect(told).toMatchObject({ code: "unavailable", status: 503, headers: {} });
    expect(told.message).toContain("look before you try again");
  });

  test.each([
    ["from the first", false],
    ["any more", true],
  ])("a server that answers nothing %s: 503 within four seconds", async (_, warm) => {
    await using silent = await behindSilence(address);
    if (warm) await silent.db.read(() => holds.all.all());
    silent.begin();
    const began = performance.now();
    const told = await silent.db.read(() => holds.all.all()).catch((error: unknown) => error);
    expect(told).toMatchObject({ code: "unavailable", status: 503 });
    expect(performance.now() - began).toBeLessThan(4500);
  });
});

/** A driver behind a connection that swallows everything once it is told to. */
async function behindSilence(address: string) {
  const { hostname, port } = new URL(address);
  let silent = false;
  const front = Bun.listen<{ back: Promise<Bun.Socket> }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const data = (_: Bun.Socket, bytes: Uint8Array) => void (silent || client.write(bytes));
        client.data = { back: Bun.connect({ hostname, port: Number(port), socket: { data } }) };
      },
      data: async (client, bytes) => {
        const own = bytes.slice();
        const back = await client.data.back;
        if (!silent) back.write(own);
      },
      close: (client) => void client.data.back.then((back) => back.end()),
    },
  });
  const pool = openPool(address.replace(`:${port}`, `:${front.port}`), 2);
  return {
    db: postgresDb(pool, withoutPage()),
    begin: () => void (silent = true),
    async [Symbol.asyncDispose]() {
      await pool.close();
      front.stop(true);
    },
  };
}
