/** RELIABILITY A32: what is deleted is on the disk no more, in no file of the data folder; K35: what a process that died
 *  left in `tmp` goes with a sweep. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UNIT_MS } from "../../src/base/units.ts";
import { CommentedSite, FREELY } from "../comments/commented.ts";
import { openFile, read, write } from "../kit/database.ts";
import { operate } from "../kit/operator.ts";
import { bearer, call, PASSWORD } from "../kit/people.ts";
import { deployProcesses } from "../kit/process.ts";
import { type DeployResult, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const started: TestServer[] = [];
afterAll(async () => {
  for (const server of started) await server[Symbol.asyncDispose]();
});
async function world(...settings: Parameters<typeof startServer>): Promise<TestServer> {
  const server = await startServer(FREELY, ...settings);
  started.push(server);
  return server;
}

function readBeside(data_dir: string, statement: string): { key: string }[] {
  using db = openFile(data_dir, "rates.db");
  return db.query<{ key: string }, []>(statement).all();
}

/** A word of each kind that people leave with a server. */
const WORDS = {
  "the e-mail address of an account": "quibblethorn@people.example",
  "the e-mail address of an invitation": "flummerwick@people.example",
  "a browser's name for itself": "Wobblezilla/7",
  "the title of a page": "Snickerdoodle Almanac",
  "the label of a site": "Grumblebatch papers",
  "the path of a file": "hobbledehoy-minutes.html",
  "the name of a deploy token": "CI of Thimblerig",
  "the name of an agent's token": "Balderdash-bot",
  "the secret of a webhook": "whiffletree-whiffletree-whiffletree",
  "the address of a webhook": "https://lollygag.example/in",
  "the name of a visitor": "Ann Pumpernickel",
  "the text of a comment": "Codswallop, says the page",
  "the text of a comment before it was edited": "Poppycock it was at first",
  "the text of a report of a comment": "Taradiddle in that one",
  "the text of a report of a site": "Skulduggery on this page",
  "the e-mail address of a report": "gobbledygook@report.example",
  "the name of a preview": "jiggerypokery",
} as const;
type Kind = keyof typeof WORDS;
const KINDS = Object.keys(WORDS) as Kind[];

function filesOf(data_dir: string): string[] {
  return readdirSync(data_dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Each kind whose word is in a file, with the names of these files. */
function found({ data_dir }: TestServer): Partial<Record<Kind, string[]>> {
  const files = filesOf(data_dir).map((path) => [path.slice(data_dir.length + 1), readFileSync(path)] as const);
  const holding = KINDS.map((kind) => {
    const names = files.filter(([, bytes]) => bytes.includes(WORDS[kind])).map(([name]) => name);
    return [kind, names] as const;
  });
  return Object.fromEntries(holding.filter(([, names]) => names.length > 0));
}

async function ok(answer: Response | Promise<Response>): Promise<Response> {
  const { status, url } = await answer;
  if (status >= 300) throw new Error(`${url} was answered ${status}: ${await (await answer).text()}`);
  return answer;
}

interface Left {
  owner: { authorization: string };
  site: DeployResult;
  place: CommentedSite;
  ann: ReturnType<CommentedSite["visitor"]>;
}

const sentJson = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

async function ownedSite(server: TestServer): Promise<Pick<Left, "owner" | "site">> {
  const email = WORDS["the e-mail address of an account"];
  await operate(server.data_dir, "account", "invite", WORDS["the e-mail address of an invitation"]);
  await operate(server.data_dir, "account", "invite", email);
  const signed = await call(
    server,
    "POST",
    "/auth/signup",
    { email, password: PASSWORD },
    {
      "user-agent": WORDS["a browser's name for itself"],
    },
  );
  const owner = bearer(signed.body.session_token);
  const files = {
    "index.html": `<title>${WORDS["the title of a page"]}</title><p>Hello`,
    [WORDS["the path of a file"]]: "<title>Other</title>",
  };
  const made = await ok(server.post(zipOf(files), owner));
  const site = (await made.json()) as DeployResult;
  const label = { label: WORDS["the label of a site"] };
  await call(server, "PATCH", `/account/sites/${site.site_id}`, label, owner);
  await call(server, "POST", "/account/tokens", { name: WORDS["the name of a deploy token"], scopes: ["read"] }, owner);
  const preview = `/sites/${site.site_id}/previews?name=${WORDS["the name of a preview"]}`;
  await ok(server.api(preview, { method: "POST", body: zipOf({ "index.html": "x" }), headers: { ...ZIP, ...owner } }));
  return { owner, site };
}

/** Leaves each of the words. */
async function leave(server: TestServer): Promise<Left> {
  const { owner, site } = await ownedSite(server);
  const place = new CommentedSite(server, site);
  const url = WORDS["the address of a webhook"];
  const webhook = { url, events: ["thread.created"], secret: WORDS["the secret of a webhook"] };
  await place.api("settings", { method: "PATCH", body: { mode: "anonymous", webhook }, headers: owner });
  const token = { name: WORDS["the name of an agent's token"], scopes: ["read"] };
  await place.api("tokens", { method: "POST", body: token, headers: owner });
  const ann = place.visitor();
  const id = await ann.say(WORDS["the text of a comment before it was edited"], "/index.html");
  await ann.send("me", { method: "PATCH", body: { name: WORDS["the name of a visitor"] } });
  await ann.edit(id, WORDS["the text of a comment"]);
  const reason = { reason: "spam", text: WORDS["the text of a report of a comment"] };
  await ann.send(`${id}/report`, { method: "POST", body: reason });
  const report = {
    reason: "phishing",
    text: WORDS["the text of a report of a site"],
    email: WORDS["the e-mail address of a report"],
  };
  await ok(server.site(site.slug, "/_svc/report", sentJson(report)));
  return { owner, site, place, ann };
}

/** Two hours later, as a server's own sweep does it: two in a row. */
async function swept(server: TestServer): Promise<void> {
  server.advance(2 * UNIT_MS.h);
  for (let n = 0; n < 2; n++) await server.running.store.sweep(server.now());
}

/** Where a secret never is, not even while it is needed. */
const NEVER: Kind[] = ["the secret of a webhook"];

describe("A32 deleted is deleted", () => {
  test("every kind of word is in the data folder before, and in no file of it after its deletion and a sweep", async () => {
    const server = await world({ SVC_WEBHOOKS: "on" });
    const { owner, ann } = await leave(server);
    expect(KINDS.filter((kind) => !(kind in found(server)))).toEqual(NEVER);
    expect((await ann.send("me", { method: "DELETE" })).status).toBeLessThan(300);
    expect((await call(server, "DELETE", "/account", undefined, owner)).status).toBe(200);
    server.advance(31 * UNIT_MS.d); // invitations end
    await swept(server);
    expect(found(server)).toEqual({});
    await server.running.stop();
    expect(found(server)).toEqual({});
  });

  test("a webhook that is ended, tokens that are revoked and a comment that is deleted go by themselves, beside all the rest", async () => {
    const server = await world({ SVC_WEBHOOKS: "on" });
    const { owner, site, place, ann } = await leave(server);
    await place.api("settings", { method: "PATCH", body: { webhook: null }, headers: owner });
    const revoke = async (path: string) => {
      const { tokens } = (await call(server, "GET", path, undefined, owner)).body as unknown as {
        tokens: { token_id: string }[];
      };
      expect(tokens).toHaveLength(1);
      for (const { token_id } of tokens)
        await ok(server.api(`${path}/${token_id}`, { method: "DELETE", headers: owner }));
    };
    await revoke("/account/tokens");
    await revoke(`/sites/${site.site_id}/comments/tokens`);
    const { threads } = await ann.threads("/index.html");
    expect((await ann.send(threads[0].id, { method: "DELETE" })).status).toBe(204);
    await swept(server);
    const gone: Kind[] = [
      "the secret of a webhook",
      "the address of a webhook",
      "the name of a deploy token",
      "the name of an agent's token",
      "the text of a comment",
      "the text of a comment before it was edited",
    ];
    const left = found(server);
    expect(gone.filter((kind) => kind in left)).toEqual([]);
    expect(left).toHaveProperty(["the title of a page"]);
  });

  test("the database is overwritten at the deletion itself, also by a command beside the server and in a backup", async () => {
    const server = await world();
    const { owner } = await leave(server);
    await swept(server); // what is there now is in the file, and not in the log
    const email = WORDS["the e-mail address of an account"];
    expect(readFileSync(join(server.data_dir, "db")).includes(email)).toBeTrue();
    expect((await call(server, "GET", "/account", undefined, owner)).status).toBe(200);
    await operate(server.data_dir, "account", "delete", email);
    const folder = `${server.data_dir}-backup`;
    await operate(server.data_dir, "backup", folder);
    expect(readFileSync(join(folder, "db")).includes(WORDS["the title of a page"])).toBeFalse();
    await operate(server.data_dir, "gc");
    expect([existsSync(join(server.data_dir, "db-wal")), statSync(join(server.data_dir, "db-wal")).size]).toEqual([
      true,
      0,
    ]);
    expect(readFileSync(join(server.data_dir, "db")).includes(email)).toBeFalse();
    rmSync(folder, { recursive: true });
  });
});

describe("A32 the log is emptied by each sweep", () => {
  const logBytes = ({ data_dir }: TestServer) => statSync(join(data_dir, "db-wal")).size;

  test("beside a reader it stays, no writer waits for that, and the sweep after the reader's end empties it", async () => {
    const server = await world();
    await server.deploy({ "index.html": "one" });
    using reader = openFile(server.data_dir);
    reader.run("BEGIN");
    reader.query("select count(*) from sites").get();
    await server.deploy({ "index.html": "two" });
    let sweeping = true;
    const sweep = server.running.store.sweep(server.now()).finally(() => (sweeping = false));
    let slowest = 0;
    while (sweeping) {
      const began = performance.now();
      write(server.data_dir, "update sites set label = label");
      slowest = Math.max(slowest, performance.now() - began);
      await Bun.sleep(1);
    }
    await sweep;
    expect(logBytes(server)).toBeGreaterThan(0);
    expect(slowest).toBeLessThan(1000);
    reader.run("COMMIT");
    await server.running.store.sweep(server.now());
    expect(logBytes(server)).toBe(0);
    expect((await server.deploy({ "index.html": "three" })).slug).toBeString();
  });
});

describe("A32 the secret of a webhook is encrypted under a key of DATA/secrets", () => {
  const stored = ({ data_dir }: TestServer) =>
    read<{ webhook: string }>(data_dir, "select webhook from comment_settings").map(({ webhook }) =>
      JSON.parse(webhook),
    );

  test("for this site alone, and otherwise each time", async () => {
    const server = await world({ SVC_WEBHOOKS: "on" });
    const { place, owner } = await leave(server);
    const [before] = stored(server);
    const url = WORDS["the address of a webhook"];
    const webhook = { url, events: ["thread.created"], secret: WORDS["the secret of a webhook"] };
    await place.api("settings", { method: "PATCH", body: { webhook }, headers: owner });
    const [after] = stored(server);
    expect(after).toEqual({ url, events: ["thread.created"], secret: expect.any(String) });
    expect(after.secret).not.toBe(before.secret);
    expect(after.secret.length).toBeLessThan(120);
  });
});

test("A32 an address is counted under a keyed hash: who has the folder without its secrets cannot try all addresses", async () => {
  const server = await world({ SVC_RATE_DEPLOY: "10/1h" });
  await server.deploy({ "index.html": "counted" });
  const keys = readBeside(server.data_dir, "select key from hits");
  expect(keys.length).toBeGreaterThan(0);
  const plain = new Bun.CryptoHasher("sha256").update("127.0.0.1").digest("base64url").slice(0, 22);
  expect(keys.filter(({ key }) => key.includes(plain) || key.includes("127.0.0.1"))).toEqual([]);
});

describe("K35 what a deploy's process that died left in tmp", () => {
  const HOUR_AGO = 61 * 60;
  const put = ({ data_dir }: TestServer, name: string, seconds_ago: number, folder = false): string => {
    const path = join(data_dir, "tmp", name);
    if (folder) mkdirSync(path);
    else writeFileSync(path, "half a file");
    const at = Date.now() / 1000 - seconds_ago;
    utimesSync(path, at, at);
    return path;
  };

  test("goes with a sweep once it is an hour old; younger files and the folder of a browser that runs stay", async () => {
    const server = await world();
    const old = put(server, "blob-left", HOUR_AGO);
    const dead = put(server, "render-abcdef", HOUR_AGO, true);
    writeFileSync(join(dead, "profile"), "x");
    utimesSync(dead, Date.now() / 1000 - HOUR_AGO, Date.now() / 1000 - HOUR_AGO);
    const kept = [put(server, "blob-young", 59 * 60), put(server, "render-ghijkl", 0, true)];
    expect(await server.running.store.sweep(server.now())).toEqual({ sites: 0, blobs: 0, temporary: 2 });
    expect([old, dead, ...kept].map((path) => existsSync(path))).toEqual([false, false, true, true]);
  });

  test("goes with the server's own sweep, however much a deploy that was killed amid its blobs had written", async () => {
    const server = await world();
    const tmp = join(server.data_dir, "tmp");
    const files = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [`${n}.bin`, crypto.getRandomValues(new Uint8Array(30_000))]),
    );
    const body = zipOf({ "index.html": "<title>Killed</title>", ...files });
    const left = () => readdirSync(tmp);
    for (let tries = 20; left().length === 0 && tries > 0; tries--) {
      const answer = server.post(body);
      let answered = false;
      void answer.finally(() => (answered = true));
      while (left().length < 5 && !answered) await Bun.sleep(0); // the upload is one file, blobs are many
      for (const pid of deployProcesses(process.pid)) process.kill(pid, "SIGKILL");
      await answer;
    }
    expect(left().length).toBeGreaterThan(0);
    await server.running.store.sweep(server.now());
    expect(left().length).toBeGreaterThan(0);
    const ago = Date.now() / 1000 - HOUR_AGO;
    for (const name of left()) utimesSync(join(tmp, name), ago, ago);
    await server.running.store.sweep(server.now());
    expect(left()).toEqual([]);
    expect((await server.deploy(files)).slug).toBeString();
  });

  test("what is written now stays, though the service's clock is hours ahead of the one that wrote it", async () => {
    const server = await world();
    server.advance(5 * UNIT_MS.h);
    const path = put(server, "upload-now", 0);
    expect(await server.running.store.sweep(server.now())).toMatchObject({ temporary: 0 });
    expect(existsSync(path)).toBe(true);
  });

  test("the files of a backup that is under way stay, however long it takes, and through a start", async () => {
    const server = await world();
    const [sent, left] = [put(server, "backup-a.db", 26 * HOUR_AGO), put(server, "backup-b.db", 8 * 24 * HOUR_AGO)];
    await server.running.store.sweep(server.now());
    await server.stop();
    await server.start([]);
    expect([sent, left].map((path) => existsSync(path))).toEqual([true, false]);
  });

  test("svc-server gc removes it too, and says how many files", async () => {
    const server = await world();
    put(server, "blob-left", HOUR_AGO);
    expect((await operate(server.data_dir, "gc")).stderr).toContain("1 temporary file");
    expect(readdirSync(join(server.data_dir, "tmp"))).toEqual([]);
  });
});
