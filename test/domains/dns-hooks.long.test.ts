/** BEYOND 10, the programs that `svc-server dns-hook` prints: against Debian's knot and BIND, against servers that answer as the APIs of Cloudflare and
 *  Hetzner are described to, and whole, from svc-server and pebble to the name server. The shell's clock alone is a fake. */
import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Resolver } from "node:dns/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { keyFile, programsFolder, startNameServer, WRONG_SECRET } from "../kit/name-servers.ts";
import { freePort, startPebble } from "../kit/pebble.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { run, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { startDnsServer } from "../kit/dns-server.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const RECORD = "_acme-challenge.sites.example.org";
const [ONE, TWO] = ["HOOK-one_0123456789abcdefghijklmnopqrstuvwx", "HOOK-two_0123456789abcdefghijklmnopqrstuvwx"];
const SERVICES = ["rfc2136", "cloudflare", "hetzner"];
const PROGRAMS = { nsupdate: "bind9-dnsutils", dig: "bind9-dnsutils", curl: "curl", jq: "jq" };

const printed = async (service: string): Promise<string> => (await run([...SVC_SERVER, "dns-hook", service])).stdout;

/** A hook as an operator makes it, with its programs, and a clock that goes on as it sleeps. */
async function hookOf(service: string, env: Record<string, string>) {
  const programs = await programsFolder(PROGRAMS);
  const path = join(programs.folder, "svc-dns");
  await writeFile(path, await printed(service));
  await chmod(path, 0o755);
  const clock = join(programs.folder, "clock");
  await writeFile(clock, "1000\n");
  const fakes = {
    date: `[ "$*" = +%s ] || exit 1\ncat '${clock}'`,
    sleep: `echo $(($(cat '${clock}') + $1)) >'${clock}.new' && mv '${clock}.new' '${clock}'`,
  };
  for (const [name, text] of Object.entries(fakes)) {
    await writeFile(join(programs.folder, "bin", name), `#!/bin/sh\n${text}\n`);
    await chmod(join(programs.folder, "bin", name), 0o755);
  }
  return {
    ...{ programs, path },
    call: (...words: string[]) => run([path, ...words], { env: { PATH: programs.path, ...env } }),
    slept: async (): Promise<number> => Number(await readFile(clock, "utf8")) - 1000,
    [Symbol.asyncDispose]: () => programs[Symbol.asyncDispose](),
  };
}

/** A file of a secret, readable for its user alone. */
async function secretFile(text: string) {
  const folder = await mkdtemp(join(tmpdir(), "svc-secret-"));
  const path = join(folder, "secret");
  await writeFile(path, text, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

/** The TXT values of a name, sorted. */
async function valuesOf(address: string, name = RECORD): Promise<string[]> {
  const resolver = new Resolver();
  resolver.setServers([address]);
  return (await resolver.resolveTxt(name).catch(() => [])).map((parts) => parts.join("")).sort();
}

describe("BEYOND 10: the hook for dynamic updates (RFC 2136)", () => {
  test.each(["knot", "BIND"] as const)("%s takes its records, several at once, and loses those alone", async (kind) => {
    await using names = await startNameServer(kind);
    await using key = await secretFile(keyFile());
    const server = names.address.replace(":", "#");
    await using hook = await hookOf("rfc2136", {
      DNS_HOOK_KEY: key.path,
      DNS_HOOK_SERVER: server,
      DNS_HOOK_ASK: server,
    });
    const steps: [string, string, string[]][] = [
      ["present", ONE, [ONE]],
      ["present", TWO, [ONE, TWO]],
      ["present", TWO, [ONE, TWO]],
      ["cleanup", ONE, [TWO]],
      ["cleanup", ONE, [TWO]],
      ["cleanup", TWO, []],
    ];
    for (const [action, value, left] of steps) {
      expect(await hook.call(action, RECORD, value)).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(await valuesOf(names.address)).toEqual(left);
    }
    expect(await hook.slept()).toBe(0);
  });

  test.each<[string, string, string, string]>([
    ["a key that the name server does not know", WRONG_SECRET, RECORD, "may the key"],
    ["a record that the key may not change", "", "www.example.org", "may the key"],
    ["a zone that it does not have", "", "_acme-challenge.elsewhere.test", "may the key"],
  ])("%s is a sentence, and nothing is set", async (_, secret, record, said) => {
    await using names = await startNameServer("knot");
    await using key = await secretFile(keyFile(secret || undefined));
    const server = names.address.replace(":", "#");
    await using hook = await hookOf("rfc2136", { DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server });
    const { code, stdout, stderr } = await hook.call("present", record, ONE);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(said);
    expect(await valuesOf(names.address, record)).toEqual([]);
  });

  test("a name server that is not there is a sentence", async () => {
    await using key = await secretFile(keyFile());
    await using hook = await hookOf("rfc2136", {
      DNS_HOOK_KEY: key.path,
      DNS_HOOK_SERVER: `127.0.0.1#${freePort()}`,
    });
    const { code, stderr } = await hook.call("present", RECORD, ONE);
    expect([code, stderr]).toEqual([1, expect.stringContaining("The name server did not take it")]);
  });

  test("svc-server orders its own names with it: pebble asks knot, and both certificates come", async () => {
    await using names = await startNameServer("knot");
    await using key = await secretFile(keyFile());
    const server = names.address.replace(":", "#");
    await using hook = await hookOf("rfc2136", {});
    const port = freePort();
    await using pebble = await startPebble({ dns: names.address, http_port: freePort() });
    await using data = await temporaryFolder();
    const running = await startProcess(
      [
        ...["--data-dir", data.path, "--port", String(port)],
        ...["--base-url", "https://svc.example.org", "--sites-domain", "sites.example.org"],
      ],
      {
        env: {
          ...{ SVC_ACME: pebble.directory, SVC_ACME_CA: pebble.ca_file, SVC_DNS_HOOK: hook.path },
          ...{ PATH: hook.programs.path, DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server, DNS_HOOK_ASK: server },
        },
      },
    );
    const shown = (servername: string) => certificateOf(port, servername);
    await until(async () => (await shown("svc.example.org")).issuer.includes("Pebble"));
    const calm = "calm.sites.example.org";
    await until(async () => (await shown(calm)).checkHost(calm) !== undefined);
    for (const record of ["_acme-challenge.svc.example.org", RECORD]) {
      await until(async () => (await valuesOf(names.address, record)).length === 0);
    }
    expect((await hook.programs.calls()).match(/^nsupdate/gm)).toHaveLength(4);
    await running.end();
  });

  test("a start tries at once what a hook failed before; what it leaves behind, and what the authority does not find, is said", async () => {
    await using names = await startNameServer("knot");
    await using folder = await temporaryFolder();
    await using key = await secretFile(keyFile());
    const server = names.address.replace(":", "#");
    await using hook = await hookOf("rfc2136", {});
    const [port, http_port] = [freePort(), freePort()];
    await using pebble = await startPebble({ dns: names.address, http_port });
    const start = (program: string) =>
      startProcess(
        [
          ...["--data-dir", folder.path, "--port", String(port), "--http-port", String(http_port)],
          ...["--base-url", "https://svc.example.org", "--sites-domain", "sites.example.org"],
        ],
        {
          env: {
            ...{ SVC_ACME: pebble.directory, SVC_ACME_CA: pebble.ca_file, SVC_DNS_HOOK: program },
            ...{ PATH: hook.programs.path, DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server, DNS_HOOK_ASK: server },
          },
        },
      );
    const program = async (name: string, text: string) => {
      await writeFile(join(hook.programs.folder, name), `#!/bin/sh\n${text}\n`);
      await chmod(join(hook.programs.folder, name), 0o755);
      return join(hook.programs.folder, name);
    };
    const broken = await start(await program("broken", "echo no such token >&2; exit 1"));
    await until(() => broken.stderr().includes("*.sites.example.org: SVC_DNS_HOOK"));
    await broken.end();
    // It leaves its records behind, and sets none for the sites.
    const untidy = await program(
      "untidy",
      `case "$1 $2" in\n  present*sites*) ;;\n  cleanup*) echo will not >&2; exit 1 ;;\n  *) exec '${hook.path}' "$@" ;;\nesac`,
    );
    const running = await start(untidy);
    await until(async () => (await certificateOf(port, "svc.example.org")).issuer.includes("Pebble"));
    await until(() =>
      running.stderr().includes("did not find what SVC_DNS_HOOK set at _acme-challenge.sites.example.org"),
    );
    expect(running.stderr()).toContain(
      "cleanup _acme-challenge.svc.example.org …) ended with 1: see whether it removes the record. It said: will not",
    );
    await running.end();
  });
});

function certificateOf(port: number, servername: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

describe("BEYOND 10: a hook ends when the name servers have the record", () => {
  async function asking(...servers: { address: string }[]) {
    const names = await startNameServer("knot");
    const key = await secretFile(keyFile());
    const server = names.address.replace(":", "#");
    const ask = [names, ...servers].map(({ address }) => address.replace(":", "#")).join(" ");
    const hook = await hookOf("rfc2136", { DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server, DNS_HOOK_ASK: ask });
    return {
      ...{ hook, names },
      async [Symbol.asyncDispose]() {
        for (const one of [hook, key, names]) await one[Symbol.asyncDispose]();
      },
    };
  }

  test("one that has it late is waited for", async () => {
    await using late = await startDnsServer();
    late.set(RECORD, "TXT", [TWO]);
    await using world = await asking(late);
    const ends = world.hook.call("present", RECORD, ONE);
    await until(() => late.asked.length >= 3);
    late.set(RECORD, "TXT", [TWO, ONE]);
    expect((await ends).code).toBe(0);
    expect(await world.hook.slept()).toBeGreaterThanOrEqual(4);
  });

  test("one that never has it is waited for 90 s in all, and one that has it is enough then", async () => {
    await using never = await startDnsServer();
    await using world = await asking(never);
    expect((await world.hook.call("present", RECORD, ONE)).code).toBe(0);
    expect(await world.hook.slept()).toBeWithin(90, 100);
  });

  test.each(["hangs", "refuses", "fails"] as const)("one that %s is passed by", async (mood) => {
    await using silent = await startDnsServer();
    silent.mood = mood;
    await using world = await asking(silent);
    expect((await world.hook.call("present", RECORD, ONE)).code).toBe(0);
    expect(await world.hook.slept()).toBe(0);
  });

  test("where none has it, that is a sentence", async () => {
    await using never = await startDnsServer();
    await using names = await startNameServer("knot");
    await using key = await secretFile(keyFile());
    const [server, ask] = [names, never].map(({ address }) => address.replace(":", "#")) as [string, string];
    await using hook = await hookOf("rfc2136", { DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server, DNS_HOOK_ASK: ask });
    const { code, stderr } = await hook.call("present", RECORD, ONE);
    expect([code, stderr]).toEqual([1, expect.stringContaining("no name server of its zone has it")]);
  });

  test("however many do not answer, it ends before its two minutes", async () => {
    await using names = await startNameServer("knot");
    await using key = await secretFile(keyFile());
    const [server, ask] = [names.address.replace(":", "#"), Array(40).fill("192.0.2.1").join(" ")];
    await using hook = await hookOf("rfc2136", { DNS_HOOK_KEY: key.path, DNS_HOOK_SERVER: server, DNS_HOOK_ASK: ask });
    const bin = join(hook.programs.folder, "bin");
    await writeFile(join(bin, "dig"), `#!/bin/sh\n'${bin}/sleep' 8\nexit 9\n`);
    expect((await hook.call("present", RECORD, ONE)).code).toBe(0);
    expect(await hook.slept()).toBeWithin(90, 110);
  });

  test("without DNS_HOOK_ASK they are those of the nearest name above the record that has some", async () => {
    await using names = await startNameServer("BIND");
    await using key = await secretFile(keyFile());
    await using hook = await hookOf("rfc2136", {
      DNS_HOOK_KEY: key.path,
      DNS_HOOK_SERVER: names.address.replace(":", "#"),
    });
    // The machine's resolver and ns1.example.org are the one name server of this test.
    const dig = join(hook.programs.folder, "bin/dig");
    await writeFile(`${dig}.real`, await readFile(dig), { mode: 0o755 });
    const here = `@127.0.0.1 -p ${names.port}`;
    await writeFile(
      dig,
      `#!/bin/sh
case "$*" in
  *@ns1.example.org.*) set -- $(echo "$*" | sed 's/-p 53//; s/@ns1.example.org./${here}/') ;;
  *@*) echo "unexpected: $*" >&2 && exit 9 ;;
  *) set -- "$@" ${here} ;;
esac
exec '${dig}.real' "$@"
`,
    );
    expect(await hook.call("present", RECORD, ONE)).toMatchObject({ code: 0, stderr: "" });
    const asked = (await hook.programs.calls()).split("\n").filter((line) => line.startsWith("dig"));
    expect(asked.map((line) => / (NS|TXT) (\S+)/.exec(line)!.slice(1).join(" "))).toEqual([
      ...[`NS ${RECORD}`, "NS sites.example.org", "NS example.org"],
      `TXT ${RECORD}`,
    ]);
    expect(await hook.slept()).toBe(0);
  });
});

interface Api {
  /** TXT records of the service: name → values. */
  records: Map<string, string[]>;
  /** Answers a request whose token is right. */
  answer(request: Request, path: string): Promise<Response>;
  denied(): Response;
}

const ZONE_IDS: Readonly<Record<string, string>> = { "example.org": "a".repeat(32), [RECORD]: "b".repeat(32) };

/** As https://developers.cloudflare.com/api describes zones and DNS records: TXT contents are shown in quotes. */
function cloudflareApi(zones: readonly string[]): Api {
  const records: Api["records"] = new Map();
  const ids = new Map<string, [name: string, value: string]>();
  const done = (result: unknown) => Response.json({ success: true, errors: [], messages: [], result });
  const refused = (status: number, code: number, message: string) =>
    Response.json({ success: false, errors: [{ code, message }], messages: [], result: null }, { status });
  return {
    records,
    denied: () => refused(403, 9109, "Invalid access token"),
    async answer(request, path) {
      const { searchParams } = new URL(request.url);
      if (path === "/zones") {
        const name = searchParams.get("name")!;
        // So it answers a token of one zone that asks for another name.
        if (!zones.includes(name)) return refused(403, 0, "Actor requires permission to list zones");
        const account = { id: "f".repeat(32), name: "Ann" };
        const older = { account, id: "0".repeat(32), name, status: "moved" };
        return done([older, { account, id: ZONE_IDS[name], name, status: "active" }]);
      }
      const zone = zones.find((name) => path.startsWith(`/zones/${ZONE_IDS[name]}/dns_records`));
      if (zone === undefined) return refused(404, 7003, "Could not route");
      const name = searchParams.get("name") ?? "";
      if (request.method === "GET") {
        const all = [...ids].filter(([, [of]]) => of === name && searchParams.get("type") === "TXT");
        return done(all.map(([id, [, value]]) => ({ id, name, type: "TXT", content: `"${value}"`, ttl: 60 })));
      }
      if (request.method === "DELETE") {
        const id = path.split("/").at(-1)!;
        const [of, value] = ids.get(id)!;
        ids.delete(id);
        records.set(
          of,
          records.get(of)!.filter((one) => one !== value),
        );
        return done({ id });
      }
      const body = (await request.json()) as { type: string; name: string; content: string; ttl: number };
      const value = /^"([^"]+)"$/.exec(body.content)![1]!;
      if (body.type !== "TXT" || body.ttl < 60) return refused(400, 9000, "DNS name is invalid");
      if (records.get(body.name)?.includes(value)) return refused(400, 81058, "An identical record already exists.");
      records.set(body.name, [...(records.get(body.name) ?? []), value]);
      const id = crypto.randomUUID().replaceAll("-", "");
      ids.set(id, [body.name, value]);
      return done({ id });
    },
  };
}

/** As https://docs.hetzner.cloud describes the actions of a zone's RRSets: a set that loses its last record is gone. */
function hetznerApi(zones: readonly string[], ttl: number | null = null): Api {
  const records: Api["records"] = new Map();
  const refused = (status: number, code: string, message: string) =>
    Response.json({ error: { code, message, details: null } }, { status });
  const action = () =>
    Response.json({ action: { id: 1, status: "running", progress: 0, error: null } }, { status: 201 });
  return {
    records,
    denied: () => refused(401, "unauthorized", "the token you provided is invalid"),
    async answer(request, path) {
      const [, , zone = "", , set = "", type, , command] = path.split("/");
      if (!zones.includes(zone)) return refused(404, "not_found", `zone with ID or name ${zone} not found`);
      if (set === "") return Response.json({ zone: { id: 42, name: zone, mode: "primary" } });
      if (type !== "TXT") return refused(404, "not_found", "no such set");
      const name = set === "@" ? zone : `${set}.${zone}`;
      const kept = records.get(name) ?? [];
      const shown = (values: string[]) => values.map((value) => ({ value: `"${value}"`, comment: "" }));
      if (request.method === "GET" && kept.length === 0) return refused(404, "not_found", "rrset not found");
      if (request.method === "GET")
        return Response.json({ rrset: { id: `${set}/TXT`, ttl: 60, records: shown(kept) } });
      const body = (await request.json()) as { ttl?: number; records: { value: string }[] };
      const values = body.records.map(({ value }) => /^"([^"]+)"$/.exec(value)![1]!);
      if (command === "add_records") {
        if (values.some((value) => kept.includes(value))) return refused(409, "uniqueness_error", "record exists");
        if (body.ttl !== undefined && ttl !== null && body.ttl !== ttl)
          return refused(422, "invalid_input", "has differing record TTLs");
        records.set(name, [...kept, ...values]);
        return action();
      }
      if (!values.every((value) => kept.includes(value))) return refused(404, "not_found", "record not found");
      records.set(
        name,
        kept.filter((value) => !values.includes(value)),
      );
      return action();
    },
  };
}

const APIS: Record<"cloudflare" | "hetzner", (zones: readonly string[], ttl: number | null) => Api> = {
  cloudflare: cloudflareApi,
  hetzner: hetznerApi,
};
const TOKEN = "t0ken-of-the-tests";

/** A hook, the API of its service, and a name server that tells what the API has. */
async function withApi(service: keyof typeof APIS, zones: string[], token = TOKEN, ttl: number | null = null) {
  const api = APIS[service](zones, ttl);
  const state = { failing: null as (() => Response | Promise<Response>) | null };
  const names = await startDnsServer();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      if (state.failing !== null) return state.failing();
      if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) return api.denied();
      const answer = await api.answer(request, decodeURIComponent(new URL(request.url).pathname.slice("/v".length)));
      for (const [name, values] of api.records) names.set(name, "TXT", values.length === 0 ? null : values);
      return answer;
    },
  });
  const file = await secretFile(`${token}\n`);
  const hook = await hookOf(service, {
    DNS_HOOK_TOKEN: file.path,
    DNS_HOOK_API: `http://127.0.0.1:${server.port}/v`,
    DNS_HOOK_ASK: names.address.replace(":", "#"),
  });
  return {
    ...{ api, state, hook, names, server },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      for (const one of [hook, file, names]) await one[Symbol.asyncDispose]();
    },
  };
}

describe.each(["cloudflare", "hetzner"] as const)("BEYOND 10: the hook for %s", (service) => {
  test.each([[["example.org"]], [[RECORD]], [["example.org", RECORD]]])(
    "it sets values beside others, in the nearest zone of %j, and removes its own alone",
    async (zones) => {
      await using world = await withApi(service, zones);
      const steps: [string, string, string[]][] = [
        ["present", ONE, [ONE]],
        ["present", TWO, [ONE, TWO]],
        ["present", TWO, [ONE, TWO]],
        ["cleanup", ONE, [TWO]],
        ["cleanup", ONE, [TWO]],
        ["cleanup", TWO, []],
        ["cleanup", TWO, []],
      ];
      for (const [action, value, left] of steps) {
        expect(await world.hook.call(action, RECORD, value)).toEqual({ code: 0, stdout: "", stderr: "" });
        expect(world.api.records.get(RECORD)!.toSorted()).toEqual(left);
      }
      expect(await world.hook.slept()).toBe(0);
      expect(await world.hook.programs.calls()).not.toContain(TOKEN);
    },
  );

  test.each<[string, string[], string, (() => Response) | null, string]>([
    [
      "a token that is refused",
      ["example.org"],
      "another",
      null,
      service === "hetzner" ? "401" : "Invalid access token (9109)",
    ],
    ["a token that sees no zone of it", ["elsewhere.test"], TOKEN, null, "no zone of"],
    ["an API that fails", [], TOKEN, () => new Response("<h1>oops</h1>", { status: 502 }), "oops"],
    ["an API that has enough", [], TOKEN, () => Response.json({ success: false }, { status: 429 }), "it answered"],
    [
      "an API that answers nothing",
      [],
      TOKEN,
      () => new Response(""),
      service === "hetzner" ? "no name server" : "shows no zone",
    ],
  ])("%s is a sentence", async (_, zones, token, failing, said) => {
    await using world = await withApi(service, zones, token);
    world.state.failing = failing;
    const { code, stdout, stderr } = await world.hook.call("present", RECORD, ONE);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(token === TOKEN ? TOKEN : '"another"');
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("an API that is not there, or never answers, is a sentence", async () => {
    await using world = await withApi(service, ["example.org"]);
    world.state.failing = () => new Promise<Response>(() => {});
    const silent = await world.hook.call("present", RECORD, ONE);
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining("could not be asked")]);
    await world.server.stop(true);
    const gone = await world.hook.call("present", RECORD, ONE);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("could not be asked")]);
  });

  test("beside a value of another time to live it sets its own", async () => {
    await using world = await withApi(service, ["example.org"], TOKEN, 3600);
    expect(await world.hook.call("present", RECORD, ONE)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(world.api.records.get(RECORD)).toEqual([ONE]);
  });

  test.each([" \n", ""])("a file with %j for a token says so", async (token) => {
    await using file = await secretFile(token);
    await using hook = await hookOf(service, { DNS_HOOK_TOKEN: file.path });
    const { code, stderr } = await hook.call("present", RECORD, ONE);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`There is no API token in ${file.path}`)]);
  });

  test("what an API says reaches a terminal without its control characters", async () => {
    await using world = await withApi(service, ["example.org"]);
    const said = {
      success: false,
      errors: [{ code: 10000, message: "\u001b[31mred" }],
      error: { message: "\u001b[31mred" },
    };
    world.state.failing = () => new Response(JSON.stringify(said).replaceAll("\\u001b", "\u001b"), { status: 403 });
    const { stderr } = await world.hook.call("present", RECORD, ONE);
    expect(stderr).toContain("[31mred");
    expect(stderr).not.toContain("\u001b");
  });

  test("where no name server can be asked it waits 20 s", async () => {
    await using world = await withApi(service, ["example.org"]);
    world.names.mood = "hangs";
    expect((await world.hook.call("present", RECORD, ONE)).code).toBe(0);
    expect(await world.hook.slept()).toBe(20);
  });

  test("without a token it says where that goes", async () => {
    await using hook = await hookOf(service, { DNS_HOOK_TOKEN: "/nowhere/dns-token" });
    const { code, stderr } = await hook.call("present", RECORD, ONE);
    expect([code, stderr]).toEqual([1, expect.stringContaining("put it into /nowhere/dns-token (DNS_HOOK_TOKEN)")]);
  });
});

describe("BEYOND 10: svc-server dns-hook", () => {
  test.each(SERVICES)("%s: it refuses words that no order has, before it asks anybody", async (service) => {
    await using secret = await secretFile("x");
    await using hook = await hookOf(service, { DNS_HOOK_KEY: secret.path, DNS_HOOK_TOKEN: secret.path });
    const calls: [string[], string][] = [
      [[], "three words"],
      [["present", RECORD], "three words"],
      [["present", RECORD, ONE, ONE], "three words"],
      [["remove", RECORD, ONE], "There is no action remove"],
      [["present", `${RECORD}"; send`, ONE], "letters"],
      [["present", RECORD, `${ONE}\nserver elsewhere.example`], "letters"],
      [["present", RECORD, `$(id)`], "letters"],
      [["present", `${RECORD}/../x`, ONE], "letters"],
    ];
    for (const [words, said] of calls) {
      const { code, stdout, stderr } = await hook.call(...words);
      expect([words, code, stdout, stderr]).toEqual([words, 1, "", expect.stringContaining(said)]);
    }
    expect(await hook.programs.calls()).toBe("");
  });

  test("all wait for the name servers with the same lines", async () => {
    const parts = await Promise.all(
      SERVICES.map(
        async (service) =>
          /^# The name servers of the record's zone[^]+?^wait_until_seen[^]+?^}$/m.exec(await printed(service))![0],
      ),
    );
    expect(new Set(parts).size).toBe(1);
  });

  test("SVC_DNS_HOOK is refused where SVC_ACME is off, and beside --tls-cert, which would be used in its place", async () => {
    const secure = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];
    for (const [flags, env, said] of [
      [[], { SVC_ACME: "off" }, "SVC_ACME is off: leave that out"],
      [[...secure, "--http-port", "8080"], { SVC_ACME: "letsencrypt" }, "set one of them"],
    ] as const) {
      const ran = await run([...SVC_SERVER, ...flags, "--print-config"], {
        env: { ...env, SVC_DNS_HOOK: "/bin/true" },
      });
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(said)]);
    }
  });

  test("a service that it does not know is wrong usage, and says which there are", async () => {
    const { code, stdout, stderr } = await run([...SVC_SERVER, "dns-hook", "route53"]);
    expect([code, stdout]).toEqual([2, ""]);
    for (const service of SERVICES) expect(stderr).toContain(service);
  });
});
