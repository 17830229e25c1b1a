/** CONTRACT 8 and 9: what the command line shows of the render engine. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { page, PATIENCE_MS, script, startRenderer } from "./rendering.ts";
import { longTest } from "../kit/whole.ts";

setDefaultTimeout(2 * PATIENCE_MS);

let server: TestServer;
let home: Home;
beforeAll(async () => {
  server = await startRenderer();
  home = await Home.make(server.base_url);
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const BROKEN = page(`<p>Text</p>${script("nope()")}`);
const SOUND = page("<p>Text</p>");

describe("CONTRACT 9: --wait", () => {
  test("svc --wait prints the browser's warnings, and exits 0", async () => {
    await home.write("broken", { "index.html": BROKEN });
    const { code, out, err } = await home.run(["broken", "--wait"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^http:\S+\n$/);
    expect(err).toContain("nope is not defined");
    expect(err).toContain("Open the page with the browser's console");
  });

  longTest("svc update --wait --json prints one object with `render`", async () => {
    await home.write("site", { "index.html": BROKEN });
    expect((await home.run(["site"])).code).toBe(0);
    await home.write("site", { "index.html": SOUND });
    const ran = await home.run(["update", "site", "--wait", "--json"]);
    expect([ran.code, json(ran)["changed"]]).toEqual([0, true]);
    const { version_id } = json(ran);
    expect(json(ran)["render"]).toMatchObject({ status: "done", version_id, screenshot_key: version_id, warnings: [] });
  });

  longTest("a sound page is said to be one", async () => {
    await home.write("sound", { "index.html": SOUND });
    expect((await home.run(["sound", "--wait"])).err).toContain("A browser opened it “A page”, and nothing failed.");
  });

  test("where no engine is on there is nothing to wait for", async () => {
    await using off = await startServer();
    await home.write("sound", { "index.html": SOUND });
    const env = { DEPLOY_URL: off.base_url };
    const { code, err } = await home.run(["sound", "--wait"], { env });
    expect([code, err.includes("no render engine")]).toEqual([0, true]);
    expect(json(await home.run(["sound", "--wait", "--json"], { env }))["render"]).toBeUndefined();
  });
});

longTest(
  "CONTRACT 9: svc versions tells what a browser saw below each version; its rows stay what they are",
  async () => {
    await home.write("two", { "index.html": BROKEN });
    await home.run(["two", "--wait"]);
    await home.write("two", { "index.html": SOUND });
    await home.run(["update", "two", "--wait"]);
    const { out, err } = await home.run(["versions", "two"]);
    expect(out.trimEnd().split("\n")).toHaveLength(2);
    expect(err.match(/nope is not defined/g)).toHaveLength(1);
    expect((await home.run(["versions", "two", "-q"])).err).toBe("");
    const { versions } = json(await home.run(["versions", "two", "--json"])) as { versions: { render: object }[] };
    expect(versions.map(({ render }) => render)).toMatchObject([
      { status: "done", warnings: [] },
      { status: "done", warnings: [{ code: "script_error" }] },
    ]);
  },
);

describe("CONTRACT 8: svc open", () => {
  test("prints the linked site's URL, and asks nothing of the server", async () => {
    await home.write("opened", { "index.html": SOUND });
    const { url, site_id } = json(await home.run(["opened", "--json"]));
    const nobody = { env: { CI: "1" } };
    expect(await home.run(["open", "opened"], nobody)).toEqual({ code: 0, out: `${url}\n`, err: "" });
    expect((await home.run(["open", "--site", String(site_id)])).out).toBe(`${url}\n`);
    expect(json(await home.run(["open", "opened", "--json"]))).toEqual({ ok: true, url, opened: false });
    await using gone = await startServer();
    const elsewhere = { env: { DEPLOY_URL: gone.base_url } };
    expect((await home.run(["open", "opened"], elsewhere)).code).toBe(1);
  });

  longTest("of a site that this machine has no link of it asks the server, with a token", async () => {
    const site = await server.deploy({ "index.html": SOUND });
    const named = ["open", "--site", site.site_id];
    expect((await home.run([...named, "--token", site.manage_token])).out).toBe(`${site.url}\n`);
    expect((await home.run(named)).code).toBe(1);
  });

  longTest("--screenshot fetches the picture", async () => {
    await home.write("pictured", { "index.html": SOUND });
    // Where it is put: below the home that goes with this test.
    const env = { TMPDIR: await home.write("temporary", {}) };
    await home.run(["pictured", "--wait"]);
    const { code, out } = await home.run(["open", "pictured", "--screenshot"], { env });
    expect([code, out.startsWith(home.path("temporary"))]).toEqual([0, true]);
    expect(Buffer.from(await Bun.file(out.trimEnd()).bytes()).toString("latin1", 8, 12)).toBe("WEBP");
    const { screenshot, ...ran } = json(await home.run(["open", "pictured", "--screenshot", "--json"], { env }));
    expect(ran).toEqual({ ok: true, url: expect.stringMatching(/^http:/), opened: false });
    expect(screenshot).toMatch(/\.webp$/);
  });

  longTest("--screenshot says where there is none", async () => {
    await using off = await startServer();
    await home.write("sound", { "index.html": SOUND });
    const env = { DEPLOY_URL: off.base_url };
    await home.write("plain", { "index.html": SOUND });
    await home.run(["plain"], { env });
    const { code, err } = await home.run(["open", "plain", "--screenshot"], { env });
    expect([code, err.includes("no screenshot of this version")]).toEqual([1, true]);
  });
});
