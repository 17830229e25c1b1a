/** Links that lead to nothing any more, and `svc forget`. */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deployed, Home, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();

const newHome = () => Home.make(server.base_url);
const pageOf = async (url: unknown) => (await server.site(slugOf(url))).text();

describe("a site that is gone", () => {
  test("404: the stale link is dropped, and a fresh deploy is the way on", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const { site_id } = await deployed(home);
    const gone = fakeServer(() => Response.json({ error: "Unknown site.", code: "unknown_site" }, { status: 404 }));
    const moved = (await home.links()).map((link) => ({ ...link, origin: gone.url }));
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: moved }));
    const ran = await home.run(["update", "--json"], { env: { DEPLOY_URL: gone.url } });
    await gone.stop();
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({
      ok: false,
      error: "The site is gone: it has expired or was deleted. The link to it was dropped. Deploy it afresh: svc",
      code: "unknown_site",
    });
    expect(JSON.stringify(await home.links())).not.toContain(String(site_id));
  });

  test("a link whose time has passed is not used", async () => {
    await using home = await newHome();
    await home.write("", { "site/index.html": "<title>1</title>" });
    await deployed(home, ["site"]);
    const old = (await home.links()).map((link) => ({ ...link, expires_at: Date.now() - 1 }));
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: old }));
    const ran = await home.run(["update", "site", "--json"]);
    expect(json(ran)).toEqual({
      ok: false,
      error: "The site that was deployed from site has expired. Deploy it afresh: svc site",
      code: "site_expired",
    });
  });

  test("a site that no longer expires keeps its link", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const { site_id } = await deployed(home);
    const later = Number((await home.links())[0]!["expires_at"]) + 86_400_000;
    server.expire({ site_id: String(site_id) }, later);
    await home.run(["versions"]);
    expect((await home.links())[0]!["expires_at"]).toBe(later);
  });

  test("a linked folder that is gone is named", async () => {
    await using home = await newHome();
    await home.write("", { "site/index.html": "<title>1</title>" });
    await deployed(home, ["site"]);
    await rm(home.path("site"), { recursive: true });
    const ran = await home.run(["update", "--json"]);
    expect(json(ran)).toMatchObject({ ok: false, error: expect.stringMatching(/site is not there\.$/) });
  });
});

describe("forget", () => {
  test("drops the link and leaves the site alone; stdout stays empty", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>kept" });
    const { url } = await deployed(home);
    const { code, out, err } = await home.run(["forget"]);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain(`Forgot that . is ${url}.`);
    expect(await pageOf(url)).toContain("kept");
    expect((await home.run(["update"])).code).toBe(1);
    expect((await home.run(["forget"])).code).toBe(1);
  });

  test("by path; and with --site all folders that are linked to it", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "a", "b/index.html": "b" });
    const a = await deployed(home, ["a"]);
    await deployed(home, ["b"]);
    expect(json(await home.run(["forget", "b", "--json"]))).toEqual({ ok: true, forgotten: [home.path("b")] });
    const [link] = await home.links();
    const twice = [link, { ...link, folder: "/elsewhere" }];
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: twice }));
    const { code, err } = await home.run(["forget", "--site", String(a["site_id"])]);
    expect(code).toBe(0);
    expect(err.trim().split("\n")).toHaveLength(2);
    expect(await home.links()).toEqual([]);
    const none = await home.run(["forget", "--site", String(a["site_id"]), "--json"]);
    expect([none.code, json(none)["code"]]).toEqual([1, "not_linked"]);
  });

  test("works where the folder itself is gone", async () => {
    await using home = await newHome();
    await home.write("", { "deep/a/index.html": "a" });
    await deployed(home, ["deep/a"]);
    await rm(home.path("deep/a"), { recursive: true });
    expect((await home.run(["forget", "deep/a"])).code).toBe(0);
  });
});
