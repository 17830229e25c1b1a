/** The operator's commands as such: how a site is named, listings, wrong usage, other versions and workers. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { setSchemaVersion } from "../kit/database.ts";
import { type AuditLine, listed, operate, operator } from "../kit/operator.ts";
import { addSites } from "../kit/many.ts";
import { bearer } from "../kit/people.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();

const deploy = (text = "<title>A page</title>hello"): Promise<DeployResult> => server.deploy({ "index.html": text });
const act = (...argv: string[]) => operate(server.data_dir, ...argv);

/** Every route of the API that changes or reads one site by its manage_token. */
const redeploy = (site: DeployResult) =>
  server.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf({ "index.html": `another ${crypto.randomUUID()}` }),
    headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
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
    ["an unknown flag", ["audit", "--jsn"], 2, "Unknown argument --jsn: did you mean --json?"],
    ["a value where none belongs", ["audit", "--json=1"], 2, "--json takes no value."],
    ["a family of commands alone", ["account"], 2, "svc-server account create"],
    ["an unknown command", ["disabel", "x"], 2, "no command disabel: did you mean svc-server disable?"],
    ["the first word of two, unknown", ["acount", "create"], 2, "did you mean svc-server account create?"],
    ["the second word of two, unknown", ["account", "creat", "x"], 2, "did you mean svc-server account create?"],
    ["the second word of a command of one", ["reports", "clsoe", "x"], 2, "did you mean svc-server reports close?"],
    ["a command that nothing is near to", ["zzzz"], 2, "There is no command zzzz: see svc-server --help."],
    ["a near command for a server's flags", ["serv", "--port", "1"], 2, "did you mean svc-server serve?"],
  ])("%s: exit code and one sentence", async (_, argv, code, sentence) => {
    const result = await operator(server.data_dir, argv);
    expect(result).toEqual({ code, stdout: "", stderr: expect.stringContaining(sentence) });
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each([["--log off sites"], ["serve --log off sites"]])(
    "flags before the command (%s): exit code 2, and where it goes",
    async (words) => {
      const result = await operator(server.data_dir, words.split(" "));
      expect(result).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("svc-server sites, then its flags"),
      });
    },
  );

  test.each([
    [["help"], "Commands, which work on the data directory"],
    [["help", "account", "invite"], "Usage: svc-server account invite <email>"],
  ])("%j is a call for help", async (words, text) => {
    const result = await operator(server.data_dir, words);
    expect(result).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(text) });
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

  test.each<[words: string[], code: number, sentence: string]>([
    [["nobody", "--reason", "-h"], 1, "nobody"],
    [["nobody", "--reason", "--help"], 1, "nobody"],
    [["nobody", "--", "--help"], 2, "Unknown argument --"],
  ])("disable %j is no call for help: it is tried, and it fails", async (words, code, sentence) => {
    const result = await operator(server.data_dir, ["disable", ...words]);
    expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(sentence) });
  });

  test("account with a help that is no flag says which commands there are, and fails", async () => {
    const { code, stdout, stderr } = await operator(server.data_dir, ["account", "--", "--help"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("svc-server account create");
    expect((await operator(server.data_dir, ["account", "-h"])).stdout).toContain("account create");
  });

  test("a folder that cannot be made: exit code 1 and a sentence", async () => {
    const inFile = await operator(server.data_dir, ["backup", `${import.meta.path}/backup`]);
    expect([inFile.code, inFile.stderr]).toEqual([1, expect.stringContaining("where a folder is needed")]);
  });

  const COMMANDS = [
    "sites", "disable", "enable", "freeze", "unfreeze", "delete", "reports", "audit", "account create",
    "account reset", "account invite", "doctor", "account list", "account disable", "account enable", "account delete",
    "reports close", "gc", "verify", "backup", "restore", "dns-hook", "hold", "brands", "boxes", "move",
  ]; // prettier-ignore
  test.each(COMMANDS)("%s has a help of its own, and a line in the main help", async (name) => {
    const own = await operator(server.data_dir, [...name.split(" "), "--help"]);
    expect(own.stdout.includes("also while the server runs")).toBe(!["restore", "move", "dns-hook"].includes(name));
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
}, 60_000);

describe("sites in an order", () => {
  interface Row {
    site_id: string;
    slug: string;
    live_bytes: number;
    stored_bytes: number;
    stored_disk: number;
    bytes: number;
  }
  const listOf = async (data_dir: string, ...flags: string[]): Promise<Row[]> =>
    JSON.parse((await operate(data_dir, "sites", "--json", ...flags)).stdout) as Row[];

  test("CONTRACT 7.2 by what is stored, by what is live, by slug; a limit ends the list", async () => {
    await using own = await startServer();
    const many = await own.deploy({ "index.html": "a".repeat(40_000) });
    await own.redeploy(many, { "index.html": "b".repeat(40_000) });
    await own.redeploy(many, { "index.html": "small" });
    const large = await own.deploy({ "index.html": "c".repeat(60_000) });
    const little = await own.deploy({ "index.html": "d" });
    const order = async (...flags: string[]) => (await listOf(own.data_dir, ...flags)).map(({ slug }) => slug);
    expect(await order("--sort", "stored")).toEqual([many.slug, large.slug, little.slug]);
    expect(await order("--sort", "live")).toEqual([large.slug, many.slug, little.slug]);
    expect(await order("--sort", "name")).toEqual([many.slug, large.slug, little.slug].toSorted());
    expect(await order()).toEqual([many.slug, large.slug, little.slug]);
    expect(await order("--sort", "stored", "--limit", "1")).toEqual([many.slug]);
    const [first] = await listOf(own.data_dir, "--sort", "stored");
    expect(first).toMatchObject({ bytes: 80_005, live_bytes: 5, stored_bytes: 80_005 });
    expect(first!.stored_disk).toBeGreaterThan(80_005);
    const { stdout } = await operate(own.data_dir, "sites", "--sort", "live");
    expect(stdout).toMatch(/^SITE +URL +STATE +OWNER +VERSIONS +LIVE +STORED +DISK +CREATED +EXPIRES\n/);
    expect(stdout).toMatch(new RegExp(`^${many.site_id} .* 3 +5 B +78 KB +\\d+ KB `, "m"));
  });

  test("CONTRACT 7.2 thousands come page by page: each once, in order, also where all are equal", async () => {
    await using own = await startServer();
    const site = await own.deploy({ "index.html": "x" });
    addSites(own.data_dir, site, 2500);
    for (const flags of [[], ["--sort", "stored"], ["--sort", "live"], ["--sort", "name"]]) {
      const rows = await listOf(own.data_dir, ...flags);
      expect([flags, rows.length, new Set(rows.map(({ site_id }) => site_id)).size]).toEqual([flags, 2501, 2501]);
    }
    expect((await listOf(own.data_dir, "--limit", "1700")).length).toBe(1700);
    const table = (await operate(own.data_dir, "sites", "--sort", "name")).stdout.trimEnd().split("\n");
    expect(table.length).toBe(2502);
    expect(new Set(table.map((line) => line.search(/\b(STATE|live)\b/))).size).toBe(1); // one width for all pages
  });

  test.each([
    [["--sort", "size"], "--sort is one of created, stored, live, name"],
    [["--limit", "0"], "--limit is a whole number from 1 on"],
    [["--limit", "many"], "--limit is a whole number from 1 on"],
  ])("CONTRACT 7.2 sites %j ends with 2 and says what it takes", async (flags, sentence) => {
    const { code, stderr } = await operator(server.data_dir, ["sites", ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });
});
