/** RELIABILITY A2, A17, A18: no token is anywhere on disk, in the log or in an answer that does not hand it out. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { appendFile, chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expectAlike } from "../kit/cpu.ts";
import { call, cookieOf, PASSWORD, signUp, submit } from "../kit/people.ts";
import { sharedPages, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer, TestServer, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

/** Every file below a folder. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("A2 after everything that mints a token, none is in the data directory, the log or another answer", async () => {
  await using folder = await temporaryFolder();
  const child = await startProcess(["--data-dir", folder.path, "--log", "json"]);
  const { port, base_url } = child;
  // The helpers ask for an address only: this server is a process, for its log's sake.
  const server = new (class extends TestServer {
    override get port() {
      return port;
    }
    override get base_url() {
      return base_url;
    }
  })(folder.path);
  const secrets: string[] = [PASSWORD];
  const answers: string[] = [];
  const json = async (method: string, path: string, body?: unknown, token?: string) => {
    const answer = await call(server, method, path, body, token ? { authorization: `Bearer ${token}` } : {});
    return answer.body;
  };
  const person = await json("POST", "/auth/signup", { email: "ann@example.org", password: PASSWORD });
  const again = await json("POST", "/auth/login", { email: "ann@example.org", password: PASSWORD });
  const site = (await (await server.post(zipOf({ "index.html": "x" }))).json()) as DeployResult;
  const headers = { ...ZIP, authorization: `Bearer ${person.session_token}` };
  const owned = (await (await server.post(zipOf({ "index.html": "y" }), headers)).json()) as DeployResult;
  const device = await json("POST", "/auth/device/code", {});
  const browser = await submit(server, "/signin", { email: "ann@example.org", password: PASSWORD });
  const made = await json("POST", "/account/tokens", { name: "CI", scopes: ["deploy"] }, person.session_token);
  const deploy_token = String(made["token"]);
  const byCi = { ...ZIP, authorization: `Bearer ${deploy_token}` };
  await server.api(`/sites/${owned.site_id}/deploys`, {
    method: "POST",
    headers: byCi,
    body: zipOf({ "index.html": "z" }),
  });
  secrets.push(
    deploy_token,
    person.session_token,
    again.session_token,
    site.manage_token,
    site.claim_token!,
    owned.manage_token,
  );
  secrets.push(device.device_code, cookieOf(browser)!.split("=")[1]!);

  // Used in every place a careless server would write them down: answers, errors, queries, a Referer.
  const tried = async (path: string, init: RequestInit = {}) =>
    answers.push(await (await server.api(path, init)).text());
  await json("POST", `/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, person.session_token);
  for (const token of secrets) {
    const authorization = `Bearer ${token}`;
    await tried("/account/sessions", { headers: { authorization, referer: `${base_url}/claim/x?token=${token}` } });
    await tried(`/sites/${site.site_id}?token=${token}`, { headers: { authorization } });
    await tried("/auth/device/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ device_code: `${token}x` }),
    });
    await tried("/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"email": "${token}", "password": `,
    });
    await tried(`/sites/${site.site_id}/claim`, {
      method: "POST",
      headers: { authorization: `Bearer ${person.session_token}`, "content-type": "application/json" },
      body: JSON.stringify({ claim_token: token }),
    });
    await server.site(site.slug, `/?t=${token}`);
  }
  await fetch(`http://127.0.0.1:${child.port}/the-last`);
  await until(() => child.stderr().includes("/the-last"));
  const paths = await filesIn(folder.path);
  expect(paths.some((path) => path.endsWith("db-wal"))).toBe(true);
  const onDisk = Buffer.concat(await Promise.all(paths.map(async (path) => Buffer.from(await Bun.file(path).bytes()))));
  for (const secret of secrets) {
    const random = secret.replace(/^svc_[a-z]+_/, "");
    for (const form of [random, Buffer.from(random).toString("hex"), Buffer.from(random).toString("base64")]) {
      expect(onDisk.includes(form)).toBe(false);
    }
    expect(child.stderr()).not.toContain(random);
    expect(answers.join("\n")).not.toContain(random);
  }
  expect(child.stderr()).toContain("/account/sessions");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  const after = Buffer.concat(
    await Promise.all((await filesIn(folder.path)).map(async (path) => Buffer.from(await Bun.file(path).bytes()))),
  );
  for (const secret of secrets) expect(after.includes(secret)).toBe(false);
}, 60_000);

/** Every file and folder below it that another user could read. */
async function openToOthers(data_dir: string): Promise<string[]> {
  const names = await readdir(data_dir, { recursive: true });
  const modes = await Promise.all(names.map(async (name) => [name, (await stat(join(data_dir, name))).mode] as const));
  expect(names).toContain("lock.db-journal");
  return modes.filter(([, mode]) => (mode & 0o077) !== 0).map(([name]) => name);
}

test("A18 the data directory is 0700, and what lies in it for nobody else", async () => {
  await using server = await startServer();
  await server.deploy({ "index.html": "x" });
  expect((await stat(server.data_dir)).mode & 0o777).toBe(0o700);
  for (const path of sharedPages(server.data_dir)) expect((await stat(path)).mode & 0o777).toBe(0o600);
  const open = await openToOthers(server.data_dir);
  expect(open).toEqual([]);
  await server.stop();
  for (const name of ["lock.db", "lock.db-journal", "db", "db-wal", "brands.txt"]) {
    await appendFile(join(server.data_dir, name), "");
    await chmod(join(server.data_dir, name), 0o644);
  }
  await server.start([]);
  expect(await openToOthers(server.data_dir)).toEqual([]);
});

test("A18 the keys are random, stay over a restart, and are closed to others again", async () => {
  await using one = await startServer();
  await using two = await startServer();
  const read = (server: TestServer) => Bun.file(join(server.data_dir, "secrets")).text();
  const before = await read(one);
  expect(before).not.toBe(await read(two));
  for (const key of Object.values(JSON.parse(before) as Record<string, string>)) expect(key).toMatch(/^[\w-]{43}$/);
  await one.stop();
  await chmod(join(one.data_dir, "secrets"), 0o644);
  await one.start([]);
  expect(await read(one)).toBe(before);
  expect((await stat(join(one.data_dir, "secrets"))).mode & 0o777).toBe(0o600);
});

test.each([
  ["empty", ""],
  ["cut", '{"csrf":"abc'],
  ["short", '{"csrf":"abc"}'],
  ["no object", "null"],
])("a file of keys that is %s stops the start with a sentence that says what to do", async (_, content) => {
  await using server = await startServer();
  await server.stop();
  await Bun.write(join(server.data_dir, "secrets"), content);
  await expect(server.start([])).rejects.toThrow(/secrets is damaged: restore it/);
});

test("A2 a known and an unknown token take the same time to be refused", async () => {
  await using server = await startServer();
  const site = await server.deploy({ "index.html": "x" });
  const person = await signUp(server);
  const made = await call(server, "POST", "/account/tokens", { name: "CI", scopes: ["read"] }, person.bearer);
  const almost = (token: string) => token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
  const refused = (token: string) => async () => {
    const { status } = await server.api(`/sites/${site.site_id}`, { headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(401);
  };
  const kinds = [
    [almost(site.manage_token), `svc_manage_${"A".repeat(43)}`],
    [almost(String(made.body["token"])), `svc_deploy_${"A".repeat(43)}`],
  ] as const;
  for (const [known, unknown] of kinds) {
    await expectAlike(0.1, 600, { "all but a letter": refused(known), unknown: refused(unknown) });
  }
}, 60_000);
