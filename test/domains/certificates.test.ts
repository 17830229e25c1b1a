/** BEYOND 10, certificates that need no authority: which settings go together, files of one's own, the plain port, and how new certificates come in. */
import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readConfig } from "../../src/config/index.ts";
import { newKey } from "../../src/domains/acme.ts";
import { selfSigned } from "../../src/domains/x509.ts";
import { openStore } from "../../src/store/index.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import { certificateFor, type Pair } from "../kit/certificate.ts";
import { operate } from "../kit/operator.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { freePort } from "../kit/pebble.ts";
import { signUp } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { type Domain, domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(90_000);

const OWN = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];

/** The certificate that new connections for a name get. */
function certificateOf(port: number, servername: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connectSecurely({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

async function putOwn({ data_dir }: Pick<TestServer, "data_dir">, name: string, { cert, key }: Pair, manual = true) {
  const folder = join(data_dir, "certs", name);
  await mkdir(folder, { recursive: true });
  await Promise.all([
    writeFile(join(folder, "chain.pem"), cert),
    writeFile(join(folder, "key.pem"), key, { mode: 0o600 }),
    ...(manual ? [writeFile(join(folder, "manual"), "")] : []),
  ]);
}

const isFor = async (port: number, name: string): Promise<boolean> =>
  (await certificateOf(port, name)).checkHost(name) !== undefined;

describe("BEYOND 10: settings", () => {
  const HOOK = { SVC_DNS_HOOK: "/usr/local/bin/hook" };
  const NAMED = ["--base-url", "https://svc.example"];
  test.each([
    [["--http-port", "80"], {}, "the plain port beside https"],
    [[...OWN, "--http-port", "8443", "--port", "8443"], {}, "are the same"],
    [["--http-port", "80"], { SVC_ACME: "letsencrypt" }, "the plain port beside https"],
    [OWN, { SVC_ACME: "letsencrypt" }, "needs --http-port"],
    [[], { SVC_ACME: "letsencrypt" }, "set --tls-cert and --tls-key for those, or SVC_DNS_HOOK"],
    [["--http-port", "80"], { SVC_ACME: "off", ...HOOK }, "SVC_ACME is off"],
    [[], HOOK, "set --base-url"],
    [["--base-url", "http://svc.example"], HOOK, "https://<a public name>"],
    [["--base-url", "https://192.0.2.1", "--sites-domain", "sites.example"], HOOK, "https://<a public name>"],
    [["--base-url", "https://[2001:db8::1]", "--sites-domain", "sites.example"], HOOK, "https://<a public name>"],
    [["--base-url", "https://svc.localhost"], HOOK, "https://<a public name>"],
    [["--base-url", "https://svc"], HOOK, "https://<a public name>"],
    [[...NAMED, "--sites-domain", "localhost:8443"], HOOK, "set --sites-domain"],
    [OWN, HOOK, "set one of them"],
    [OWN, { SVC_ACME: "http://ca.example/dir" }, "off, letsencrypt, or the https URL of a directory"],
    [OWN, { SVC_ACME: "yes" }, "off, letsencrypt, or the https URL of a directory"],
    [OWN, { SVC_ACME_CONTACT: "nobody" }, "a mail address"],
    [OWN, { SVC_ACME_CONTACT: "a@b,mailto:c@d" }, "a mail address"],
    [[...OWN, "--http-port", "0"], {}, "a port from 1 to 65535, or off"],
    [[], { SVC_DNS: "resolver.example" }, "addresses with an optional port"],
    [[], { SVC_DNS: "9.9.9.9:70000" }, "addresses with an optional port"],
    [[], { SVC_DOMAIN_RECHECK: "often" }, "a duration"],
  ])("%j with %j is refused: %s", (flags, env, said) => {
    expect(() => readConfig(flags, env as Record<string, string>)).toThrow(said);
  });
  test.each([
    [[...OWN, "--http-port", "80"], {}, "https"],
    [[...OWN, "--http-port", "80"], { SVC_ACME: "letsencrypt" }, "https"],
    [[...NAMED, "--http-port", "80"], { SVC_ACME: "letsencrypt", ...HOOK }, "https"],
    [NAMED, HOOK, "https"],
    [[...NAMED, "--sites-domain", "sites.example:8443"], HOOK, "https"],
    [[], { SVC_DNS: "9.9.9.9, [2620:fe::fe]:53,2620:fe::9,127.0.0.1:5353" }, "http"],
  ])("%j with %j is taken, and the base URL is %s", (flags, env, scheme) => {
    const { base_url, acme } = readConfig(flags, env as Record<string, string>);
    expect(new URL(base_url).protocol).toBe(`${scheme}:`);
    if ("SVC_ACME" in env || "SVC_DNS_HOOK" in env) expect(acme).toBe("https://acme-v02.api.letsencrypt.org/directory");
  });
});

describe("BEYOND 10: files of one's own", () => {
  test("a pair beside a file `manual` is used for its name, after SIGHUP without a restart, and others go on", async () => {
    await using server = await startServer(...OWN);
    const domain = "www.own.example.org";
    expect(await isFor(server.port, domain)).toBe(false);
    await putOwn(server, domain, certificateFor([domain]));
    await putOwn(server, "_.wild.example.org", certificateFor(["*.wild.example.org"]));
    server.running.reload();
    await until(() => isFor(server.port, domain));
    expect(await isFor(server.port, "any.wild.example.org")).toBe(true);
    expect(await isFor(server.port, "a.b.wild.example.org")).toBe(false);
    const second = certificateFor([domain]);
    await putOwn(server, domain, second);
    server.running.reload();
    const fingerprint = new X509Certificate(second.cert).fingerprint256;
    await until(async () => (await certificateOf(server.port, domain)).fingerprint256 === fingerprint);
    await server.stop();
    await server.start(OWN);
    expect((await certificateOf(server.port, domain)).fingerprint256).toBe(fingerprint);
  });

  test("its owner sees until when it counts, and may have browsers insist on https, without an authority", async () => {
    await using world = await domainWorld(...OWN);
    const ann = await signUp(world.server);
    const site = await world.owned(ann);
    const { domain } = await world.active(site, ann);
    expect((await world.change(site, domain, { hsts: true }, ann)).status).toBe(409);
    const pair = certificateFor([domain]);
    await putOwn(world.server, domain, pair);
    world.server.running.reload();
    const expires_at = new Date(new X509Certificate(pair.cert).validTo).toISOString();
    const tls = async () =>
      ((await world.ask(ann, "GET", `/sites/${site.site_id}/domains`)).body as never as { domains: Domain[] })
        .domains[0]!.tls;
    await until(async () => (await tls()).state === "active");
    expect(await tls()).toEqual({ state: "active", expires_at, error: null });
    expect((await world.change(site, domain, { hsts: true }, ann)).status).toBe(200);
    await rm(join(world.server.data_dir, "certs", domain), { recursive: true });
    await until(async () => (await tls()).state === "none");
  });

  const [one, other] = [certificateFor(["www.bad.example.org"]), certificateFor(["www.bad.example.org"])];
  test.each<[string, Pair]>([
    ["a key of another one", { cert: one.cert, key: other.key }],
    ["one for other names", certificateFor(["www.else.example.org"])],
    ["one that has ended", certificateFor(["www.bad.example.org"], { from: Date.now() - 9e9, days: 1 })],
    ["no PEM", { cert: "certificate", key: "key" }],
    ["an empty file", { cert: "", key: "" }],
  ])("%s is not used, and all else is served", async (_, pair) => {
    await using server = await startServer(...OWN);
    await putOwn(server, "www.bad.example.org", pair);
    await putOwn(server, "www.good.example.org", certificateFor(["www.good.example.org"]));
    server.running.reload();
    await until(() => isFor(server.port, "www.good.example.org"));
    expect(await isFor(server.port, "www.bad.example.org")).toBe(false);
    await server.stop();
    await server.start(OWN);
    expect(await isFor(server.port, "www.good.example.org")).toBe(true);
    expect((await server.api("/healthz")).status).toBe(200);
  });

  test("ten exchanges while visitors ask without pause: no request is lost, whether its connection is kept or new", async () => {
    await using server = await startServer(...OWN);
    let asking = true;
    const counts = { asked: 0, failed: [] as string[] };
    const ask = async (keepalive: boolean) => {
      while (asking) {
        counts.asked++;
        const answer = await server.reach("/healthz", { keepalive }).catch((error: Error) => error);
        if (answer instanceof Error) counts.failed.push(answer.message);
        else if (answer.status !== 200) counts.failed.push(String(answer.status));
        else await answer.text();
      }
    };
    const visitors = [true, true, false, false].map(ask);
    for (let i = 0; i < 10; i++) {
      const pair = certificateFor(["www.swap.example.org"]);
      await putOwn(server, "www.swap.example.org", pair);
      server.running.reload();
      const fingerprint = new X509Certificate(pair.cert).fingerprint256;
      await until(
        async () => (await certificateOf(server.port, "www.swap.example.org")).fingerprint256 === fingerprint,
      );
    }
    asking = false;
    await Promise.all(visitors);
    expect(counts.failed).toEqual([]);
    expect(counts.asked).toBeGreaterThan(50);
  });

  test("backup and restore keep keys and chains, and the account's key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-certs-"));
    const data_dir = join(folder, "data");
    await using server = await startServer(...OWN);
    await putOwn(server, "www.kept.example.org", certificateFor(["www.kept.example.org"]));
    await putOwn(server, "_.kept.example.org", certificateFor(["*.kept.example.org"]), false);
    await writeFile(join(server.data_dir, "certs", "account.pem"), newKey(), { mode: 0o600 });
    await writeFile(join(server.data_dir, "certs", "changed"), "");
    const files = [
      "account.pem",
      "www.kept.example.org/key.pem",
      "_.kept.example.org/chain.pem",
      "www.kept.example.org/manual",
    ];
    expect((await operate(server.data_dir, "backup", join(folder, "copy"))).code).toBe(0);
    expect((await operate(data_dir, "restore", join(folder, "copy"))).code).toBe(0);
    for (const file of files) {
      const [was, is] = [join(server.data_dir, "certs", file), join(data_dir, "certs", file)];
      expect([file, await Bun.file(is).text()]).toEqual([file, await Bun.file(was).text()]);
      expect([file, (await stat(is)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect((await stat(join(data_dir, "certs"))).mode & 0o777).toBe(0o700);
    await rm(folder, { recursive: true });
  });
});

describe("BEYOND 10: the plain port", () => {
  test("leads to https on hosts that are known, one after another, and is 404 on others; it answers no site", async () => {
    const http_port = freePort();
    await using world = await domainWorld(...OWN, "--http-port", String(http_port));
    const ann = await signUp(world.server);
    const site = await world.owned(ann);
    const { domain } = await world.active(site, ann);
    const plain = (path: string, host: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${http_port}${path}`, { ...init, headers: { host }, redirect: "manual" });
    const { port } = world.server;
    for (const [host, there] of [
      ["localhost", `https://localhost:${port}`],
      [`${site.slug}.localhost:80`, `https://${site.slug}.localhost:${port}`],
      [domain.toUpperCase(), `https://${domain}:${port}`],
      [`${domain}.`, `https://${domain}:${port}`],
    ] as const) {
      for (const method of ["GET", "HEAD", "POST"]) {
        const { status, headers } = await plain("/a?b=c", host, { method });
        expect([host, status, headers.get("location")]).toEqual([host, 308, `${there}/a?b=c`]);
        expect(headers.get("connection")).toBe("close");
      }
    }
    for (const host of ["elsewhere.example", "none.localhost", "evil.example\u00e9", `${"a".repeat(300)}.example`]) {
      const answer = await plain("/", host).catch(() => null);
      if (answer !== null) expect([host, answer.status]).toEqual([host, answer.status === 400 ? 400 : 404]);
    }
    await world.remove(site, domain, ann);
    expect((await plain("/", domain)).status).toBe(404);
    expect(await (await plain("/healthz", "x")).json()).toEqual({ ok: true });
  });

  test("a crowd that is silent at it takes no place from https, and makes room in turn", async () => {
    const http_port = freePort();
    await using server = await startServer(...OWN, "--http-port", String(http_port), "--max-connections", "200");
    const sockets = Array.from({ length: 150 }, () =>
      connect({ host: "127.0.0.1", port: http_port }).on("error", () => {}),
    );
    let closed = 0;
    for (const socket of sockets) socket.on("close", () => closed++);
    await until(() => closed >= 90);
    expect((await server.api("/healthz")).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${http_port}/healthz`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

test("BEYOND 10: a certificate that signs itself is for its names, in its time, and of its key", () => {
  const key = newKey();
  const names = ["svc.example.org", "*.sites.example.org", `${"a.".repeat(40)}example.org`];
  for (const first of names) {
    const told = new X509Certificate(selfSigned([first, ...names], key, { from: Date.UTC(2026, 10, 28), days: 90 }));
    expect(told.checkHost("svc.example.org")).toBeDefined();
    expect(told.checkHost("any.sites.example.org")).toBeDefined();
    expect(told.checkHost("elsewhere.example")).toBeUndefined();
    expect(new Date(told.validFrom).toISOString()).toBe("2026-11-28T00:00:00.000Z");
    expect(told.verify(told.publicKey)).toBe(true);
  }
});

test("BEYOND 10: an order that fails waits an hour, doubled to a day, or as long as the authority wants", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-orders-"));
  const data_dir = join(folder, "data");
  let time = Date.UTC(2026, 10, 28);
  prepareDataDir(data_dir, { now: time }).close();
  const store = await openStore({ data_dir, now: () => time });
  const { certificates } = store;
  const name = freshDomain();
  const HOUR = 3_600_000;
  await certificates.begin(name);
  for (const hours of [1, 2, 4, 8, 16, 24, 24]) {
    await certificates.noteFailed({ name, error: "It failed.", first_ms: HOUR, retry_ms: 0 });
    time += hours * HOUR - 1;
    expect([hours, await certificates.dueSince(name)]).toEqual([hours, null]);
    time += 1;
    expect([hours, await certificates.dueSince(name)]).toEqual([hours, time]);
  }
  await certificates.noteFailed({ name, error: "Too many.", first_ms: HOUR, retry_ms: 48 * HOUR });
  time += 47 * HOUR;
  expect(await certificates.dueSince(name)).toBe(null);
  await certificates.noteIssued(name, new Date(time + 90 * 24 * HOUR).toISOString(), time + 60 * 24 * HOUR);
  await certificates.noteFailed({ name, error: "It failed.", first_ms: HOUR, retry_ms: 0 });
  time += HOUR;
  expect(await certificates.dueSince(name)).toBe(time);
  await store.close();
  await rm(folder, { recursive: true });
});
