/** BEYOND 10, certificates: the server's own ACME against Debian's pebble, a real RFC 8555 server that refuses every other nonce. */
import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { certificateFor } from "../kit/certificate.ts";
import { read, write } from "../kit/database.ts";
import { debianProgram } from "../kit/debian-package.ts";
import { freePort, type Pebble, startPebble } from "../kit/pebble.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { startProcess } from "../kit/process.ts";
import { callsOf, type DeployResult, type Setting } from "../kit/server.ts";
import { startDnsServer } from "../kit/dns-server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { type Domain, domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(120_000);

/** The certificate that a name gets, and whether it is of this root. */
function certificateOf(port: number, servername: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Those of a server that orders the certificates for svc.example.org and *.sites.example.org itself. */
const ownNames = ({ directory, ca_file }: Pebble, hook: string): Setting[] => [
  ...["--base-url", "https://svc.example.org", "--sites-domain", "sites.example.org"],
  { SVC_ACME: directory, SVC_ACME_CA: ca_file, SVC_DNS_HOOK: hook },
];

async function withPebble(...settings: Setting[]) {
  const names = await startDnsServer();
  const http_port = freePort();
  const pebble = await startPebble({ dns: names.address, http_port });
  const acme = { SVC_ACME: pebble.directory, SVC_ACME_CA: pebble.ca_file, SVC_ACME_CONTACT: "ops@example.org" };
  const world = await domainWorld("--http-port", String(http_port), acme, ...settings);
  const ann = await signUp(world.server);
  const site = await world.owned(ann);
  const tlsOf = async (name: string): Promise<Partial<Domain["tls"]>> =>
    read<Domain["tls"]>(
      world.server.data_dir,
      "select state, expires_at, error from certificates where name = ?",
      name,
    )[0] ?? {};
  return {
    ...{ ...world, names, pebble, http_port, ann, site, tlsOf },
    /** An active domain whose address leads here. */
    async leading(domain = freshDomain()): Promise<string> {
      names.set(domain, "A", ["127.0.0.1"]);
      await world.active(site, ann, domain);
      return domain;
    },
    plain: (path: string, host: string) =>
      fetch(`http://127.0.0.1:${http_port}${path}`, { headers: { host }, redirect: "manual" }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await pebble[Symbol.asyncDispose]();
      await names[Symbol.asyncDispose]();
    },
  };
}

const OWN = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];

describe("BEYOND 10: own ACME", () => {
  test("a domain that becomes active is ordered at once, and served with its chain by SNI; other names get --tls-cert", async () => {
    await using world = await withPebble(...OWN);
    const { server, pebble, tlsOf } = world;
    const own = new X509Certificate(await readFile(TLS_CERT));
    const domain = await world.leading();
    await until(async () => (await tlsOf(domain)).state === "active");
    const root = new X509Certificate(await pebble.root());
    await until(async () => (await certificateOf(server.port, domain)).checkHost(domain) === domain);
    const got = await certificateOf(server.port, domain);
    expect(got.issuer).toContain("Pebble Intermediate");
    expect(root.subject).toContain("Pebble Root");
    expect((await tlsOf(domain)).expires_at).toBe(new Date(got.validTo).toISOString());
    for (const other of ["elsewhere.example", "", `${world.site.slug}.localhost`]) {
      expect((await certificateOf(server.port, other)).fingerprint256).toBe(own.fingerprint256);
    }
    const answer = await fetch(`https://127.0.0.1:${server.port}/`, {
      headers: { host: domain },
      tls: { ca: await pebble.root(), serverName: domain, checkServerIdentity: () => undefined },
    } as RequestInit);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("home")]);
    const folder = join(server.data_dir, "certs");
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const file of ["account.pem", `${domain}/key.pem`, `${domain}/chain.pem`]) {
      expect([file, (await stat(join(folder, file))).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect((await world.change(world.site, domain, { hsts: true }, world.ann)).status).toBe(200);
    expect((await world.at(domain)).headers.get("strict-transport-security")).toBe("max-age=31536000");
  });

  test("it is renewed when a third of its life is left, and the one before is served until then", async () => {
    await using world = await withPebble(...OWN);
    const { server, tlsOf } = world;
    const domain = await world.leading();
    await until(async () => (await tlsOf(domain)).state === "active");
    await until(async () => (await certificateOf(server.port, domain)).checkHost(domain) === domain);
    const first = await certificateOf(server.port, domain);
    const life = Date.parse(first.validTo) - Date.parse(first.validFrom);
    server.advance(life * 0.6);
    await Bun.sleep(3000);
    expect((await certificateOf(server.port, domain)).fingerprint256).toBe(first.fingerprint256);
    server.advance(life * 0.1);
    await until(async () => (await certificateOf(server.port, domain)).fingerprint256 !== first.fingerprint256);
    expect((await tlsOf(domain)).state).toBe("active");
  });

  test("an order that fails says why in a sentence, waits an hour, and is tried again then", async () => {
    await using world = await withPebble(...OWN);
    const { server, names, tlsOf } = world;
    const [nowhere, elsewhere] = [freshDomain(), freshDomain()];
    await world.active(world.site, world.ann, nowhere);
    names.set(elsewhere, "A", ["127.0.0.99"]);
    await world.active(world.site, world.ann, elsewhere);
    for (const name of [nowhere, elsewhere]) {
      await until(async () => (await tlsOf(name)).state === "failed");
      expect((await tlsOf(name)).error).toContain(`point the A or AAAA record of ${name} to this server`);
      expect((await world.at(name)).status).toBe(200);
    }
    const wait = () =>
      read<{ next_at: number; failures: number }>(
        server.data_dir,
        "select * from certificates where name = ?",
        nowhere,
      )[0]!;
    expect(wait().next_at - server.now()).toBeWithin(3_400_000, 3_600_001);
    server.advance(3_600_000);
    await until(() => wait().failures === 2);
    expect(wait().next_at - server.now()).toBeWithin(7_000_000, 7_200_001);
    names.set(nowhere, "A", ["127.0.0.1"]);
    server.advance(7_200_000);
    await until(async () => (await tlsOf(nowhere)).state === "active");
    expect((await tlsOf(nowhere)).error).toBeNull();
  });

  test("the plain port answers challenges under way, /healthz, and the way to https on hosts that are known", async () => {
    await using world = await withPebble(...OWN);
    const { plain, server, site } = world;
    const domain = await world.leading();
    await until(async () => (await world.tlsOf(domain)).state === "active");
    for (const host of ["localhost", `${site.slug}.localhost`, `${site.version_id}--${site.slug}.localhost`]) {
      const { status, headers } = await plain("/a/b?c=d", host);
      expect([status, headers.get("location")]).toEqual([308, `https://${host}:${server.port}/a/b?c=d`]);
    }
    expect((await plain("/x", `${domain}:80`)).headers.get("location")).toBe(`https://${domain}:${server.port}/x`);
    for (const host of ["elsewhere.example", "none.localhost", "127.0.0.1:1", "a b"]) {
      expect([host, (await plain("/", host)).status]).toEqual([host, host === "127.0.0.1:1" ? 308 : 404]);
    }
    expect((await plain("/healthz", "elsewhere.example")).status).toBe(200);
    for (const token of ["x", "y".repeat(200), "y".repeat(201), "..%2f..%2fsecrets", "a/b", ""]) {
      expect((await plain(`/.well-known/acme-challenge/${token}`, "elsewhere.example")).status).toBe(404);
    }
    expect(read(server.data_dir, "select * from acme_challenges")).toEqual([]);
  });

  test("the server's own names by a hook: a certificate that signs itself until then, and neither --tls-cert nor --http-port is needed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-hook-"));
    const names = await startDnsServer();
    const setter = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        const [action, name, value] = decodeURIComponent(new URL(request.url).pathname).slice(1).split(" ");
        names.set(name!, "TXT", action === "present" ? [value!] : null);
        return new Response();
      },
    });
    const hook = join(folder, "hook");
    const log = join(folder, "log");
    await writeFile(
      hook,
      `#!${process.execPath}\nconst words = process.argv.slice(2).join(" ");\nrequire("fs").appendFileSync(${JSON.stringify(log)}, words + "\\n");\nawait fetch("http://127.0.0.1:${setter.port}/" + encodeURIComponent(words));\n`,
    );
    await chmod(hook, 0o755);
    const http_port = freePort();
    await using pebble = await startPebble({ dns: names.address, http_port, reuses: 0 });
    const settings = ownNames(pebble, hook);
    await using world = await domainWorld(...settings);
    const { port } = world.server;
    const issuer = async (name: string) => (await certificateOf(port, name)).issuer;
    expect(await issuer("svc.example.org")).not.toContain("Pebble");
    await until(async () => (await issuer("svc.example.org")).includes("Pebble"));
    const calm = "calm.sites.example.org";
    await until(async () => (await certificateOf(port, calm)).checkHost("other.sites.example.org") !== undefined);
    expect(await issuer(calm)).toContain("Pebble");
    const ran = async () =>
      (await readFile(log, "utf8"))
        .trim()
        .split("\n")
        .map((line) => line.split(" ").slice(0, 2).join(" "));
    const forName = (name: string) => [`present _acme-challenge.${name}`, `cleanup _acme-challenge.${name}`];
    expect(await ran()).toEqual([...forName("svc.example.org"), ...forName("sites.example.org")]);

    // Both are renewed, the one first that waits longer.
    const { data_dir } = world.server;
    const standing = () => read<{ name: string }>(data_dir, "select name from certificates where state = 'active'");
    await until(() => standing().length === 2);
    const before = await Promise.all([certificateOf(port, "svc.example.org"), certificateOf(port, calm)]);
    write(data_dir, "update certificates set next_at = case name when 'svc.example.org' then 2 else 1 end");
    await until(async () => (await ran()).length === 8);
    expect((await ran()).slice(4)).toEqual([...forName("sites.example.org"), ...forName("svc.example.org")]);
    for (const [i, name] of ["svc.example.org", calm].entries()) {
      await until(async () => (await certificateOf(port, name)).fingerprint256 !== before[i]!.fingerprint256);
      expect(await issuer(name)).toContain("Pebble");
    }

    // A domain is proved at the plain port alone: its owner is told, and the start with one orders it.
    const domain = freshDomain();
    names.set(domain, "A", ["127.0.0.1"]);
    const signed = await signUp(world.server);
    const ann = { ...signed, bearer: { ...signed.bearer, host: "svc.example.org" } };
    await world.active(await world.owned(ann), ann, domain);
    const error = () =>
      read<{ error: string | null }>(data_dir, "select error from certificates where name = ?", domain)[0]?.error;
    await until(() => error() !== undefined && error() !== null);
    expect(error()).toContain("ask its operator to set --http-port (SVC_HTTP_PORT)");
    const nextTry = () =>
      read<{ next_at: number }>(data_dir, "select next_at from certificates where name = ?", domain)[0]!.next_at;
    const next = nextTry();
    expect(next - world.server.now()).toBeGreaterThan(86_400_000);
    await world.server.stop();
    write(data_dir, "update certificates set next_at = 1 where name = 'svc.example.org'");
    await world.server.start([{ SVC_DNS: world.dns.address }, ...settings]); // which mends nothing
    await until(async () => (await ran()).length === 10);
    expect(nextTry()).toBe(next);
    await world.server.stop();
    await world.server.start([{ SVC_DNS: world.dns.address }, "--http-port", String(http_port), ...settings]);
    await until(async () => (await certificateOf(world.server.port, domain)).checkHost(domain) !== undefined);
    expect(error()).toBeNull();
    await setter.stop(true);
    await names[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
});

/** A worker that is replaced closes a connection that was kept: whoever asks does so again, as browsers do. */
async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 5) throw error;
      await Bun.sleep(200);
    }
  }
}

describe("BEYOND 10: several workers, and a server that is killed", () => {
  test("two workers order once and both serve it; an order under way at a kill -9 is begun again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-workers-"));
    await using names = await startDnsServer();
    const http_port = freePort();
    await using pebble = await startPebble({ dns: names.address, http_port });
    await using proofs = await startDnsServer();
    const env = { SVC_ACME: pebble.directory, SVC_ACME_CA: pebble.ca_file, SVC_DNS: proofs.address };
    const flags = [...OWN, "--http-port", String(http_port), "--data-dir", join(folder, "data"), "--workers", "2"];
    let running = await startProcess(flags, { env });
    const calls = () => callsOf({ port: running.port, base_url: running.base_url, tls_cert: TLS_CERT });
    const account = { email: "ann@example.org", password: "correct horse battery" };
    const { session_token } = (await call(calls(), "POST", "/auth/signup", account)).body;
    const ann = { bearer: bearer(session_token) };
    const site = (await (await calls().post(zipOf({ "index.html": "<p>home" }), ann.bearer)).json()) as DeployResult;
    const lead = async (domain: string) => {
      names.set(domain, "A", ["127.0.0.1"]);
      const path = `/sites/${site.site_id}/domains`;
      const { body } = await again(() => call(calls(), "POST", path, { domain }, ann.bearer));
      const [{ name, value }] = (body as never as Domain).records as [Domain["records"][0]];
      proofs.set(name, "TXT", [value]);
      const verified = await again(() => call(calls(), "POST", `${path}/${domain}/verify`, undefined, ann.bearer));
      expect(verified.status).toBe(200);
      return domain;
    };
    const fingerprints = async (domain: string) => {
      const seen = new Set<string>();
      for (let i = 0; i < 12; i++) {
        // A worker that is replaced may leave a handshake in its queue, as at every SIGHUP: a browser tries again.
        const got = await certificateOf(running.port, domain).catch(() => null);
        seen.add(got?.checkHost(domain) === domain ? got.fingerprint256 : "none");
      }
      return [...seen];
    };
    const first = await lead(freshDomain());
    await until(async () => (await fingerprints(first)).join().length === 95);
    expect(pebble.log().match(/Issued certificate serial/g)).toHaveLength(1);

    names.mood = "hangs";
    const second = await lead(freshDomain());
    const stateOf = (name: string) =>
      read<{ state: string }>(join(folder, "data"), "select state from certificates where name = ?", name)[0]?.state;
    await until(() => stateOf(second) === "pending");
    await running.end();
    names.mood = "answers";
    running = await startProcess(flags, { env });
    await until(async () => (await fingerprints(second)).join().length === 95);
    await until(async () => !(await fingerprints(first)).includes("none"));
    await running.end();
    await rm(folder, { recursive: true });
  });
});

/** A hook has two minutes. */
async function patientUntil(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 150_000; !condition(); await Bun.sleep(100)) {
    if (performance.now() > end) throw new Error("it did not happen within 150 s");
  }
}

describe("BEYOND 10: authorities and hooks that do harm", () => {
  const big = "x".repeat(10 << 20);
  const other = { newNonce: "https://elsewhere.example/n", newAccount: "https://elsewhere.example/a", newOrder: "x" };
  test.each<[string, (request: Request, home: string) => Response | Promise<Response>, string]>([
    ["answers no JSON", () => new Response("<html>"), "answered with no JSON"],
    ["answers 500", () => new Response("oops", { status: 500 }), "is answered 500"],
    ["answers 10 MB", () => new Response(big), "more than 256 KB"],
    [
      "never ends its answer",
      () => new Response(new ReadableStream({ pull: (c) => c.enqueue(Buffer.alloc(65536)) })),
      "more than 256 KB",
    ],
    ["sends its clients elsewhere", () => Response.redirect("https://elsewhere.example/", 307), "is answered 307"],
    ["names another host", () => Response.json(other), "leads to another host"],
    ["leaves out what it must say", () => Response.json({ newNonce: 7 }), "left"],
    [
      "gives no nonce",
      (_, home) => Response.json({ newNonce: home, newAccount: home, newOrder: home }),
      "gave no nonce",
    ],
    [
      "refuses each nonce for ever",
      (request, home) =>
        request.method === "POST"
          ? Response.json(
              { type: "urn:ietf:params:acme:error:badNonce" },
              { status: 400, headers: { "replay-nonce": "n" } },
            )
          : Response.json({ newNonce: home, newAccount: home, newOrder: home }, { headers: { "replay-nonce": "n" } }),
      "refused the order",
    ],
    [
      "wants a pause",
      (request, home) =>
        request.method === "POST"
          ? Response.json(
              { type: "urn:ietf:params:acme:error:rateLimited", detail: "slow \u001b[31mdown" },
              { status: 429, headers: { "replay-nonce": "n", "retry-after": "90000" } },
            )
          : Response.json({ newNonce: home, newAccount: home, newOrder: home }, { headers: { "replay-nonce": "n" } }),
      "as many certificates as it does for now",
    ],
    ["never answers", () => new Promise<Response>(() => {}), "could not be asked"],
  ])("one that %s fails the order with a sentence, and nothing else", async (_, answer, said) => {
    const folder = await mkdtemp(join(tmpdir(), "svc-ca-"));
    const pair = certificateFor(["localhost"]);
    await writeFile(join(folder, "ca.pem"), pair.cert);
    const ca: Bun.Server<undefined> = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 120,
      tls: pair,
      fetch: (request) => answer(request, `https://localhost:${ca.port}/`),
    });
    const env = { SVC_ACME: `https://localhost:${ca.port}/dir`, SVC_ACME_CA: join(folder, "ca.pem") };
    await using world = await domainWorld(...OWN, "--http-port", String(freePort()), env);
    const ann = await signUp(world.server);
    const site = await world.owned(ann);
    const { domain } = await world.active(site, ann);
    const row = () =>
      read<Domain["tls"] & { next_at: number }>(
        world.server.data_dir,
        "select * from certificates where name = ?",
        domain,
      )[0];
    await until(() => row()?.state === "failed");
    expect(row()!.error).toContain(said);
    expect(row()!.error).not.toContain("\u001b");
    expect(row()!.next_at - world.server.now()).toBeGreaterThan(said.includes("for now") ? 86_400_000 : 3_000_000);
    expect((await world.at(domain)).status).toBe(200);
    await ca.stop(true);
    await rm(folder, { recursive: true });
  });

  test.each<[string, string, string]>([
    ["fails", "process.stderr.write('no such zone'); process.exit(3)", "ended with 3"],
    [
      "prints 100 MB",
      "for (let i = 0; i < 1600; i++) require('fs').writeSync(1, 'x'.repeat(65536)); process.exit(1)",
      "ended with 1",
    ],
    ["hangs", "setInterval(() => {}, 1000)", "did not end in two minutes"],
    ["is not there", "", "could not be started"],
    ["is a script without its first line", "no script", "of a script the first line is #!/bin/sh"],
  ])(
    "a hook that %s fails the order with a sentence, is tried again after five minutes, and cleanup runs all the same",
    async (_, code, said) => {
      const folder = await mkdtemp(join(tmpdir(), "svc-hook-"));
      const [hook, log] = [join(folder, "hook"), join(folder, "log")];
      if (code !== "") {
        const act = `if (process.argv[2] === "present") { ${code} }`;
        const script = `#!${process.execPath}\nrequire("fs").appendFileSync(${JSON.stringify(log)}, process.argv[2] + " ");\n${act}\n`;
        await writeFile(hook, code === "no script" ? "exit 0\n" : script);
        await chmod(hook, 0o755);
      }
      await using names = await startDnsServer();
      await using pebble = await startPebble({ dns: names.address, http_port: freePort() });
      await using world = await domainWorld(...ownNames(pebble, hook));
      const row = () =>
        read<Domain["tls"] & { next_at: number }>(
          world.server.data_dir,
          "select * from certificates where name = 'svc.example.org'",
        )[0];
      await patientUntil(() => row()?.state === "failed");
      expect(row()!.next_at - world.server.now()).toBeWithin(200_000, 300_001);
      expect(row()!.error).toContain(said);
      expect(row()!.error!.length).toBeLessThan(1000);
      if (!["", "no script"].includes(code)) expect(await readFile(log, "utf8")).toStartWith("present cleanup ");
      expect((await world.server.api("/healthz")).status).not.toBe(500);
      await rm(folder, { recursive: true });
    },
    200_000,
  );
});

test("BEYOND 10: Caddy asks /tls/ask, and gets certificates for names that are served alone", async () => {
  const caddy = await debianProgram("caddy");
  const folder = await mkdtemp(join(tmpdir(), "svc-caddy-"));
  const port = freePort();
  await using world = await domainWorld("--trust-proxy", "127.0.0.1");
  const ann = await signUp(world.server);
  const site = await world.owned(ann);
  const { domain } = await world.active(site, ann);
  const upstream = `127.0.0.1:${world.server.port}`;
  await writeFile(
    join(folder, "Caddyfile"),
    `{
	admin off
	skip_install_trust
	auto_https disable_redirects
	storage file_system ${folder}/storage
	on_demand_tls {
		ask http://${upstream}/tls/ask
	}
}
https://:${port} {
	tls internal {
		on_demand
	}
	reverse_proxy ${upstream}
}
`,
  );
  const child = Bun.spawn([caddy, "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    const shakes = (name: string) =>
      certificateOf(port, name).then(
        (got) => got.checkHost(name) !== undefined,
        () => false,
      );
    await until(() => shakes(domain));
    expect(await shakes(`${site.slug}.localhost`)).toBe(true);
    for (const name of ["elsewhere.example", "none.localhost", "www.unknown.example.org"]) {
      expect([name, await shakes(name)]).toEqual([name, false]);
    }
    const answer = await fetch(`https://127.0.0.1:${port}/`, {
      headers: { host: domain },
      tls: { serverName: domain, rejectUnauthorized: false },
    } as RequestInit);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("home")]);
    await world.remove(site, domain, ann);
    expect((await world.server.api(`/tls/ask?domain=${domain}`)).status).toBe(404);
  } finally {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true });
  }
});
