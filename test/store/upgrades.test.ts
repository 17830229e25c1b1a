/** RELIABILITY 2, Start: a data directory that an earlier release left is brought up to date with all that is in it. */
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashToken } from "../../src/base/tokens.ts";
import { contentHash, deployDigest, versionIdOf } from "../../src/base/version-id.ts";
import { read, write } from "../kit/database.ts";
import { operate } from "../kit/operator.ts";
import { ROOT } from "../kit/paths.ts";
import { bearer } from "../kit/people.ts";
import { temporaryFolder } from "../kit/process.ts";
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
/** The step that reads them. */
const WITHHELD = 13;
function fillReceipts(db: Database): void {
  db.run(
    `insert into receipts (version_no, left_out, warned, healed, warnings)
     select version_no, 0, 1, '[]',
       iif(version_id = ?, '[{"code":"possible_secret","path":"index.html"}]', '[]') from versions`,
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
  // What did not fit into the receipt may have been of a secret; OWNED's second one has none.
  write(data_dir, receipt, 3, "[]", OWNED, FIRST);
  const server = new TestServer(data_dir);
  await server.start([]);
  await server.running.stop();
  const withheld = read(data_dir, "select withhold from versions order by version_no");
  expect(withheld).toEqual([{ withhold: 0 }, { withhold: 1 }, { withhold: 1 }, { withhold: 1 }]);
});

test.each(STEPS.slice(RECEIPTS - 1, -1).map((_, index) => index + RECEIPTS))(
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
    } finally {
      await server.running.stop();
    }
  },
);
