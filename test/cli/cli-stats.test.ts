/** BEYOND 11: `svc stats`: how often a site is visited. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { slugOf } from "../kit/server.ts";
import { NAVIGATION, visit } from "../statistics/visiting.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const home = shared(await Home.make(server.base_url));
let site_id: string;
beforeAll(async () => {
  const pages = ["index", "pricing", "about"].map((name) => [
    `dist/${name}.html`,
    `<!doctype html><title>${name}</title>`,
  ]);
  await home.write("", Object.fromEntries(pages));
  const body = json(await home.run(["--json"]));
  site_id = String(body["site_id"]);
  const slug = slugOf(body["url"]);
  const own = { ...NAVIGATION, referer: `http://${slug}.localhost:${server.port}/` };
  for (const path of ["/", "/", "/about"])
    await visit(server, slug, path, { ...NAVIGATION, referer: "https://news.example/x" });
  for (const path of ["/pricng", "/pricng", "/%E2%80%AEtxt.exe"]) await visit(server, slug, path, own);
  await visit(server, slug, "/", { ...NAVIGATION, "user-agent": "Googlebot" });
});
const today = (): string => new Date(server.now()).toISOString().slice(0, 10);

describe("BEYOND 11: svc stats prints", () => {
  test("the totals, and the lists with the lines that mend broken links; in a pipe no bars", async () => {
    const { code, out, err } = await home.run(["stats", "--days", "1"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(`3 views by 1 visitor from ${today()} to ${today()}, 1 by bots, 3 of missing pages

Pages
2  /
1  /about

Came from
3  news.example

Broken links
2  /pricng           2 from your own pages
1  /\\u{202e}txt.exe  1 from your own pages

For _redirects
/pricng /pricing 301
`);
  });

  test("on a terminal a bar a day, the longest for the day with the most views", async () => {
    const { lines } = await home.runOnTerminal(["stats", "--days", "3"]);
    const bars = lines.map((line) => line.trimEnd()).filter((line) => /^\d{4}-\d\d-\d\d /.test(line));
    expect(bars).toHaveLength(3);
    expect(bars[2]).toBe(`${today()}  3  ${"█".repeat(50)}`);
    expect(bars[0]).toMatch(/^\S+  0$/);
  });

  test("with --json the body of the route with ok; the site by --site too", async () => {
    const body = json(await home.run(["stats", "--days", "2", "--site", site_id, "--json"]));
    expect(body).toMatchObject({
      ok: true,
      site_id,
      enabled: true,
      totals: { views: 3, visitors: 1, bots: 1, misses: 3 },
    });
    expect(body["misses"]).toContainEqual({ path: "/pricng", hits: 2, internal: 2, rule: "/pricng /pricing 301" });
    expect(body["days"]).toHaveLength(2);
  });

  test("of a site without visits the totals alone, and where nothing is counted that it is so", async () => {
    await using other = await Home.make(server.base_url);
    await other.write("dist", { "index.html": "<!doctype html><title>quiet</title>" });
    const made = json(await other.run(["--json"]));
    const quiet = await other.run(["stats"]);
    expect(quiet.out).toMatch(/^0 views by 0 visitors from \S+ to \S+, 0 by bots, 0 of missing pages\n$/);
    const headers = { "content-type": "application/json", authorization: `Bearer ${String(made["manage_token"])}` };
    await server.api(`/sites/${String(made["site_id"])}/settings`, {
      method: "PATCH",
      headers,
      body: '{"stats":false}',
    });
    expect((await other.run(["stats"])).err).toContain("Visits are not counted now");
  });
});

test.each(["0", "401", "x", "1.5", "-3"])("--days %s is wrong usage, before any request", async (days) => {
  const { code, err } = await home.run(["stats", `--days=${days}`]);
  expect([code, err]).toEqual([2, expect.stringContaining("--days wants a number from 1 to 400")]);
});

test("an older server, which counts nothing: a sentence, and exit 1", async () => {
  const old = fakeServer((path) =>
    path.endsWith("/stats")
      ? Response.json({ error: "There is nothing at this address of the API.", code: "not_found" }, { status: 404 })
      : Response.json({ site_id, url: "http://x.localhost" }),
  );
  await using away = await Home.make(old.url);
  const { code, err } = await away.run(["stats", "--site", site_id, "--token", "svc_manage_x"]);
  expect([code, err]).toEqual([1, expect.stringContaining("older than this svc. Upgrade it first.")]);
  await old.stop();
});
