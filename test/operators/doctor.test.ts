/** CONTRACT 7: `svc-server doctor` says what keeps a server from working, and what to do about it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { certificateFor, pairFiles } from "../kit/certificate.ts";
import { operator } from "../kit/operator.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";

setDefaultTimeout(60_000);

const CHECKS = ["dns", "certificate", "disk", "clock", "permissions", "ports", "backups"] as const;
type Check = (typeof CHECKS)[number];
interface Finding {
  check: Check;
  status: "ok" | "warn" | "fail" | "skip";
  message: string;
}

/** With a port of its own: the default one may be somebody's. */
async function examine(data_dir: string, flags: string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await operator(data_dir, ["doctor", "--json", "--port", "0", ...flags], { env });
  expect(stderr).toBe("");
  const findings = JSON.parse(stdout) as Finding[];
  expect(findings.map(({ check }) => check)).toEqual([...CHECKS]);
  expect(code).toBe(findings.some(({ status }) => status === "fail") ? 1 : 0);
  return (check: Check) => findings.find((one) => one.check === check)!;
}
const found = (status: Finding["status"], ...sentences: string[]) => ({
  status,
  message: expect.stringMatching(new RegExp(sentences.map((text) => RegExp.escape(text)).join(".*"))),
});

/** Names, owners, modes, sizes and times of all that lies there. */
const stateOf = (folder: string): unknown[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .filter((name) => !/-shm$/.test(name)) // the pages that readers share with the server
    .map((name) => {
      const { mode, uid, size, mtimeMs } = lstatSync(join(folder, name));
      return [name, mode, uid, size, mtimeMs];
    });

/** A server writes a little after the answer to a deploy: waits until nothing has changed for 300 ms. */
async function restingState(folder: string): Promise<unknown[]> {
  for (let before = stateOf(folder); ;) {
    await Bun.sleep(300);
    const now = stateOf(folder);
    if (Bun.deepEquals(before, now)) return now;
    before = now;
  }
}

describe("what it says", () => {
  test("a line a check: status, name, a sentence; exit code 0 where nothing fails", async () => {
    await using dir = await temporaryFolder();
    const { code, stdout } = await operator(join(dir.path, "new"), ["doctor", "--port", "0"]);
    expect(stdout.trimEnd().split("\n")).toEqual(
      CHECKS.map((check) => expect.stringMatching(new RegExp(`^(ok|warn|skip) +${check} +\\S.+\\.$`))),
    );
    expect(code).toBe(0);
  });

  test("without a data directory it says whether there may be one, and makes none", async () => {
    await using dir = await temporaryFolder();
    const of = await examine(join(dir.path, "new"));
    expect(of("permissions")).toMatchObject(found("ok", "is not there yet, and this user may make it"));
    expect(of("certificate")).toMatchObject(found("skip", "the server speaks HTTP"));
    expect(existsSync(join(dir.path, "new"))).toBe(false);
  });

  test("it changes nothing in a data directory, the server running or not", async () => {
    await using server = await startServer("--log", "off");
    await server.deploy({ "index.html": "x" });
    const running = await restingState(server.data_dir);
    await examine(server.data_dir);
    expect(stateOf(server.data_dir)).toEqual(running);
    await server.stop();
    const stopped = stateOf(server.data_dir);
    await examine(server.data_dir);
    expect(stateOf(server.data_dir)).toEqual(stopped);
  });

  test("settings that are none end it with exit code 2, as a start", async () => {
    await using dir = await temporaryFolder();
    expect(await operator(dir.path, ["doctor", "--port", "x"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("dns", () => {
  test("localhost and its subdomains are ok", async () => {
    await using dir = await temporaryFolder();
    const of = await examine(dir.path, ["--base-url", "http://svc.localhost:8787", "--sites-domain", "localhost"]);
    expect(of("dns").status).toBe("ok");
  });

  test("a base host and a name below the sites domain without an address: the records to add", async () => {
    await using dir = await temporaryFolder();
    const of = await examine(dir.path, ["--base-url", "https://svc.invalid", "--sites-domain", "sites.invalid:8443"]);
    expect(of("dns")).toMatchObject(found("fail", 'add the DNS record "svc.invalid. A ', '"*.sites.invalid. A '));
  });

  test("without settings it is the address of the server's last start", async () => {
    await using server = await startServer("--base-url", "https://svc.invalid", "--sites-domain", "sites.invalid");
    await server.stop();
    const of = await examine(server.data_dir);
    expect(of("dns")).toMatchObject(found("fail", "svc.invalid", "*.sites.invalid"));
    const moved = await examine(server.data_dir, ["--base-url", "https://new.invalid"]);
    expect(moved("dns")).toMatchObject(found("fail", "new.invalid", "*.new.invalid"));
  });
});

describe("certificate", () => {
  const DAY_MS = 86_400_000;
  const HOSTS = ["svc.invalid", "*.sites.invalid"];
  const ADDRESS = ["--base-url", "https://svc.invalid", "--sites-domain", "sites.invalid"];
  const ago = (days: number) => Date.now() - days * DAY_MS;

  test.each<[string, string[], { from?: number; days?: number }, Finding["status"], string]>([
    ["for both hosts and in its time", HOSTS, {}, "ok", "It is for svc.invalid and *.sites.invalid. It is valid until"],
    ["that ends in 13 days", HOSTS, { from: ago(77), days: 90 }, "warn", "renew it, then have it read again by SIGHUP"],
    ["that has 15 days left", HOSTS, { from: ago(75), days: 90.1 }, "ok", "It is valid until"],
    ["that has ended", HOSTS, { from: ago(91), days: 90 }, "fail", "It ended on"],
    ["that is not valid yet", HOSTS, { from: ago(-2) }, "fail", "It is not valid before"],
    ["for another host", ["svc.invalid"], {}, "fail", "and not for *.sites.invalid: get one that names"],
    ["for the sites alone", ["*.sites.invalid"], {}, "fail", "and not for svc.invalid: get one"],
    ["for one site", [...HOSTS.slice(0, 1), "a.sites.invalid"], {}, "fail", "and not for *.sites.invalid"],
  ])("one %s", async (_, hosts, times, status, sentence) => {
    await using dir = await temporaryFolder();
    const files = pairFiles(dir.path);
    await files.write(certificateFor(hosts, times));
    const of = await examine(join(dir.path, "data"), [...ADDRESS, ...files.flags]);
    expect(of("certificate")).toMatchObject(found(status, sentence));
  });

  test("one that cannot be read, and a key of another", async () => {
    await using dir = await temporaryFolder();
    const files = pairFiles(dir.path);
    const at = async () => (await examine(join(dir.path, "data"), [...ADDRESS, ...files.flags]))("certificate");
    expect(await at()).toMatchObject(found("fail", "--tls-cert (SVC_TLS_CERT)", "(ENOENT)", "readable for this user"));
    await files.write({ cert: certificateFor(HOSTS).cert, key: certificateFor(HOSTS).key });
    expect(await at()).toMatchObject(found("fail", "they do not fit together"));
  });
});

describe("the program that sets DNS records (SVC_DNS_HOOK)", () => {
  const NAMED = ["--base-url", "https://svc.invalid", "--sites-domain", "sites.invalid"];
  test.each<[string, number | null, Finding["status"], string]>([
    ["is there", 0o755, "skip", "the server orders one for its own names itself"],
    ["may not be run", 0o644, "fail", "it must be a program that this user can run (chmod 755)"],
    ["is not there", null, "fail", "it must be a program that this user can run (chmod 755)"],
  ])("one that %s", async (_, mode, status, sentence) => {
    await using dir = await temporaryFolder();
    const hook = join(dir.path, "hook");
    if (mode !== null) await writeFile(hook, "#!/bin/sh\n");
    if (mode !== null) chmodSync(hook, mode);
    const of = await examine(join(dir.path, "data"), NAMED, { SVC_DNS_HOOK: hook });
    expect(of("certificate")).toMatchObject(found(status, sentence));
  });
});

describe("disk", () => {
  test("where deploys without an account are refused: warn", async () => {
    await using dir = await temporaryFolder();
    const of = await examine(dir.path, [], { SVC_DISK_HIGH: "1%" });
    expect(of("disk")).toMatchObject(found("warn", "from 1 % on (SVC_DISK_HIGH)", "make room"));
  });

  test.if(process.platform === "linux")("without room for a deploy: fail", async () => {
    const of = await examine("/proc/svc-data"); // a file system of no blocks
    expect(of("disk")).toMatchObject(found("fail", "deploys are refused (507)", "make room"));
  });
});

test("clock: behind the last deploys: fail", async () => {
  await using server = await startServer();
  server.advance(3_600_000);
  await server.deploy({ "index.html": "x" });
  await server.stop();
  expect((await examine(server.data_dir))("clock")).toMatchObject(
    found("fail", "the last deploys are of up to", "set"),
  );
});

describe.if(process.platform !== "win32")("permissions", () => {
  const at = async (data_dir: string, ...flags: string[]) => (await examine(data_dir, flags))("permissions");

  test("a data directory that others may enter: fail", async () => {
    await using dir = await temporaryFolder();
    chmodSync(dir.path, 0o755);
    expect(await at(dir.path)).toMatchObject(found("fail", "is open to others (0755): chmod 700 "));
    chmodSync(dir.path, 0o700);
    expect(await at(dir.path)).toMatchObject(found("ok", "is this user's alone"));
  });

  test("a file in its place: fail", async () => {
    await using dir = await temporaryFolder();
    await writeFile(join(dir.path, "data"), "");
    expect(await at(join(dir.path, "data"))).toMatchObject(found("fail", "is no folder"));
  });

  test("secrets or a key that others can read: warn; a key that its group can read is ok", async () => {
    await using dir = await temporaryFolder();
    const data = join(dir.path, "data");
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(data, "secrets"), "");
    chmodSync(join(data, "secrets"), 0o640);
    expect(await at(data)).toMatchObject(found("warn", "secrets can be read by others (0640): chmod 600"));
    chmodSync(join(data, "secrets"), 0o600);
    const files = pairFiles(dir.path);
    await files.write(certificateFor(["localhost"]));
    chmodSync(files.key, 0o644);
    expect(await at(data, ...files.flags)).toMatchObject(
      found("warn", "key.pem can be read by others (0644): chmod o-rwx"),
    );
    chmodSync(files.key, 0o640);
    expect(await at(data, ...files.flags)).toMatchObject({ status: "ok" });
  });

  test.if(process.getuid?.() === 0)("what belongs to another user: fail", async () => {
    await using dir = await temporaryFolder();
    chownSync(dir.path, 65_534, 65_534);
    expect(await at(dir.path)).toMatchObject(found("fail", "belongs to uid 65534, and this is uid 0", "chown -R"));
    chownSync(dir.path, 0, 0);
    await writeFile(join(dir.path, "db"), "");
    chownSync(join(dir.path, "db"), 65_534, 65_534);
    expect(await at(dir.path)).toMatchObject(found("fail", "/db does not belong to uid 0"));
  });
});

describe.if(process.platform === "linux")("ports", () => {
  const at = async (data_dir: string, port: number, ...flags: string[]) =>
    (await examine(data_dir, ["--port", String(port), ...flags]))("ports");

  test("free, held by this data directory's own server, and taken by another program", async () => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    const { port } = server;
    expect(await at(server.data_dir, port)).toMatchObject(
      found("ok", `Port ${port} is held by this data directory's own`),
    );
    expect(await at(dir.path, port)).toMatchObject(found("fail", "is taken by another program: ss -ltnp", "--port"));
    await server.stop();
    expect(await at(server.data_dir, port)).toMatchObject(found("ok", `Port ${port} of 127.0.0.1 is free`));
  });

  test("the plain port beside https, too", async () => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    const flags = ["--http-port", String(server.port), "--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];
    expect(await at(dir.path, 0, ...flags)).toMatchObject(found("fail", "is taken by another program", "--http-port"));
  });

  test("an address that is none of this machine's: fail", async () => {
    await using dir = await temporaryFolder();
    expect(await at(dir.path, 8787, "--host", "192.0.2.1")).toMatchObject(
      found("fail", "none of this machine's: set --host"),
    );
  });
});
