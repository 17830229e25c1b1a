/** RELIABILITY 2, "Full disk": every write goes through one frame, which turns what a disk or another process prevents
 *  into an answer and tells whoever serves of what changed. */
import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../src/base/errors.ts";
import type { NewToken } from "../../src/store/sites.ts";
import { type Publish, type PublishTarget, PUBLISHING } from "../../src/store/publish.ts";
import { AUDIT } from "../../src/store/audit.ts";
import { type Op, statement, ifDiskAllows, makingRoom, type Backend } from "../../src/store/operation.ts";
import { ACCOUNTS } from "../../src/store/people/accounts.ts";
import { DEVICE_LOGINS } from "../../src/store/people/device-logins.ts";
import { OPERATOR_ACCOUNTS } from "../../src/store/people/operator-accounts.ts";
import { SESSIONS } from "../../src/store/people/sessions.ts";
import { sweeping, takeHold } from "../../src/store/sweep.ts";
import { OWNERSHIP } from "../../src/store/ownership.ts";
import { REPORTS } from "../../src/store/reports.ts";
import { UPKEEP } from "../../src/store/upkeep.ts";
import { MODERATION } from "../../src/store/moderation.ts";
import { databaseFile } from "../../src/store/sqlite/database.ts";
import { sqliteDb } from "../../src/store/sqlite/driver.ts";
import { openRates, prepareRates } from "../../src/store/sqlite/rates.ts";
import { holdWrites, openFile, UNBOUNDED } from "../kit/database.ts";
import { operator } from "../kit/operator.ts";
import { startServer } from "../kit/server.ts";

const NOW = Date.parse("2031-05-01T00:00:00Z");
const HOUR = 3_600_000;
/** More than what is left in the pages that a small database has. */
const LONG = "x".repeat(200_000);

let data_dir: string;
let sqlite: Database;
/** How often whoever serves was told. */
let heard: number;
let made_room: number;
let backend: Backend;

beforeEach(async () => {
  data_dir = await mkdtemp(join(tmpdir(), "svc-test-"));
  sqlite = databaseFile.openStore(data_dir);
  databaseFile.migrate(sqlite);
  sqlite.run("PRAGMA busy_timeout = 0"); // else each refusal takes five seconds
  [heard, made_room] = [0, 0];
  backend = {
    db: sqliteDb(sqlite, () => void heard++),
    place: {
      put: async () => ({
        *allThere() {
          return true;
        },
      }),
      makeRoom: () => made_room++ === 0,
    },
    now: () => NOW,
  };
  await deploy("one", newSite("site_a", "slug-a"));
  await deploy("two", { kind: "existing", site_id: "site_a", by: { token_hash: "token-site_a" } });
  heard = 0;
});
afterEach(async () => {
  sqlite.close();
  await rm(data_dir, { recursive: true, force: true });
});

const newSite = (site_id: string, slug: string): PublishTarget => ({
  kind: "new",
  site_id,
  owner: null,
  network: null,
  expires_at: NOW + HOUR,
  slugs: [slug],
  idempotency: null,
});

function deploy(content: string, target: PublishTarget) {
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const version: Publish["version"] = {
    version_id: sha256.slice(0, 16),
    digest: sha256,
    title: content,
    spa: { enabled: false, rule: "none" },
    files: 1,
    bytes: 3,
    manifest: [{ path: "index.html", sha256, bytes: 3, media_type: "text/html", made: false }],
    blobs: new Map(),
    healed: [],
    warnings: [],
    checked: { pages: 0, links: 0, files: 0 },
    renderer: null,
    suspicions: [],
  };
  const tokens: NewToken[] = target.kind === "new" ? [{ hash: `token-${target.site_id}`, kind: "manage" }] : [];
  return PUBLISHING.publish.on(backend)({ target, version, tokens, bounds: UNBOUNDED });
}

const by = { token_hash: "token-site_a" };
const one = new Bun.CryptoHasher("sha256").update("one").digest("hex").slice(0, 16);
const report = (text: string) => ({
  report_id: "rep_1",
  site_id: "site_a",
  slug: "slug-a",
  reason: "spam",
  text,
  email: null,
  created_at: "2031-05-01T00:00:00.000Z",
});
const person = { account_id: "acct_a", session_id: "sess_a" };
const session = { session_id: "sess_a", hash: "hash", client: "" };
const account = { account_id: "acct_a", email: "a@example.org", password_hash: "-" };

/** Each write, and how often serving is to hear of it. */
const WRITES: [name: string, write: () => Promise<unknown>, told: 0 | 1][] = [
  ["a deploy", () => deploy("three", newSite("site_b", "slug-b")), 1],
  ["a rollback", () => PUBLISHING.rollback.on(backend)({ site_id: "site_a", by, version_id: one }), 1],
  ["a takedown", () => MODERATION.actOnSite.on(backend)({ action: "disable", site_id: "site_a", reason: "spam" }), 1],
  ["a deletion by the operator", () => MODERATION.actOnSite.on(backend)({ action: "delete", site_id: "site_a" }), 1],
  ["an expiry", () => sweeping.expireSites(backend, NOW + HOUR), 1],
  ["the sweep of sessions", () => sweeping.forgetUnused(backend, NOW), 0],
  ["a report", () => REPORTS.add.on(backend)(report("bad")), 0],
  ["a sign-up", () => ACCOUNTS.create.on(backend)({ ...account, session, invitation_hash: null }), 0],
  ["a sign-in", () => SESSIONS.start.on(backend)(session, account), 0],
  ["an account by the operator", () => OPERATOR_ACCOUNTS.create.on(backend)(account), 0],
  ["a line in the audit log", () => AUDIT.record.on(backend)("gc", "swept"), 0],
  [
    "a device login",
    () => DEVICE_LOGINS.start.on(backend)({ device_hash: "d", user_code: "AAAAAAAA", address: "", client: "" }),
    0,
  ],
  ["a backup's hold", async () => (await takeHold(backend)).release(), 0],
  [
    "the server's address",
    () => UPKEEP.rememberServerAddress.on(backend)({ base_url: "https://a.example", sites_domain: "a.example" }),
    0,
  ],
];

const INSERT = statement("insert into holds (hold_id, expires_at) values (?, ?)");

const refused = async (write: Promise<unknown>): Promise<Refusal> => {
  const error = await write.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
};

describe("while another process holds the database", () => {
  test.each(WRITES)("%s is refused with 503 unavailable, and changes nothing", async (_, write) => {
    const writes = holdWrites(data_dir);
    const { code, status, headers, cause } = await refused(write());
    expect({ code, status, headers }).toEqual({ code: "unavailable", status: 503, headers: { "retry-after": "1" } });
    expect(cause).toMatchObject({ code: "SQLITE_BUSY" });
    expect([heard, made_room]).toEqual([0, 0]);
    writes.letGo();
    await write();
  });

  test("what is only noted down refuses nobody", async () => {
    await ACCOUNTS.create.on(backend)({ ...account, session, invitation_hash: null });
    const later: Backend = { ...backend, now: () => NOW + HOUR };
    const writes = holdWrites(data_dir);
    expect(await SESSIONS.find.on(later)("hash")).toMatchObject({ last_used_at: "2031-05-01T00:00:00.000Z" });
    writes.letGo();
    await SESSIONS.find.on(later)("hash");
    expect(await SESSIONS.find.on(later)("hash")).toMatchObject({ last_used_at: "2031-05-01T01:00:00.000Z" });
  });

  test("a backup that is whole does not fail because its hold cannot be dropped: it lapses", async () => {
    const hold = await takeHold(backend);
    const writes = holdWrites(data_dir);
    await hold.release();
    writes.letGo();
    expect(sqlite.query("select expires_at from holds").all()).toEqual([{ expires_at: NOW + HOUR }]);
  });

  test("a call that cannot be taken back from the counts stays counted, and nobody is refused for it", async () => {
    prepareRates(data_dir);
    const rates = openRates(data_dir, () => NOW);
    const take = () => rates.take("claim", "ann", [{ count: 2, window_ms: HOUR }]);
    const { undo } = await take();
    const other = openFile(data_dir, "rates.db", false);
    other.run("BEGIN IMMEDIATE");
    await undo();
    expect(await refused(take())).toMatchObject({ code: "unavailable", status: 503 });
    other.run("ROLLBACK");
    other.close();
    expect((await take()).windows).toMatchObject([{ remaining: 0 }]);
    rates.close();
  });
});

describe("when the disk is full", () => {
  const fill = () => {
    const { page_count } = sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()!;
    sqlite.run(`PRAGMA max_page_count = ${page_count}`);
  };

  test.each<[string, () => Promise<unknown>]>([
    ["a report", () => REPORTS.add.on(backend)(report(LONG))],
    ["a deploy", () => deploy(LONG, newSite("site_b", "slug-b"))],
    ["an account by the operator", () => OPERATOR_ACCOUNTS.create.on(backend)({ ...account, password_hash: LONG })],
  ])("%s is refused with 507 storage_full", async (_, write) => {
    fill();
    const { code, status, headers } = await refused(write());
    expect({ code, status, headers }).toEqual({ code: "storage_full", status: 507, headers: { "retry-after": "60" } });
    expect(heard).toBe(0);
  });

  test.each<[string, () => Promise<unknown>, number]>([
    ["a takedown", () => MODERATION.actOnSite.on(backend)({ action: "disable", site_id: "site_a", reason: LONG }), 1],
    ["a line in the audit log", () => AUDIT.record.on(backend)("gc", LONG), 0],
  ])("%s makes room and is done all the same", async (_, write, told) => {
    fill();
    backend.place.makeRoom = () => {
      made_room++;
      sqlite.run("PRAGMA max_page_count = 1000000");
      return true;
    };
    await write();
    expect([heard, made_room]).toEqual([told, 1]);
  });

  test("a deploy that is refused gives the room back to what must go on", async () => {
    fill();
    await refused(deploy(LONG, newSite("site_b", "slug-b")));
    expect(made_room).toBe(1);
  });
});

/** As bun:sqlite throws where an fsync fails: nobody knows what of the COMMIT is on the disk. */
function* failsAtCommit(): Op<never> {
  throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
}

describe("where the outcome of a COMMIT is unknown", () => {
  test("whoever writes gets CommitUnknown, not a refusal that says nothing was stored", async () => {
    for (const write of [() => backend.db.write(failsAtCommit), () => backend.db.change(failsAtCommit, () => "all")]) {
      const thrown = await write().catch((error: unknown) => error);
      expect(thrown).not.toBeInstanceOf(Refusal);
      expect(thrown).toMatchObject({ name: "CommitUnknown", cause: { code: "SQLITE_IOERR_FSYNC" } });
    }
    expect(heard).toBe(0);
  });

  test("neither what makes room nor what is only noted down keeps it to itself", async () => {
    const write = () => backend.db.write(failsAtCommit);
    await expect(makingRoom(backend.place, write)).rejects.toMatchObject({ name: "CommitUnknown" });
    await expect(ifDiskAllows(write())).rejects.toMatchObject({ name: "CommitUnknown" });
    expect(made_room).toBe(0);
  });
});

test.each([
  ["do", () => INSERT.do("hold_x", NOW)],
  ["run", () => INSERT.run("hold_x", NOW)],
  ["each", () => INSERT.each([["hold_x", NOW]], "text int8")],
] as const)("a read that yields `%s` throws and writes nothing", async (_, op) => {
  const thrown = await backend.db.read<unknown>(op).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ message: expect.stringContaining("A read may only ask") });
  expect(sqlite.query("select * from holds").all()).toEqual([]);
});

describe("whoever serves", () => {
  test.each(WRITES)("hears of %s only where it changes sites", async (_, write, told) => {
    await write();
    expect(heard).toBe(told);
  });

  test("hears nothing of an act that changed nothing", async () => {
    expect(await MODERATION.actOnSite.on(backend)({ action: "enable", site_id: "site_a" })).toBe(false);
    expect(
      await OWNERSHIP.remove
        .on(backend)([], person)
        .catch((error) => error.code),
    ).toBe("unauthorized");
    expect(heard).toBe(0);
  });
});

test("a rollback over HTTP and a takedown at the terminal say that the database is busy, each in its own words", async () => {
  await using server = await startServer();
  const site = await server.deploy({ "index.html": "one" });
  await server.redeploy(site, { "index.html": "two" });
  const writes = holdWrites(server.data_dir);
  const acting = operator(server.data_dir, ["freeze", site.slug]);
  const answer = await server.api(`/sites/${site.site_id}/rollback`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.manage_token}`, "content-type": "application/json" },
    body: JSON.stringify({ version_id: site.version_id }),
  });
  const { code, stderr } = await acting;
  writes.letGo();
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await answer.json()).toMatchObject({ code: "unavailable", error: expect.stringContaining("busy") });
  expect([code, stderr]).toEqual([1, expect.stringContaining("The database was busy for 5 seconds: try again.")]);
}, 30_000);
