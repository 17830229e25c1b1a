/** CONTRACT 7.5: what an operator must know is posted to SVC_NOTIFY, signed, in few letters. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { startCommented } from "../comments/agents.ts";
import { certificateFor, pairFiles } from "../kit/certificate.ts";
import { read, write } from "../kit/database.ts";
import { blobFile, operate, operator } from "../kit/operator.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { freePort } from "../kit/pebble.ts";
import { local, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { hook, receiver as plainReceiver, SECRET } from "../webhooks/hooked.ts";
import { type Receiver, startReceiver, Webhook } from "../webhooks/receiver.ts";

setDefaultTimeout(60_000);

// The process that posts takes the authorities of the server, which runs in this one.
process.env["NODE_EXTRA_CA_CERTS"] = TLS_CERT;
const tls = { cert: await Bun.file(TLS_CERT).text(), key: await Bun.file(TLS_KEY).text() };

const receivers: Receiver[] = [];
afterAll(() => receivers.forEach(({ stop }) => stop()));
function receiver(): Receiver {
  const made = startReceiver(tls);
  receivers.push(made);
  return made;
}

const LOCAL = { SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" };
const to = ({ url }: Receiver) => ({ SVC_NOTIFY: url, SVC_NOTIFY_SECRET: SECRET, ...LOCAL });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SUSPICIOUS = { "index.html": "<!doctype html><title>PayPal – sign in</title><form><input type=password></form>" };

const report = async (server: TestServer, { slug }: DeployResult, words: object = {}) => {
  const body = JSON.stringify({ reason: "malware", ...words });
  const answer = await server.site(slug, "/_svc/report", { method: "POST", body, headers: JSON_TYPE });
  expect(answer.status).toBe(202);
};
const dataOf = ({ received }: Receiver, type: string) =>
  received.filter(({ told }) => told.type === type).map(({ told }) => told.data);
const waiting = (server: { data_dir: string }) =>
  read<{ type: string; tries: number }>(
    server.data_dir,
    "select type, tries from webhook_outbox where site_id = 'server'",
  );
const afterALook = () => Bun.sleep(2500);

describe("what is posted", () => {
  test("a report: signed as Standard Webhooks, with webhooks of sites turned off", async () => {
    const there = receiver();
    await using server = await startServer(to(there), { SVC_WEBHOOKS: "off" });
    const site = await server.deploy({ "index.html": "x" });
    const words = {
      reason: "mail me: visitor@example.org",
      text: "It steals passwords.",
      email: "visitor@example.org",
    };
    await report(server, site, words);
    await until(() => there.received.length === 1, 50);
    const { body, headers, told } = there.received[0]!;
    expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
    expect(Object.keys(told)).toEqual(["id", "type", "created_at", "data"]);
    expect(told).toMatchObject({
      id: headers["webhook-id"],
      type: "report.opened",
      data: {
        server: server.base_url,
        text: `One report was opened: ${site.slug}. svc-server reports shows what they say.`,
        count: 1,
        reports: [
          {
            report_id: expect.stringMatching(/^rep_/),
            site_id: site.site_id,
            slug: site.slug,
            url: site.url,
            created_at: expect.stringMatching(/^\d{4}-/),
          },
        ],
      },
    });
    // The reporter's words and address are for the operator alone, not for a third party's chat.
    expect(body).not.toMatch(/steals|visitor@/);
  });

  test("a site that a deploy puts in quarantine, once", async () => {
    const there = receiver();
    await using server = await startServer(to(there));
    const site = await server.deploy(SUSPICIOUS);
    await until(() => there.received.length === 1, 50);
    expect(there.received[0]!.told).toMatchObject({
      type: "site.quarantined",
      data: {
        count: 1,
        sites: [{ site_id: site.site_id, slug: site.slug, url: site.url, signals: ["borrowed_brand"] }],
      },
    });
    await server.redeploy(site, { ...SUSPICIOUS, "a.txt": "a" });
    server.advance(2 * MINUTE_MS);
    await afterALook();
    expect(there.received).toHaveLength(1);
  });

  test("lines of level error", async () => {
    const there = receiver();
    await using server = await startServer();
    await server.deploy({ "index.html": "a page that goes" });
    await server.stop();
    unlinkSync(blobFile(server.data_dir, "a page that goes"));
    await server.start([to(there)]);
    await until(() => there.received.length === 1, 50);
    expect(there.received[0]!.told).toMatchObject({ type: "error.logged", data: { count: 1 } });
    const { text, lines } = there.received[0]!.told.data;
    expect(lines).toEqual([
      { at: expect.stringMatching(/^\d{4}-/), message: expect.stringMatching(/^blob missing: [0-9a-f]{64} /) },
    ]);
    expect(text).toBe(`One error: ${lines[0].message}`);
  });

  test("a backup that failed, and a sweep that failed, have letters of their own, one an hour", async () => {
    const there = receiver();
    await using dir = await temporaryFolder();
    const place = join(dir.path, "file");
    await Bun.write(place, "no folder");
    await using server = await startServer(to(there), {
      SVC_BACKUP: place,
      SVC_BACKUP_EVERY: "1s",
      SVC_GC_INTERVAL: "1s",
    });
    write(server.data_dir, "create trigger broken before delete on sites begin select raise(abort, 'broken'); end");
    server.expire(await server.deploy({ "index.html": "x" }));
    const types = () => new Set(there.received.map(({ told }) => told.type));
    await until(() => types().has("backup.failed") && types().has("sweep.failed"), 100);
    await afterALook();
    expect([...types()].sort()).toEqual(["backup.failed", "sweep.failed"]);
    expect(there.received).toHaveLength(2);
    expect(dataOf(there, "backup.failed")[0].text).toStartWith("A backup failed or is not whole: backup: ");
    expect(dataOf(there, "sweep.failed")[0].text).toContain("broken");
    server.advance(HOUR_MS);
    await until(() => there.received.length >= 4, 100);
    expect(dataOf(there, "sweep.failed")[1].count).toBeGreaterThan(0);
  });

  test("a disk over SVC_DISK_HIGH, and again a day later while it stays so", async () => {
    const there = receiver();
    await using server = await startServer(to(there), { SVC_DISK_HIGH: "1%" });
    await until(() => there.received.length === 1, 50);
    expect(there.received[0]!.told).toMatchObject({
      type: "disk.high",
      data: { limit_percent: 1, used_percent: expect.any(Number), free_bytes: expect.any(Number) },
    });
    server.advance(2 * HOUR_MS);
    await afterALook();
    expect(there.received).toHaveLength(1);
    server.advance(24 * HOUR_MS);
    await until(() => there.received.length === 2, 50);
    server.advance(-20 * 24 * HOUR_MS); // a clock that ran ahead silences nothing
    await until(() => there.received.length === 3, 50);
  });

  test("the server's own certificate that could not be ordered, and not those of sites' domains", async () => {
    const there = receiver();
    const names = ["--base-url", "https://svc.example.org", "--sites-domain", "sites.example.org"];
    const acme = { SVC_ACME: "https://127.0.0.1:9/directory", SVC_DNS_HOOK: "/usr/local/bin/svc-dns" };
    await using server = await startServer(to(there), ...names, "--http-port", String(freePort()), acme);
    const host = { ...ZIP, host: "svc.example.org" };
    const { site_id } = (await (await server.post(zipOf({ "index.html": "x" }), host)).json()) as DeployResult;
    const domain = ["www.garden.example", site_id, "active", "2026-01-01T00:00:00.000Z"];
    write(server.data_dir, "insert into domains (domain, site_id, state, added_at) values (?, ?, ?, ?)", ...domain);
    const failed = () => read(server.data_dir, "select name from certificates where error is not null").length;
    await until(() => failed() === 3 && there.received.length > 0, 50);
    server.advance(2 * MINUTE_MS);
    await afterALook();
    const lines: { message: string }[] = dataOf(there, "error.logged").flatMap((data) => data.lines);
    const told = lines.map(({ message }) => /^certificate: (\S+): /.exec(message)?.[1]);
    expect(told.toSorted()).toEqual(["*.sites.example.org", "svc.example.org"]);
  });

  test("a certificate that ends within 14 days, once a day", async () => {
    const there = receiver();
    await using dir = await temporaryFolder();
    const files = pairFiles(dir.path);
    await files.write(certificateFor(["localhost"], { from: Date.now() - 80 * 24 * HOUR_MS, days: 90 }));
    await using server = await startServer(to(there), ...files.flags);
    await until(() => there.received.length === 1, 50);
    expect(there.received[0]!.told).toMatchObject({ type: "certificate.ending", data: { count: 1 } });
    const ends_at = Date.parse(there.received[0]!.told.data.ends_at);
    expect(Math.abs(ends_at - (Date.now() + 10 * 24 * HOUR_MS))).toBeLessThan(MINUTE_MS);
    server.advance(23 * HOUR_MS);
    await afterALook();
    expect(there.received).toHaveLength(1);
    server.advance(HOUR_MS);
    await until(() => there.received.length === 2, 50);
  });
});

/** A server with the letter of a report, which its receiver did not take. */
async function notTaken() {
  const there = receiver();
  there.answer = 500;
  const server = await startServer(to(there));
  const site = await server.deploy({ "index.html": "x" });
  await report(server, site);
  await until(() => waiting(server)[0]?.tries === 1, 50);
  return { there, server, site };
}

describe("few letters", () => {
  test("a hundred reports within a minute are two letters: one at once, the rest in one a minute later, twenty by name", async () => {
    const there = receiver();
    await using server = await startServer(to(there));
    const site = await server.deploy({ "index.html": "x" });
    await report(server, site);
    await until(() => there.received.length === 1, 50);
    for (let n = 0; n < 99; n++) await report(server, site);
    await afterALook();
    expect(there.received).toHaveLength(1);
    server.advance(MINUTE_MS);
    await until(() => there.received.length === 2, 50);
    const { count, reports } = there.received[1]!.told.data;
    expect([count, reports.length]).toEqual([99, 20]);
  });

  test("while its receiver is away one letter of a type waits, tried by the waits of webhooks; the next has what came since", async () => {
    const { there, server, site } = await notTaken();
    await using _ = server;
    for (let n = 0; n < 3; n++) {
      await report(server, site);
      server.advance(5 * MINUTE_MS);
      await until(() => waiting(server)[0]!.tries === n + 2, 50);
      expect(waiting(server)).toHaveLength(1);
    }
    const { stdout } = await operator(server.data_dir, ["status"]);
    expect(stdout).toMatch(/^Notices +1 waiting, not taken since .*: it answered 500$/m);
    there.answer = 200;
    server.advance(HOUR_MS);
    await until(() => waiting(server).length === 0 && dataOf(there, "report.opened").at(-1).count === 3, 80);
    const ids = there.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(2);
    const json = JSON.parse((await operator(server.data_dir, ["status", "--json"])).stdout) as { notices: object };
    expect(json.notices).toMatchObject({ waiting: 0, failing_since: null, last_error: null, lost: 0 });
  });

  test("a letter tells of what is left of all that it is about, not of the first twenty alone", async () => {
    const { there, server, site } = await notTaken();
    await using _ = server;
    for (let n = 0; n < 26; n++) await report(server, site);
    there.answer = 200;
    server.advance(MINUTE_MS);
    const ids = read<{ report_id: string }>(server.data_dir, "select report_id from reports order by report_no");
    for (const { report_id } of ids.slice(1, 22)) {
      write(server.data_dir, `update reports set closed_at = '2026' where report_id = '${report_id}'`);
    }
    await until(() => dataOf(there, "report.opened").length === 3, 80);
    const { count, reports } = dataOf(there, "report.opened")[2];
    expect([count, reports.map((one: { report_id: string }) => one.report_id)]).toEqual([
      5,
      ids.slice(22).map(({ report_id }) => report_id),
    ]);
  });

  test("a letter that its receiver refuses is tried each five minutes at most, so that others get their turn", async () => {
    const there = receiver();
    there.answer = ({ type }) => (type === "site.quarantined" ? 413 : 200);
    await using server = await startServer(to(there));
    await server.deploy(SUSPICIOUS);
    await until(() => waiting(server)[0]?.tries === 1, 50);
    for (let tries = 2; tries <= 5; tries++) {
      server.advance(6 * MINUTE_MS);
      await until(() => waiting(server)[0]!.tries === tries, 50);
    }
    await report(server, await server.deploy({ "index.html": "x" }));
    await afterALook();
    server.advance(5 * MINUTE_MS);
    await until(() => waiting(server).some(({ tries }) => tries === 6), 50);
    server.advance(5 * MINUTE_MS);
    await until(() => dataOf(there, "report.opened").length === 1, 50);
  });

  test("what is deleted or judged before it is sent is not told of", async () => {
    const there = receiver();
    there.answer = 500;
    await using server = await startServer(to(there));
    const [gone, kept] = [await server.deploy({ "index.html": "gone" }), await server.deploy({ "index.html": "kept" })];
    await report(server, gone);
    await until(() => waiting(server)[0]?.tries === 1, 50);
    await operate(server.data_dir, "delete", gone.site_id);
    await report(server, kept);
    there.answer = 200;
    server.advance(HOUR_MS);
    await until(() => dataOf(there, "report.opened").at(-1)?.reports[0].slug === kept.slug, 80);
    // The letter of the deleted one was tried once, while it was there.
    expect(there.received.filter(({ body }) => body.includes(gone.slug))).toHaveLength(1);
  });
});

describe("beside webhooks", () => {
  test("a site's webhook goes on while notices are not taken, and its letters are not counted among them", async () => {
    const there = receiver();
    there.answer = "silence";
    const site = await startCommented({ ...to(there), SVC_WEBHOOKS: "on" });
    try {
      await site.configure({ mode: "anonymous" });
      const hooked = plainReceiver();
      await hook(site, hooked);
      await report(site.server, site.site);
      await until(() => there.received.length === 1, 50);
      await site.comment("Hello");
      await until(() => hooked.received.length === 1, 50);
      expect(Object.keys(hooked.received[0]!.told)).toEqual([
        "id",
        "type",
        "created_at",
        "site_id",
        "visibility",
        "data",
      ]);
      const status = JSON.parse((await operator(site.server.data_dir, ["status", "--json"])).stdout);
      expect([status.queues.webhooks.waiting, status.notices.waiting]).toEqual([0, 1]);
    } finally {
      await site.server[Symbol.asyncDispose]();
    }
  });

  test("an address of a private network needs SVC_WEBHOOKS_ALLOW", async () => {
    const there = receiver();
    const { SVC_WEBHOOKS_ALLOW: _, ...settings } = to(there);
    await using server = await startServer(settings);
    await report(server, await server.deploy({ "index.html": "x" }));
    await until(() => waiting(server)[0]?.tries === 1, 50);
    expect(there.received).toEqual([]);
  });

  test("410 ends them until the next start, which tries at once", async () => {
    const there = receiver();
    there.answer = 410;
    await using dir = await temporaryFolder();
    const env = { ...to(there), NODE_EXTRA_CA_CERTS: TLS_CERT };
    const run = () => startProcess(["--data-dir", dir.path, "--log", "json"], { env });
    const deploy = async (server: Awaited<ReturnType<typeof run>>) => {
      const init = { method: "POST", headers: ZIP, body: zipOf(SUSPICIOUS) };
      expect((await fetch(`${local(server)}/sites`, init)).status).toBe(200);
    };
    const first = await run();
    await deploy(first);
    await until(() => first.stderr().includes('"event":"notice"'), 50);
    expect(first.stderr()).toMatch(
      /"event":"notice","id":"msg_\w+","type":"site.quarantined","outcome":"ended","tries":1,"host":"127\.0\.0\.1:\d+","why":"it answered 410"/,
    );
    write(dir.path, "update notices set letter_at = 0"); // a minute later
    await deploy(first);
    await afterALook();
    expect([there.received.length, waiting({ data_dir: dir.path })]).toEqual([1, []]);
    const { stdout } = await operator(dir.path, ["status"]);
    expect(stdout).toMatch(/^Notices +ended .* by 410, 1 lost: svc-server notify --test begins them again$/m);
    await first.end();
    there.answer = 200;
    write(dir.path, "update notices set letter_at = 0"); // a minute later
    const second = await run();
    await until(() => there.received.length === 2, 50);
    await second.end();
  });

  test("a start without an address forgets what was noted", async () => {
    const { there, server } = await notTaken();
    await using _ = server;
    await server.stop();
    await server.start([]);
    expect([waiting(server), server.rows("notices")]).toEqual([[], 0]);
    await report(server, await server.deploy({ "index.html": "y" }));
    expect(server.rows("notices")).toBe(0);
    const { stdout } = await operator(server.data_dir, ["status"]);
    expect(stdout).not.toContain("Notices");
  });
});

describe("svc-server notify --test", () => {
  const ENV = { NODE_EXTRA_CA_CERTS: TLS_CERT };

  test("posts a test and says that it was taken; what waits is sent at once", async () => {
    const { there, server } = await notTaken();
    await using _ = server;
    there.answer = 200;
    const { code, stdout, stderr } = await operator(server.data_dir, ["notify", "--test"], {
      env: { ...to(there), ...ENV },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^127\.0\.0\.1:\d+ took the test msg_\w+: it answered 200 after \d+ ms\n$/);
    const { body, headers, told } = there.received.find(({ told: { type } }) => type === "test")!;
    expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
    expect(told.data).toEqual({ server: server.base_url, text: expect.stringContaining("This is a test") });
    await until(() => waiting(server).length === 0, 50); // long before the 10 s of its wait
  });

  test("the log says that notices are taken again, where the test was taken first", async () => {
    const there = receiver();
    there.answer = 500;
    await using dir = await temporaryFolder();
    const running = await startProcess(["--data-dir", dir.path, "--log", "json"], { env: { ...to(there), ...ENV } });
    const outcome = (name: string) => running.stderr().includes(`"type":"site.quarantined","outcome":"${name}"`);
    const init = { method: "POST", headers: ZIP, body: zipOf(SUSPICIOUS) };
    expect((await fetch(`${local(running)}/sites`, init)).status).toBe(200);
    await until(() => outcome("failed"), 50);
    there.answer = 200;
    const { code } = await operator(dir.path, ["notify", "--test"], { env: { ...to(there), ...ENV } });
    expect(code).toBe(0);
    await until(() => outcome("recovered"), 50);
    await running.end();
  });

  test.each<[string, Receiver["answer"] | "nobody", RegExp]>([
    ["another answer", 403, /did not take the test msg_\w+: it answered 403\.$/],
    ["no answer", "silence", /did not get the test msg_\w+: no answer within 5 seconds\.$/],
    ["nobody there", "nobody", /did not get the test msg_\w+: .*\.$/],
  ])("%s is exit code 1 and the reason, without the address's path", async (_, answer, sentence) => {
    const there = receiver();
    if (answer === "nobody") there.stop();
    else there.answer = answer;
    await using server = await startServer();
    const { code, stdout, stderr } = await operator(server.data_dir, ["notify", "--test"], {
      env: { ...to(there), ...ENV },
    });
    expect([code, stdout, stderr.trimEnd()]).toEqual([1, "", expect.stringMatching(sentence)]);
    expect(stderr).not.toContain("/hook");
  });

  test("without SVC_NOTIFY exit code 1, without --test 2", async () => {
    await using server = await startServer();
    const without = await operator(server.data_dir, ["notify", "--test"]);
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringContaining("set SVC_NOTIFY and SVC_NOTIFY_SECRET"),
    ]);
    expect((await operator(server.data_dir, ["notify"])).code).toBe(2);
  });
});
