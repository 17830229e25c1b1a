/** Takedown and its undoing (CONTRACT.md 7): commands on the data directory of a running server, seen at its next
 *  request, in every worker. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { setSchemaVersion } from "../kit/database.ts";
import { type AuditLine, listed, operate, operator } from "../kit/operator.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(20_000);

const HTML = { accept: "text/html" };
const TTL_MS = 14 * 86_400_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const deploy = (text = "<title>A page</title>hello"): Promise<DeployResult> => server.deploy({ "index.html": text });
const act = (...argv: string[]) => operate(server.data_dir, ...argv);

/** Every route of the API that changes or reads one site by its manage_token. */
const redeploy = (site: DeployResult) =>
  server.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf({ "index.html": `another ${crypto.randomUUID()}` }),
    headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
  });
const rollback = (site: DeployResult) => server.rollback(site, site.version_id);
const record = (site: DeployResult) => server.api(`/sites/${site.site_id}`, { headers: bearer(site.manage_token) });
const report = (site: DeployResult) =>
  server.site(site.slug, "/_svc/report", {
    method: "POST",
    body: JSON.stringify({ reason: "spam" }),
    headers: JSON_TYPE,
  });
const codeOf = async (response: Response) => ({
  status: response.status,
  code: ((await response.json()) as { code?: string }).code,
});

describe("disable", () => {
  test("the next request gets 451 with the public reason and a Link that says who blocks", async () => {
    const site = await deploy();
    expect((await server.site(site.slug)).status).toBe(200);
    await act("disable", site.slug, "--reason", "It asks for <b>bank</b> passwords");
    const page = await server.site(site.slug, "/", { headers: HTML });
    expect(page.status).toBe(451);
    expect(page.headers.get("link")).toBe(`<${server.base_url}>; rel="blocked-by"`);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(await page.text()).toContain("It asks for &lt;b&gt;bank&lt;/b&gt; passwords");
    const json = (await (await server.site(site.slug)).json()) as { code: string; reason: string };
    expect(json).toMatchObject({ code: "site_disabled", reason: "It asks for <b>bank</b> passwords" });
  });

  test.each<[string, string, RequestInit]>([
    ["a page that the browser has cached", "/", { headers: { "if-none-match": "*" } }],
    ["a range", "/", { headers: { range: "bytes=0-1" } }],
    ["a missing page", "/missing", {}],
    ["HEAD", "/", { method: "HEAD" }],
  ])("%s is 451 too", async (_, path, init) => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug, path, init)).status).toBe(451);
  });

  test("the host of a stored version is 451 as its site is", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(451);
  });

  test("deploys and rollbacks get 451 site_disabled; the record can be read and says so", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    const refused = { status: 451, code: "site_disabled" };
    expect(await codeOf(await redeploy(site))).toEqual(refused);
    expect(await codeOf(await rollback(site))).toEqual(refused);
    expect(await codeOf(await report(site))).toEqual(refused);
    const read = await record(site);
    expect(read.status).toBe(200);
    expect(await read.json()).toMatchObject({ state: "disabled", live_version_id: site.version_id });
  });

  test("with SVC_CONTACT the refusals of the API say where to appeal", async () => {
    await using appealing = await startServer("--contact", "abuse@host.example", "--signup", "closed");
    const site = await appealing.deploy({ "index.html": "x" });
    const refusalOf = async (response: Promise<Response>) =>
      (await response).json() as Promise<Record<string, unknown>>;
    const again = () =>
      refusalOf(
        appealing.api(`/sites/${site.site_id}/deploys`, {
          method: "POST",
          body: zipOf({ "index.html": "another" }),
          headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
        }),
      );
    const appeal = "abuse@host.example";
    const error = expect.stringMatching(/\. Questions or an appeal: abuse@host\.example$/);
    await operate(appealing.data_dir, "freeze", site.slug);
    expect(await again()).toMatchObject({ code: "site_frozen", appeal, error });
    await operate(appealing.data_dir, "disable", site.slug, "--reason", "abuse");
    expect(await again()).toMatchObject({ code: "site_disabled", appeal, error });
    const reported = appealing.site(site.slug, "/_svc/report", { method: "POST" });
    expect(await refusalOf(reported)).toMatchObject({ code: "site_disabled", appeal });
    const body = new URLSearchParams({ email: "a@host.example", password: "ten letters" });
    const signup = fetch(`${appealing.base_url}/auth/signup`, { method: "POST", body });
    expect(await refusalOf(signup)).toMatchObject({ code: "signup_closed", appeal, error });
  });

  test("enable brings back the state that the site had before: live, with the same bytes", async () => {
    const site = await deploy();
    const before = await server.site(site.slug);
    const [etag, body] = [before.headers.get("etag"), await before.text()];
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug)).status).toBe(451);
    await act("enable", site.slug);
    const after = await server.site(site.slug);
    expect([after.status, after.headers.get("etag"), await after.text()]).toEqual([200, etag, body]);
    expect((await redeploy(site)).status).toBe(200);
  });

  test("a site that was frozen before is frozen again after enable", async () => {
    const site = await deploy();
    await act("freeze", site.slug);
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug)).status).toBe(451);
    await act("enable", site.slug);
    expect((await server.site(site.slug)).status).toBe(200);
    expect(await codeOf(await redeploy(site))).toEqual({ status: 403, code: "site_frozen" });
  });

  test("a second disable changes the reason", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "first");
    await act("disable", site.slug, "--reason", "second");
    expect(await (await server.site(site.slug)).json()).toMatchObject({ reason: "second" });
  });

  test("an expired site is 410, disabled or not", async () => {
    await using moved = await startServer();
    const site = await moved.deploy({ "index.html": "x" });
    await operate(moved.data_dir, "disable", site.slug, "--reason", "abuse");
    moved.advance(TTL_MS);
    expect((await moved.site(site.slug)).status).toBe(410);
  });
});

describe("freeze", () => {
  test("a frozen site is served, takes reports, can be read, and refuses deploys and rollbacks with 403", async () => {
    const site = await deploy();
    await act("freeze", site.slug);
    expect((await server.site(site.slug)).status).toBe(200);
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(200);
    expect((await report(site)).status).toBe(202);
    expect(await (await record(site)).json()).toMatchObject({ state: "frozen" });
    const refused = { status: 403, code: "site_frozen" };
    expect(await codeOf(await redeploy(site))).toEqual(refused);
    expect(await codeOf(await rollback(site))).toEqual(refused);
    await act("unfreeze", site.slug);
    expect((await redeploy(site)).status).toBe(200);
    expect((await rollback(site)).status).toBe(200);
  });

  test("it expires all the same", async () => {
    await using moved = await startServer();
    const site = await moved.deploy({ "index.html": "x" });
    await operate(moved.data_dir, "freeze", site.slug);
    moved.advance(TTL_MS);
    expect((await moved.site(site.slug)).status).toBe(410);
  });
});

describe("what goes on", () => {
  const HELD: [string, string[], number, string][] = [
    ["frozen", ["freeze"], 403, "site_frozen"],
    ["disabled", ["disable", "--reason", "abuse"], 451, "site_disabled"],
  ];
  const hold = (site: { site_id: string }, [verb, ...rest]: string[]) => act(verb!, site.site_id, ...rest);

  test.each(HELD)("a %s site can be claimed, and then labelled and deleted by its owner", async (state, held) => {
    const [site, person] = [await deploy(), await signUp(server)];
    await hold(site, held);
    const { site_id, claim_token } = site;
    const claimed = await call(server, "POST", `/sites/${site_id}/claim`, { claim_token }, person.bearer);
    expect(claimed).toMatchObject({ status: 200, body: { owner_account_id: person.account_id } });
    const record = await call(server, "GET", `/sites/${site_id}`, undefined, person.bearer);
    expect(record).toMatchObject({ status: 200, body: { state } });
    const listing = await call(server, "GET", "/account/sites", undefined, person.bearer);
    expect(listing.body.sites).toHaveLength(1);
    const labelled = await call(server, "PATCH", `/account/sites/${site_id}`, { label: "Mine" }, person.bearer);
    expect(labelled).toMatchObject({ status: 200, body: { label: "Mine", state } });
    const deleted = await call(server, "DELETE", `/account/sites/${site_id}`, undefined, person.bearer);
    expect(deleted).toMatchObject({ status: 200, body: { deleted: [site_id] } });
    expect((await server.site(site.slug)).status).toBe(404);
  });

  test.each(HELD)("a %s site can be attached", async (_, held) => {
    const [site, person] = [await deploy(), await signUp(server)];
    await hold(site, held);
    const sites = [{ site_id: site.site_id, manage_token: site.manage_token }];
    const attached = await call(server, "POST", "/account/bulk-attach", { sites }, person.bearer);
    expect(attached).toMatchObject({ status: 200, body: { attached: [site.site_id] } });
  });

  test.each(HELD)("of a %s site its owner's session changes no version either", async (_, held, status, code) => {
    const person = await signUp(server);
    const made = await server.post(zipOf({ "index.html": "owned" }), person.bearer);
    const site = (await made.json()) as DeployResult;
    await hold(site, held);
    const headers = { ...person.bearer, "content-type": "application/zip" };
    const body = zipOf({ "index.html": "another" });
    const path = `/sites/${site.site_id}`;
    expect(await codeOf(await server.api(`${path}/deploys`, { method: "POST", body, headers }))).toEqual({
      status,
      code,
    });
    const { version_id } = site;
    const back = await call(server, "POST", `${path}/rollback`, { version_id }, person.bearer);
    expect(back).toMatchObject({ status, body: { code } });
    expect((await call(server, "DELETE", "/account", undefined, person.bearer)).status).toBe(200);
    expect((await server.site(site.slug)).status).toBe(404);
  });
});

describe("delete", () => {
  test("the site is unknown at the next request, and its token learns that it is gone", async () => {
    const site = await deploy();
    expect((await server.site(site.slug)).status).toBe(200);
    await act("delete", site.slug);
    expect(await codeOf(await server.site(site.slug))).toEqual({ status: 404, code: "unknown_host" });
    expect(await codeOf(await record(site))).toEqual({ status: 404, code: "unknown_site" });
    expect(await codeOf(await redeploy(site))).toEqual({ status: 404, code: "unknown_site" });
    const again = await operator(server.data_dir, ["delete", site.slug]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("is gone: deleted at")]);
  });

  test("its slug stays taken for ever", async () => {
    const site = await deploy();
    await act("delete", site.slug);
    expect(() => server.remove({ site_id: "site_x", slug: site.slug })).toThrow("UNIQUE");
  });
});

test.each([
  ["its site_id", (site: DeployResult) => site.site_id],
  ["its slug", (site: DeployResult) => site.slug],
  ["its URL", (site: DeployResult) => site.url],
  ["the URL of a page", (site: DeployResult) => `${site.url}/a/b.html?c=d#e`],
  ["the URL of a version", (site: DeployResult) => site.url.replace("//", `//${site.version_id}--`)],
  ["its host", (site: DeployResult) => new URL(site.url).host],
  ["its slug in capitals", (site: DeployResult) => site.slug.toUpperCase()],
])("a site can be named by %s", async (_, nameOf) => {
  const site = await deploy();
  await act("disable", nameOf(site), "--reason", "abuse");
  expect((await server.site(site.slug)).status).toBe(451);
});

test.each([
  ["the URL of another server", (site: DeployResult) => `https://${site.slug}.other.example/`],
  ["a host below another domain", (site: DeployResult) => `${site.slug}.other.example`],
  ["a host below the site's own", (site: DeployResult) => `${site.slug}.x.localhost:${server.port}`],
])("%s names no site, whatever its first word is", async (_, nameOf) => {
  const site = await deploy();
  const { code, stderr } = await operator(server.data_dir, ["disable", nameOf(site), "--reason", "abuse"]);
  expect(code).toBe(1);
  expect(stderr).toContain("is no site of this server");
  expect((await server.site(site.slug)).status).toBe(200);
});

describe("listings", () => {
  test("sites --json is one array, a row each, with state and address", async () => {
    const site = await deploy();
    await redeploy(site);
    await act("freeze", site.slug);
    const rows = await listed<{ site_id: string }>(server.data_dir, "sites");
    expect(rows.at(-1)).toMatchObject({
      site_id: site.site_id,
      slug: site.slug,
      url: site.url,
      state: "frozen",
      owner_account_id: null,
      expires_at: site.expires_at,
      versions: 2,
    });
  });

  test("sites for a person has a line for each", async () => {
    const site = await deploy();
    const { stdout } = await act("sites");
    expect(stdout.split("\n")[0]).toMatch(/^SITE +URL +STATE +OWNER/);
    expect(stdout).toMatch(new RegExp(`^${site.site_id} +${site.url} +live +- `, "m"));
  });

  test("audit lists every act of an operator, newest last, and nothing that changed nothing", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "a reason");
    await act("disable", site.slug, "--reason", "a reason");
    await act("enable", site.slug);
    await act("enable", site.slug);
    await act("freeze", site.slug);
    await act("unfreeze", site.slug);
    await act("delete", site.slug);
    const rows = (await listed<AuditLine>(server.data_dir, "audit")).filter((row) => row.site_id === site.site_id);
    expect(rows.map((row) => [row.actor, row.action, row.reason])).toEqual([
      ["operator", "disable", "a reason"],
      ["operator", "enable", null],
      ["operator", "freeze", null],
      ["operator", "unfreeze", null],
      ["operator", "delete", null],
    ]);
    expect(rows.map((row) => row.at)).toEqual(rows.map((row) => row.at).toSorted());
    const { stdout } = await act("audit");
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`operator +delete +${site.site_id} +-$`));
  });
});

test("upkeep is in the audit log too: who kept a copy of everything, and where", async () => {
  await using folder = await temporaryFolder();
  await act("gc");
  await act("verify");
  await act("backup", `${folder.path}/copy`);
  const rows = (await listed<AuditLine>(server.data_dir, "audit")).slice(-3);
  expect(rows.map((row) => [row.actor, row.action, row.reason])).toEqual([
    ["operator", "gc", "swept 0 expired sites and 0 orphaned files"],
    ["operator", "verify", expect.stringMatching(/^checked \d+ blobs, \d+ bytes: 0 faults$/)],
    ["operator", "backup", `${folder.path}/copy`],
  ]);
});

describe("usage", () => {
  test.each([
    ["an unknown site", ["enable", "nobody-here-0000"], 1, "There is no site"],
    ["a missing argument", ["enable"], 2, "The argument <site> is missing. Usage: svc-server enable <site>"],
    ["a missing reason", ["disable", "x"], 2, "--reason is missing. Usage: svc-server disable <site> --reason <text>"],
    ["an empty reason", ["disable", "x", "--reason", ""], 2, "--reason needs a value."],
    ["one argument too many", ["enable", "x", "y"], 2, '"y" is one argument too many.'],
    ["an unknown flag", ["audit", "--jsn"], 2, "Unknown argument --jsn"],
    ["a value where none belongs", ["audit", "--json=1"], 2, "--json takes no value."],
    ["a family of commands alone", ["account"], 2, "svc-server account create"],
    ["an unknown command", ["disabel", "x"], 2, "disabel"],
  ])("%s: exit code and one sentence", async (_, argv, code, sentence) => {
    const result = await operator(server.data_dir, argv);
    expect(result).toEqual({ code, stdout: "", stderr: expect.stringContaining(sentence) });
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a folder without data: exit code 1, and nothing is made there", async () => {
    await using folder = await temporaryFolder();
    const result = await operator(folder.path, ["sites"]);
    expect([result.code, result.stderr]).toEqual([1, expect.stringContaining("There is no data of a svc-server in")]);
    expect(await Array.fromAsync(new Bun.Glob("**").scan({ cwd: folder.path, dot: true }))).toEqual([]);
  });

  test("a server of another version is running: its database is left alone", async () => {
    await using other = await startServer();
    setSchemaVersion(other.data_dir, 1);
    const result = await operator(other.data_dir, ["sites"]);
    expect([result.code, result.stderr]).toEqual([1, expect.stringContaining("has another version than this program")]);
  });

  test("a server of a newer version was here: its database is left alone", async () => {
    const other = await startServer();
    setSchemaVersion(other.data_dir, 99);
    await other.stop();
    const result = await operator(other.data_dir, ["sites"]);
    expect([result.code, result.stderr]).toEqual([1, expect.stringContaining("written by a newer svc-server")]);
    await other[Symbol.asyncDispose]();
  });

  test("while the server is stopped all is done at once and seen at its start", async () => {
    await using other = await startServer();
    const site = await other.deploy({ "index.html": "x" });
    await other.stop();
    await operate(other.data_dir, "disable", site.slug, "--reason", "while it was down");
    expect((await listed<{ url: string }>(other.data_dir, "sites"))[0]!.url).toBe(site.url);
    await other.start([]);
    expect(await (await other.site(site.slug)).json()).toMatchObject({ reason: "while it was down" });
  });

  test("files that are no database: exit code 1 and a sentence, not a stack", async () => {
    await using folder = await temporaryFolder();
    await Bun.write(
      `${folder.path}/db`,
      "this is no database, and long enough to be read as a header of one".repeat(20),
    );
    const result = await operator(folder.path, ["audit"]);
    expect([result.code, result.stderr]).toEqual([1, expect.stringContaining("is no database")]);
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a folder that cannot be made: exit code 1 and a sentence", async () => {
    const inFile = await operator(server.data_dir, ["backup", `${server.data_dir}/db/backup`]);
    expect([inFile.code, inFile.stderr]).toEqual([1, expect.stringContaining("where a folder is needed")]);
  });

  const COMMANDS = [
    "sites", "disable", "enable", "freeze", "unfreeze", "delete", "reports", "audit", "account create",
    "account reset", "account invite", "gc", "verify", "backup", "restore",
  ]; // prettier-ignore
  test.each(COMMANDS)("%s has a help of its own, and a line in the main help", async (name) => {
    const own = await operator(server.data_dir, [...name.split(" "), "--help"]);
    expect(own.stdout.includes("also while the server runs")).toBe(name !== "restore");
    expect(own).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(`Usage: svc-server ${name}`) });
    const main = await operator(server.data_dir, ["--help"]);
    expect(main.stdout).toMatch(new RegExp(`^  ${name}\\b.+  \\S`, "m"));
  });
});

test("two workers: what an operator did is seen by both at the next request", async () => {
  await using folder = await temporaryFolder();
  const child = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"]);
  try {
    const made = await fetch(`http://127.0.0.1:${child.port}/sites`, {
      method: "POST",
      body: zipOf({ "index.html": "hello" }),
      headers: { "content-type": "application/zip" },
    });
    const { slug } = (await made.json()) as DeployResult;
    // Each without keep-alive: the kernel spreads connections over the workers.
    const statuses = async () =>
      new Set(
        await Promise.all(
          Array.from({ length: 40 }, async () => {
            const headers = { host: `${slug}.localhost:${child.port}`, connection: "close" };
            return (await fetch(`http://127.0.0.1:${child.port}/`, { headers, keepalive: false })).status;
          }),
        ),
      );
    expect(await statuses()).toEqual(new Set([200]));
    for (let round = 0; round < 3; round++) {
      await operate(folder.path, "disable", slug, "--reason", `round ${round}`);
      expect(await statuses()).toEqual(new Set([451]));
      await operate(folder.path, "enable", slug);
      expect(await statuses()).toEqual(new Set([200]));
    }
    await operate(folder.path, "delete", slug);
    expect(await statuses()).toEqual(new Set([404]));
  } finally {
    await child.end();
    await rm(folder.path, { recursive: true, force: true });
  }
}, 30_000);
