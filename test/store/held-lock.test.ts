/** ARCHITECTURE, idea 8: no write waits for SQLite's lock on the serving thread. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openServing } from "../../src/store/index.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import { AUDIT } from "../../src/store/audit.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";
import { startWriter } from "../../src/store/writer.ts";
import { count, holdWrites, openFile } from "../kit/database.ts";
import { PASSWORD } from "../kit/people.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const PAGES = 60;

type Headers = Record<string, string>;

/** A server of its own process, with a site to look at and an account that owns another one. */
async function world(data_dir: string, flags: string[] = []) {
  const server = await startProcess(["--data-dir", data_dir, "--log", "off", ...flags]);
  const send = (method: string, path: string, body: unknown, headers: Headers = {}) =>
    fetch(`${local(server)}${path}`, {
      method,
      headers: { ...(body instanceof Uint8Array ? {} : { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    } as RequestInit);
  const deploy = async (text: string, headers: Headers = {}, path = "/sites") => {
    const answer = await send("POST", path, zipOf({ "index.html": text }), {
      "content-type": "application/zip",
      ...headers,
    });
    return (await answer.json()) as DeployResult;
  };
  const credentials = { email: "ann@example.org", password: PASSWORD };
  const { session_token } = (await (await send("POST", "/auth/signup", credentials)).json()) as {
    session_token: string;
  };
  return { server, send, deploy, credentials, ann: { authorization: `Bearer ${session_token}` } };
}

const pageOf = (server: ServerProcess, slug: string): Promise<Response> =>
  fetch(`${local(server)}/`, { headers: { host: `${slug}.localhost:${server.port}` } });

/** Asks for pages while the writes wait, and says how many of them were answered by then. */
async function pagesDuring(server: ServerProcess, slug: string, writes: Promise<Response>[]): Promise<number> {
  let answered = 0;
  for (const write of writes) void write.then(() => answered++);
  for (let n = 0; n < PAGES; n++) expect((await pageOf(server, slug)).status).toBe(200);
  return answered;
}

describe("while another process holds the database", () => {
  test("pages go on, and a rollback, PATCH, sign-in, report, claim, device login and deletion are answered after it", async () => {
    await using dir = await temporaryFolder();
    const { server, send, deploy, credentials, ann } = await world(dir.path);
    const [seen, claimed] = [await deploy("seen"), await deploy("claimed")];
    const [renamed, deleted] = [await deploy("renamed", ann), await deploy("deleted", ann)];
    await deploy("two", { authorization: `Bearer ${seen.manage_token}` }, `/sites/${seen.site_id}/deploys`);
    const host = { host: `${seen.slug}.localhost:${server.port}` };
    const back = { version_id: seen.version_id };
    const held = holdWrites(dir.path);
    const writes = [
      send("POST", `/sites/${seen.site_id}/rollback`, back, { authorization: `Bearer ${seen.manage_token}` }),
      send("PATCH", `/account/sites/${renamed.site_id}`, { label: "new" }, ann),
      send("POST", "/auth/login", credentials),
      send("POST", "/_svc/report", { reason: "spam" }, host),
      send("POST", `/sites/${claimed.site_id}/claim`, { claim_token: claimed.claim_token }, ann),
      send("POST", "/auth/device/code", {}),
      send("DELETE", `/account/sites/${deleted.site_id}`, undefined, ann),
    ];
    expect(await pagesDuring(server, seen.slug, writes)).toBe(0);
    held.letGo();
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 202, 200, 200, 200]); // a report is taken
    expect(await (await pageOf(server, seen.slug)).text()).toContain("seen");
    expect((await pageOf(server, deleted.slug)).status).toBe(404);
    await server.end();
  });

  test("so are promoting and ending a preview, and making and ending tokens; what a deploy token opens is open meanwhile", async () => {
    await using dir = await temporaryFolder();
    const { server, send, deploy, ann } = await world(dir.path);
    const { site_id, slug } = await deploy("seen", ann);
    const id = `/sites/${site_id}`;
    for (const name of ["good", "bad"]) await deploy(name, ann, `${id}/previews?name=${name}`);
    const scopes = { name: "ci", scopes: ["deploy"] };
    const [one, two] = [
      await send("POST", "/account/tokens", scopes, ann),
      await send("POST", "/account/tokens", scopes, ann),
    ];
    const tokens = (await Promise.all([one.json(), two.json()])) as { token: string; token_id: string }[];
    const by = (n: number) => ({ authorization: `Bearer ${tokens[n]!.token}` });
    const held = holdWrites(dir.path);
    const writes = [
      send("POST", `${id}/previews/good/promote`, undefined, by(0)),
      send("DELETE", `${id}/previews/bad`, undefined, by(0)),
      send("POST", "/account/tokens", scopes, ann),
      send("DELETE", `/account/tokens/${tokens[1]!.token_id}`, undefined, ann),
      send("DELETE", `${id}/manage-tokens`, undefined, ann),
    ];
    expect(await pagesDuring(server, slug, writes)).toBe(0);
    expect((await send("GET", id, undefined, by(1))).status).toBe(200);
    held.letGo();
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await (await pageOf(server, slug)).text()).toContain("good");
    expect((await pageOf(server, `bad--${slug}`)).status).toBe(404);
    expect((await send("GET", id, undefined, by(1))).status).toBe(401);
    await server.end();
  });

  test("pages go on while a call waits to be counted, and it is counted or refused with 503", async () => {
    await using dir = await temporaryFolder();
    const { server, send, deploy, credentials } = await world(dir.path);
    const { slug } = await deploy("seen");
    const rates = openFile(dir.path, "rates.db", false);
    rates.run("BEGIN IMMEDIATE");
    const login = send("POST", "/auth/login", credentials);
    expect((await pageOf(server, slug)).status).toBe(200);
    await pagesDuring(server, slug, [login]);
    rates.run("ROLLBACK");
    rates.close();
    expect([200, 503]).toContain((await login).status);
    await server.end();
  });

  test("at most 256 writes wait; the others are refused with 503 at once", async () => {
    await using dir = await temporaryFolder();
    const data = prepareDataDir(dir.path);
    const { store, rates } = await openServing({ data_dir: dir.path, now: Date.now, lost: () => {} });
    const report = { site_id: "s", slug: "s", reason: "spam", text: null, email: null, created_at: "2031-05-01" };
    await store.reports.add({ ...report, report_id: "first" });
    const held = holdWrites(dir.path);
    const writes = Array.from({ length: 300 }, (_, n) => store.reports.add({ ...report, report_id: `r${n}` }));
    const refused = await Promise.all(writes.slice(256).map((write) => write.catch((error) => error)));
    expect(refused).toHaveLength(44);
    for (const error of refused) {
      expect(error).toMatchObject({ code: "unavailable", status: 503, headers: { "retry-after": "1" } });
    }
    held.letGo();
    await Promise.all(writes.slice(0, 256));
    expect(await store.reports.list()).toHaveLength(257);
    rates.close();
    await store.close();
    data.close();
  });

  test("one network's writes take a quarter of the turns, and another's is answered all the same", async () => {
    await using dir = await temporaryFolder();
    const { server, send, deploy } = await world(dir.path, ["--trust-proxy", "127.0.0.1"]);
    const [one, other] = [await deploy("one"), await deploy("other")];
    const rollback = ({ site_id, manage_token, version_id }: DeployResult, from: string) =>
      send(
        "POST",
        `/sites/${site_id}/rollback`,
        { version_id },
        { authorization: `Bearer ${manage_token}`, "x-forwarded-for": from },
      );
    const held = holdWrites(dir.path);
    const flood = Array.from({ length: 100 }, () => rollback(one, "203.0.113.1"));
    let refused = 0;
    for (const write of flood) void write.then(({ status }) => status === 503 && refused++);
    await until(() => refused === 36);
    const others = rollback(other, "203.0.113.2");
    held.letGo();
    expect((await others).status).toBe(200);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
    await server.end();
  });

  test("a session's last use is noted down afterwards, and nobody waits for it", async () => {
    await using dir = await temporaryFolder();
    const data = prepareDataDir(dir.path);
    let now = Date.now();
    const { store, rates } = await openServing({ data_dir: dir.path, now: () => now, lost: () => {} });
    const session = { session_id: "sess_a", hash: "hash", client: "" };
    await store.accounts.create({
      account_id: "a",
      email: "a@b.c",
      password_hash: "-",
      session,
      invitation_hash: null,
    });
    const before = (await store.sessions.find("hash"))!.last_used_at;
    now += 3_600_000;
    const held = holdWrites(dir.path);
    for (let n = 0; n < 20; n++) expect(await store.sessions.find("hash")).toMatchObject({ last_used_at: before });
    held.letGo();
    rates.close();
    await store.close(); // what waits is done first
    using db = openFile(dir.path);
    expect(db.query("select last_used_at from sessions").get()).toEqual({ last_used_at: new Date(now).toISOString() });
    data.close();
  });
});

test("a drain answers what is asked by those that wait, too, and refuses what comes after", async () => {
  await using dir = await temporaryFolder();
  const data = prepareDataDir(dir.path);
  const { store, rates } = await openServing({ data_dir: dir.path, now: Date.now, lost: () => {} });
  const report = { site_id: "s", slug: "s", reason: "spam", text: null, email: null, created_at: "2031-05-01" };
  const held = holdWrites(dir.path);
  const inTwoSteps = store.reports
    .add({ ...report, report_id: "one" })
    .then(() => store.reports.add({ ...report, report_id: "two" }));
  rates.close();
  const closed = store.close();
  held.letGo();
  await Promise.all([inTwoSteps, closed]);
  await expect(store.reports.add({ ...report, report_id: "late" })).rejects.toMatchObject({ code: "unavailable" });
  expect(count(dir.path, "reports")).toBe(2);
  data.close();
});

/** SQLite tries some 60 times in five seconds. Time is not asked: a busy machine may keep this process from running. */
const FEW_TRIES = 50;
function triesFor(take: () => void): number {
  for (let tries = 1; ; tries++) {
    try {
      take();
      return tries;
    } catch (error) {
      if (tries === 10 * FEW_TRIES) throw error;
      Bun.sleepSync(1 + (tries % 7)); // never in step with the flood
    }
  }
}

test("whoever writes without a pause leaves room for others: no flood of writes keeps a deploy or a command waiting", async () => {
  await using dir = await temporaryFolder();
  const data = prepareDataDir(dir.path);
  const flood = Bun.spawn([process.execPath, join(import.meta.dir, "floods-database.ts"), dir.path]);
  using _ended = { [Symbol.dispose]: () => flood.kill("SIGKILL") };
  using db = openFile(dir.path, "db", false);
  const writes = () => db.query<{ n: number }, []>("select blob_no as n from verify_turn").get()!.n;
  await until(() => writes() > 50);
  db.run("PRAGMA busy_timeout = 0");
  const tries: number[] = [];
  for (let n = 0; n < 5; n++) {
    await Bun.sleep(20); // the flood goes on
    tries.push(triesFor(() => db.run("BEGIN IMMEDIATE")));
    db.run("ROLLBACK");
  }
  expect(Math.max(...tries)).toBeLessThan(FEW_TRIES);
  data.close();
});

test("the thread that serves cannot write: a write that was forgotten is refused there, and never waits", async () => {
  await using dir = await temporaryFolder();
  const data = prepareDataDir(dir.path);
  const { db, close } = openDataDir(dir.path, Date.now, { reads_only: true });
  await expect(
    AUDIT.record.on({ db, place: { makeRoom: () => {} }, now: Date.now } as never)("gc", "x"),
  ).rejects.toMatchObject({
    cause: { code: "SQLITE_READONLY" },
  });
  close();
  data.close();
});

/** Each thread of writes does `first` where no other was before it, and answers 7 where one was. */
const threadThat = (first: string): string => `
  import { existsSync, writeFileSync } from "node:fs";
  import { workerData } from "node:worker_threads";
  const began = workerData.data_dir + "/began";
  if (existsSync(began)) {
    postMessage("ready");
    onmessage = ({ data }) => (data === "close" ? process.exit() : postMessage({ id: data.id, value: 7 }));
  } else {
    writeFileSync(began, "");
    ${first}
  }`;

describe("a thread of writes that", () => {
  const threads: [name: string, first: string, expected: object][] = [
    ["does not start has written nothing: 503", `throw new Error("broken");`, { code: "unavailable", status: 503 }],
    [
      "dies at work leaves an outcome that nobody knows",
      `postMessage("ready"); onmessage = () => process.exit(1);`,
      { name: "CommitUnknown" },
    ],
  ];
  test.each(threads)("%s, and the next write starts another", async (_, first, expected) => {
    await using dir = await temporaryFolder();
    const entry = join(dir.path, "thread.ts");
    await Bun.write(entry, threadThat(first));
    const writer = startWriter({ data_dir: dir.path, announces: false }, Date.now, pathToFileURL(entry));
    // What it is asked with is nothing to these threads, and what they answer is theirs.
    const add = () => writer.call("reports", "add", []);
    const thrown = await Promise.all([add(), add()].map((call) => call.catch((error) => error)));
    expect(thrown).toMatchObject([expected, expected]);
    expect(await add()).toBe(7);
    await writer.close();
  });
});
