/** RELIABILITY 2, Start: a data directory that an earlier release left is brought up to date with all that is in it. */
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA, secretFiles } from "../../src/store/index.ts";
import { hashToken } from "../../src/base/tokens.ts";
import { contentHash, deployDigest, versionIdOf } from "../../src/base/version-id.ts";
import { read, write } from "../kit/database.ts";
import { operate } from "../kit/operator.ts";
import { ROOT } from "../kit/paths.ts";
import { bearer } from "../kit/people.ts";
import { expectOldFacts, OLD_SCHEMAS, unpackOldFolder } from "../kit/old-folders.ts";
import { ended, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

const FOLDER = join(ROOT, "src", "store", "sqlite");
/** Step n of the schema, as it was released. */
const STEPS = readdirSync(FOLDER)
  .filter((name) => /^schema-\d+\.sql$/.test(name))
  .toSorted((a, b) => Number(/\d+/.exec(a)![0]) - Number(/\d+/.exec(b)![0]))
  .map((name) => readFileSync(join(FOLDER, name), "utf8"));

const AT = "2026-10-01T00:00:00.000Z";
const [SITE, OWNED, GONE] = [`site_${"a".repeat(20)}`, `site_${"b".repeat(20)}`, `site_${"c".repeat(20)}`];
const MANAGE = `svc_manage_${"m".repeat(43)}`;
const SESSION = `svc_session_${"s".repeat(43)}`;
const PASSWORD = "correct horse battery";
const PAGES = ["<title>One</title>first", "<title>Two</title>second"].map((text) => Buffer.from(text));

const versionOf = (page: Uint8Array) => {
  const digest = deployDigest([["index.html", contentHash(page)]]);
  return { digest, version_id: versionIdOf(digest) };
};
const [FIRST, SECOND] = PAGES.map((page) => versionOf(page).version_id) as [string, string];

/** Two versions of each site, the second one live; one site that is gone. */
function fillSites(db: Database): void {
  for (const page of PAGES) db.run("insert into blobs (sha256, bytes) values (?, ?)", [contentHash(page), page.length]);
  for (const [site_id, slug, owner, expires_at] of [
    [SITE, "old-comet-aaaa", null, Date.now() + 86_400_000],
    [OWNED, "old-comet-bbbb", "acct_x", null],
  ] as const) {
    db.run(
      `insert into sites (site_id, slug, owner_account_id, created_at, expires_at, live_version_id)
       values (?, ?, ?, ?, ?, ?)`,
      [site_id, slug, owner, AT, expires_at, SECOND],
    );
    for (const page of PAGES) {
      const { digest, version_id } = versionOf(page);
      db.run(
        `insert into versions (site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule)
         values (?, ?, ?, 'A title', ?, 1, ?, 0, 'none')`,
        [site_id, version_id, digest, AT, page.length],
      );
      db.run(
        `insert into files (version_no, path, blob_no, media_type, made)
         select last_insert_rowid(), 'index.html', blob_no, 'text/html;charset=utf-8', 0 from blobs where sha256 = ?`,
        [contentHash(page)],
      );
    }
  }
  db.run("insert into tokens (hash, site_id, kind, created_at) values (?, ?, 'manage', ?)", [
    hashToken(MANAGE),
    SITE,
    AT,
  ]);
  db.run("insert into tombstones values ('old-comet-cccc', ?, 'expired', ?)", [GONE, AT]);
}

function fillPeople(db: Database, password_hash: string): void {
  db.run("insert into accounts values ('acct_x', 'owner@example.org', ?, ?)", [password_hash, AT]);
  const now = new Date().toISOString();
  db.run(
    `insert into sessions (session_id, hash, account_id, created_at, last_used_at, signed_in_at, client)
     values ('sess_x', ?, 'acct_x', ?, ?, ?, 'a browser')`,
    [hashToken(SESSION), now, now, now],
  );
}

/** Up to here the rows below are all there is to a version; later steps reckon their own figures from them. */
const PLAIN_ROWS = 5;

/** From here on there are receipts; by those of the first versions a secret was seen in them, by the others' none. */
const RECEIPTS = 8;
/** This step reads them once, to withhold such versions; later schemas do it as a version is stored. */
const WITHHELD = 13;
function fillReceipts(db: Database): void {
  db.run(
    `insert into receipts (version_no, left_out, warned, healed, warnings)
     select version_no, 0, version_id = ?1, '[]',
       iif(version_id = ?1, '[{"code":"possible_secret","path":"index.html"}]', '[]') from versions`,
    [FIRST],
  );
}

/** As the release of that schema left it: WAL, its steps and no other, its rows and its files. */
async function leaveBehind(data_dir: string, schema: number, withheld = false): Promise<void> {
  mkdirSync(data_dir, { mode: 0o700 });
  using db = new Database(join(data_dir, "db"), { create: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA foreign_keys = ON");
  const password_hash = await Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 1024, timeCost: 1 });
  const filled = Math.min(schema, PLAIN_ROWS);
  for (const step of STEPS.slice(0, filled)) db.run(step);
  db.transaction(() => {
    fillSites(db);
    if (schema >= 2) fillPeople(db, password_hash);
  })();
  const judged = Math.min(schema, WITHHELD - 1);
  for (const step of STEPS.slice(filled, judged)) db.run(step);
  if (withheld) fillReceipts(db);
  for (const step of STEPS.slice(Math.max(filled, judged), schema)) db.run(step);
  db.run(`PRAGMA user_version = ${schema}`);
  for (const page of PAGES) {
    const hash = contentHash(page);
    const folder = join(data_dir, "blobs", hash.slice(0, 2));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, hash), page, { mode: 0o600 });
  }
}

async function works(server: TestServer): Promise<void> {
  for (const slug of ["old-comet-aaaa", "old-comet-bbbb"]) {
    expect(await (await server.site(slug)).text()).toContain("second");
    expect(await (await server.site(`${FIRST}--${slug}`)).text()).toContain("first");
  }
  expect((await server.site("old-comet-cccc")).status).toBe(410);
  // Nothing said until then when a version was left: at the next deploy.
  const times = "select version_id, live_since, live_until from versions where site_id = ? order by version_no";
  expect(read(server.data_dir, times, SITE)).toEqual([
    { version_id: FIRST, live_since: Date.parse(AT), live_until: Date.parse(AT) },
    { version_id: SECOND, live_since: Date.parse(AT), live_until: null },
  ]);
  const rolled_back = await server.rollback({ site_id: SITE, manage_token: MANAGE } as never, FIRST);
  expect([rolled_back.status, await (await server.site("old-comet-aaaa")).text()]).toEqual([
    200,
    expect.stringContaining("first"),
  ]);
  const headers = { ...ZIP, ...bearer(MANAGE) };
  const body = zipOf({ "index.html": "third" });
  expect((await server.api(`/sites/${SITE}/deploys`, { method: "POST", body, headers })).status).toBe(200);
  expect(await (await server.site("old-comet-aaaa")).text()).toContain("third");
}

/** Older versions have no receipt; the list knows when what is live was made. */
async function listsWork({ running: { store } }: TestServer): Promise<void> {
  expect([await store.versions.receipt(SITE, FIRST), await store.versions.receipt(OWNED, SECOND)]).toEqual([
    null,
    null,
  ]);
  const { rows, total } = await store.ownership.page("acct_x", { q: "", sort: "deployed", page: 1, per_page: 50 });
  expect([total, rows.map(({ site, live }) => [site.slug, site.deployed_at, live])]).toEqual([
    1,
    [["old-comet-bbbb", AT, { title: "A title", created_at: AT, warned: 0, seen_warned: 0, pictured: false }]],
  ]);
}

async function ownersWork(server: TestServer): Promise<void> {
  const listed = await server.api("/account/sites", { headers: bearer(SESSION) });
  expect(((await listed.json()) as { sites: { site_id: string }[] }).sites.map((site) => site.site_id)).toEqual([
    OWNED,
  ]);
  const body = JSON.stringify({ email: "owner@example.org", password: PASSWORD });
  const signed_in = await server.api("/auth/login", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  expect(signed_in.status).toBe(200);
  const claimed = await server.api(`/account/sites/${OWNED}`, { method: "DELETE", headers: bearer(SESSION) });
  expect([claimed.status, (await server.site("old-comet-bbbb")).status]).toEqual([200, 404]);
}

test.each(STEPS.slice(0, -1).map((_, index) => index + 1))(
  "S2 a data directory of schema %d is brought up to date with all its sites, tokens and people",
  async (schema) => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    await leaveBehind(data_dir, schema);
    const server = new TestServer(data_dir);
    await server.start([]);
    try {
      await listsWork(server);
      await works(server);
      if (schema >= 2) await ownersWork(server);
    } finally {
      await server.running.stop();
    }
    const { code, stdout } = await operate(data_dir, "verify");
    expect([code, stdout]).toEqual([0, expect.any(String)]);
  },
);

test.each(OLD_SCHEMAS)(
  "K36 a data directory that the program of schema %d made is upgraded with all that was put into it",
  async (schema) => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    const facts = await unpackOldFolder(schema, data_dir);
    expect(facts.schema).toBe(schema);
    const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
    await expectOldFacts(server, facts);
    expect(await ended(server, "SIGTERM")).toBe(0);
    // Told before the first step, and after each.
    const told = server.stderr().match(/upgrade of the database: .*/g) ?? [];
    expect(told).toHaveLength(1 + SCHEMA - schema);
    expect(told[0]).toMatch(new RegExp(`: bringing schema ${schema} to ${SCHEMA}: keep \\d+ MB free`));
    expect(told.at(-1)).toMatch(new RegExp(`: schema ${SCHEMA} of ${SCHEMA} after \\d+ ms$`));
    if (facts.webhook !== null) {
      const [row] = read<{ webhook: string }>(
        data_dir,
        "select webhook from comment_settings where webhook is not null",
      );
      const { url, secret } = JSON.parse(row!.webhook) as { url: string; secret: string };
      const { webhook: key } = secretFiles.read(data_dir);
      const owned = facts.sites.find((site) => site.owned)!;
      expect(url).toBe(facts.webhook.url);
      expect(secretFiles.decrypt(key, secret, owned.site_id)).toBe(facts.webhook.secret);
      expect(secretFiles.decrypt(key, secret, facts.sites[0]!.site_id)).toBeNull();
      for (const name of readdirSync(data_dir).filter((one) => one.startsWith("db"))) {
        expect(readFileSync(join(data_dir, name)).includes(facts.webhook.secret)).toBeFalse();
      }
    }
    expect((await operate(data_dir, "verify")).code).toBe(0);
  },
);

test("S2 a start of a folder that is new, or up to date, tells of no upgrade", async () => {
  await using dir = await temporaryFolder();
  for (let n = 0; n < 2; n++) {
    const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"]);
    expect(await ended(server, "SIGTERM")).toBe(0);
    expect(server.stderr()).toBe("");
  }
});

test("BEYOND 4: of what was deployed before, only a version whose whole receipt tells of no secret gives files to open pages", async () => {
  await using dir = await temporaryFolder();
  const data_dir = join(dir.path, "data");
  await leaveBehind(data_dir, 12);
  const secret = JSON.stringify([
    { code: "possible_secret", message: "A key.", path: "a.js", fix_recipe: "Take it out." },
  ]);
  const receipt = `insert into receipts (version_no, left_out, warned, healed, warnings)
    select version_no, ?, 1, '[]', ? from versions where site_id = ? and version_id = ?`;
  write(data_dir, receipt, 0, "[]", SITE, FIRST);
  write(data_dir, receipt, 0, secret, SITE, SECOND);
  // A warning that did not fit into the receipt may have been of a secret. OWNED's second one has no receipt: of that nobody
  // knows anything, so its own address goes on, and the shield asks for the receipt.
  write(data_dir, receipt, 3, "[]", OWNED, FIRST);
  const server = new TestServer(data_dir);
  await server.start([]);
  await server.running.stop();
  const withheld = read(data_dir, "select withhold from versions order by version_no");
  expect(withheld).toEqual([{ withhold: 0 }, { withhold: 1 }, { withhold: 1 }, { withhold: 0 }]);
});

test.each(STEPS.slice(RECEIPTS - 1, WITHHELD - 1).map((_, index) => index + RECEIPTS))(
  "BEYOND 4: of a data directory of schema %d the versions in which a secret was seen are withheld",
  async (schema) => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    await leaveBehind(data_dir, schema, true);
    const server = new TestServer(data_dir);
    await server.start([]);
    try {
      expect(
        read(data_dir, "select version_id, withhold from versions where site_id = ? order by version_no", SITE),
      ).toEqual([
        { version_id: FIRST, withhold: 1 },
        { version_id: SECOND, withhold: 0 },
      ]);
      // A33: it was left before, and is at its own address no more; what is live is.
      const statuses = [FIRST, SECOND].map(async (id) => (await server.site(`${id}--old-comet-aaaa`)).status);
      expect(await Promise.all(statuses)).toEqual([404, 200]);
    } finally {
      await server.running.stop();
    }
  },
);

test("A33 of schema 13, a preview that was made before its version was left for a secret ends, and a later one goes on", async () => {
  await using dir = await temporaryFolder();
  const data_dir = join(dir.path, "data");
  await leaveBehind(data_dir, 13, true);
  const [left, end] = [Date.parse(AT), Date.now() + 86_400_000];
  for (const [name, made_at] of [
    ["before", left],
    ["after", left + 1],
  ] as const) {
    const made = new Date(made_at).toISOString();
    write(
      data_dir,
      `insert into previews (site_id, name, version_no, created_at, expires_at)
       select site_id, ?, version_no, ?, ? from versions where site_id = ? and version_id = ?`,
      name,
      made,
      end,
      SITE,
      FIRST,
    );
  }
  const server = new TestServer(data_dir);
  await server.start([]);
  try {
    const statuses = ["before", "after"].map(async (name) => (await server.site(`${name}--old-comet-aaaa`)).status);
    expect(await Promise.all(statuses)).toEqual([404, 200]);
  } finally {
    await server.running.stop();
  }
});

test("A27 comments of before count on their page by the bytes that they take when they are written out", async () => {
  await using dir = await temporaryFolder();
  const data_dir = join(dir.path, "data");
  await leaveBehind(data_dir, WITHHELD);
  const said = ["plain", `"'&<>`, "é€", null];
  for (const [n, text] of said.entries()) {
    const no = n + 1;
    write(
      data_dir,
      `insert into comments (comment_no, id, site_id, thread_no, text, state, was_public, created_at, modified_at, public_no, own_no)
       values (?1, 'c_' || ?1, ?2, ?1, ?3, ?4, 1, ?5, ?5, 1, 1)`,
      no,
      SITE,
      text,
      text === null ? "deleted" : "public",
      AT,
    );
    write(
      data_dir,
      `insert into threads (thread_no, site_id, page, version_id, version_created_at, exact, prefix, suffix, carried, changed_no)
       values (?, ?, '/index.html', ?, ?, ?, ?, ?, ?, 1)`,
      ...[no, SITE, SECOND, AT, ...(n === 1 ? [`a "quote"`, "before ", " after", "lost"] : [null, null, null, null])],
    );
  }
  const server = new TestServer(data_dir);
  await server.start([]);
  await server.running.stop();
  const written = (table: string) => read<{ written: number }>(data_dir, `select written from ${table} order by 1`);
  const bytes = (texts: string[]) => texts.map((text) => ({ written: Buffer.byteLength(Bun.escapeHTML(text)) }));
  expect(written("comments")).toEqual([{ written: 0 }, ...bytes(["plain", "é€"]), ...bytes([`"'&<>`])]);
  expect(written("threads")).toEqual([
    { written: 0 },
    { written: 0 },
    { written: 0 },
    ...bytes([`a "quote"before  after`]),
  ]);
});

test("COMMENTS 2: a letter that waited for a time of its own is due at once", async () => {
  await using dir = await temporaryFolder();
  const data_dir = join(dir.path, "data");
  await leaveBehind(data_dir, WITHHELD);
  using db = new Database(join(data_dir, "db"));
  db.run(
    `insert into webhook_outbox (id, site_id, type, comment_no, created_at, tries, next_at)
     values ('msg_old', ?, 'thread.created', 1, ?, 3, ?)`,
    [SITE, AT, Date.now() + 3_600_000],
  );
  db.close();
  const server = new TestServer(data_dir);
  await server.start([{ SVC_WEBHOOKS: "on" }]);
  try {
    // Its comment is gone: it is dropped when its turn comes.
    await until(() => server.rows("webhook_outbox") === 0);
  } finally {
    await server.running.stop();
  }
});
