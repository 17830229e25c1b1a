/** CONTRACT 4.3 and 8: a dry run shows what a deploy would do, and stores nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Home, json } from "../kit/cli.ts";
import { storedBlobs } from "../kit/operator.ts";
import { type Contents, type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer();

interface DryRun {
  dry_run: true;
  version_id: string;
  title: string | null;
  spa: { enabled: boolean; rule: string };
  healed: { code: string }[];
  warnings: { code: string }[];
  files: { added: string[]; changed: string[]; removed: string[] };
}

const newSite = (files: Contents, query = "") => server.post(zipOf(files), {}, `?dry_run=1${query}`);
const update = (site: DeployResult, files: Contents, query = "", token = site.manage_token) =>
  server.api(`/sites/${site.site_id}/deploys?dry_run=1${query}`, {
    method: "POST",
    body: zipOf(files),
    headers: { "content-type": "application/zip", authorization: `Bearer ${token}` },
  });
const read = async (response: Response): Promise<DryRun> => {
  expect(response.status).toBe(200);
  return (await response.json()) as DryRun;
};
const SHELL = `<!doctype html><title>App</title><div id="root"></div><script type="module" src="/a.js"></script>`;
const SPA = { "index.html": SHELL, "a.js": "history.pushState(0,0,0)" };

/** Everything that a deploy could leave behind. */
function stored(): unknown {
  const blobs = storedBlobs(server.data_dir);
  const rows = ["sites", "versions", "files", "blobs", "tokens", "idempotency_keys"].map((table) => server.rows(table));
  return { blobs: blobs.length, rows, tmp: readdirSync(join(server.data_dir, "tmp")) };
}

describe("?dry_run=1 on POST /sites", () => {
  test("answers with what the deploy would be, all files added, and no url, id or token", async () => {
    const dry = await read(await newSite({ "index.html": "<title>Dry</title>", "b.css": "", ".env": "A=1" }));
    expect(Object.keys(dry).sort()).toEqual(["dry_run", "files", "healed", "spa", "title", "version_id", "warnings"]);
    expect(dry).toMatchObject({ dry_run: true, title: "Dry", spa: { enabled: false, rule: "none" } });
    expect(dry.warnings.map(({ code }) => code)).toContain("secret_file_dropped");
    expect(dry.files).toEqual({ added: ["b.css", "index.html"], changed: [], removed: [] });
    const real = await server.deploy({ "index.html": "<title>Dry</title>", "b.css": "", ".env": "A=1" });
    expect(dry.version_id).toBe(real.version_id);
    expect<unknown>([dry.healed, dry.warnings]).toEqual([real.healed, real.warnings]);
  });

  test("stores nothing: no file, no row, no quarantine", async () => {
    const before = stored();
    await read(await newSite({ "index.html": "<title>PayPal</title><input type=password>" }));
    await server.post(zipOf({ "index.html": "x" }), { "idempotency-key": "k".repeat(30) }, "?dry_run=1").then(read);
    expect(stored()).toEqual(before);
  });

  test("lists uploaded paths alone: no page that the service makes", async () => {
    const dry = await read(await newSite({ "a.png": "x", "b.png": "y" }));
    expect(dry.healed.map(({ code }) => code)).toContain("index_generated");
    expect(dry.files.added).toEqual(["a.png", "b.png"]);
  });

  test.each([
    ["?dry_run=true", "true"],
    ["?dry_run=0", "0"],
    ["?dry_run=", ""],
  ])("%s is 400, and no deploy either", async (query) => {
    const before = stored();
    const response = await server.post(zipOf({ "index.html": "x" }), {}, query);
    expect([response.status, (await response.json()) as object]).toMatchObject([
      400,
      { code: "invalid_input", field: "dry_run" },
    ]);
    expect(stored()).toEqual(before);
  });

  test.each([
    ["no zip", () => newSite({}), 400, "empty_deploy"],
    [
      "phishing",
      () => newSite({ "index.html": `<form action="https://x.example"><input type=password></form>` }),
      403,
      "abuse_rejected",
    ],
    [
      "a wrong type",
      () => server.api("/sites?dry_run=1", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }),
      415,
      "unsupported_media_type",
    ],
    [
      "an unknown credential",
      () => server.post(zipOf({ "index.html": "x" }), { authorization: "Bearer nope" }, "?dry_run=1"),
      401,
      "unauthorized",
    ],
  ])("refusals are the real ones: %s", async (_, send, status, code) => {
    const response = await send();
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  });

  test("rate limits are the real ones", async () => {
    await using limited = await startServer({ SVC_RATE_DEPLOY: "1/1m" });
    expect((await limited.post(zipOf({ "index.html": "x" }), {}, "?dry_run=1")).status).toBe(200);
    expect((await limited.post(zipOf({ "index.html": "x" }))).status).toBe(429);
  });

  test("with &spa=on its spa shows what would hold", async () => {
    expect((await read(await newSite({ "index.html": "x" }, "&spa=on"))).spa).toEqual({
      enabled: true,
      rule: "setting",
    });
    expect((await read(await newSite(SPA))).spa).toEqual({ enabled: true, rule: "shell" });
    expect((await read(await newSite(SPA, "&spa=off"))).spa).toEqual({ enabled: false, rule: "setting" });
  });
});

describe("?dry_run=1 on POST /sites/:id/deploys", () => {
  test("lists what is added, changed and removed against what is live", async () => {
    const site = await server.deploy({ "index.html": "1", "same.txt": "s", "gone.txt": "g" });
    const dry = await read(await update(site, { "index.html": "2", "same.txt": "s", "new.txt": "n" }));
    expect(dry.files).toEqual({ added: ["new.txt"], changed: ["index.html"], removed: ["gone.txt"] });
    expect(await (await server.site(site.slug)).text()).toContain("1");
  });

  test("unchanged content gives empty lists", async () => {
    const files = { "a.png": "x", "b.png": "y" };
    const site = await server.deploy(files);
    const dry = await read(await update(site, files));
    expect([dry.version_id, dry.files]).toEqual([site.version_id, { added: [], changed: [], removed: [] }]);
  });

  test("is compared with the live version, also after a rollback", async () => {
    const site = await server.deploy({ "index.html": "1" });
    await server.redeploy(site, { "index.html": "2" });
    await server.api(`/sites/${site.site_id}/rollback`, {
      method: "POST",
      body: JSON.stringify({ version_id: site.version_id }),
      headers: { "content-type": "application/json", authorization: `Bearer ${site.manage_token}` },
    });
    expect((await read(await update(site, { "index.html": "2" }))).files.changed).toEqual(["index.html"]);
  });

  test("stores nothing, the setting neither", async () => {
    const site = await server.deploy({ "index.html": "1" });
    const before = stored();
    expect((await read(await update(site, SPA, "&spa=on"))).spa).toEqual({ enabled: true, rule: "setting" });
    expect(stored()).toEqual(before);
  });

  test("shows the site's setting where none comes with it, and the detection with spa=auto", async () => {
    const site = await server.deploy({ "index.html": "1" }, "?spa=on");
    expect((await read(await update(site, { "index.html": "2" }))).spa).toEqual({ enabled: true, rule: "setting" });
    expect((await read(await update(site, { "index.html": "2" }, "&spa=auto"))).spa).toEqual({
      enabled: false,
      rule: "none",
    });
  });

  test("refusals are the real ones", async () => {
    const site = await server.deploy({ "index.html": "1" });
    expect((await update(site, { "index.html": "2" }, "", "svc_manage_wrong")).status).toBe(401);
    server.freeze(site);
    expect((await update(site, { "index.html": "2" })).status).toBe(403);
  });
});

describe("svc --dry-run", () => {
  let home: Home;
  beforeAll(async () => {
    home = await Home.make(`http://localhost:${server.port}`);
    await home.write("site", { "index.html": "<title>Dry</title>", "a.css": "a{}" });
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test("lists the files on stdout and links nothing", async () => {
    const ran = await home.run(["site", "--dry-run"]);
    expect([ran.code, ran.out]).toEqual([0, "+ a.css\n+ index.html\n"]);
    expect(ran.err).toContain("nothing was stored");
    expect((await home.run(["update", "site"])).code).toBe(1);
  });

  test("--json prints the API's object with ok", async () => {
    const printed = json(await home.run(["site", "--dry-run", "--json"]));
    expect(Object.keys(printed).sort()).toEqual(
      ["dry_run", "files", "healed", "ok", "spa", "title", "version_id", "warnings"].sort(),
    );
    expect(printed).toMatchObject({ ok: true, dry_run: true, title: "Dry" });
  });

  test("update --dry-run compares with the site, asks the server also where nothing changed, and publishes nothing", async () => {
    const url = (await home.run(["site"])).out.trim();
    expect((await home.run(["update", "site", "--dry-run"])).out).toBe("");
    expect(json(await home.run(["update", "site", "--dry-run", "--json"]))).toMatchObject({
      ok: true,
      files: { added: [], changed: [], removed: [] },
    });
    await home.write("site", { "index.html": "<title>Changed</title>", "b.css": "b{}" });
    const ran = await home.run(["update", "site", "--dry-run", "--spa"]);
    expect(ran.out).toBe("+ b.css\n~ index.html\n");
    expect(ran.err).toContain("single-page app");
    const page = await server.site(new URL(url).hostname.split(".")[0]!);
    expect(await page.text()).toContain("<title>Dry</title>");
  });

  test("a refusal is one, with its code and exit 1", async () => {
    await home.write("bad", { "index.html": `<form action="https://x.example/"><input type="password"></form>` });
    const ran = await home.run(["bad", "--dry-run", "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, "abuse_rejected"]);
    expect(json(ran)["error"]).toContain("index.html");
    expect(json(ran)["error"]).not.toContain("oken");
  });
});
