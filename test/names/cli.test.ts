/** BEYOND 17 on the command line: `svc rename`, and `--name` of a deploy. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { type Person, signUp } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { naming } from "./named.ts";

setDefaultTimeout(60_000);

const server = await sharedServer({ SVC_RATE_SLUG: "off" });
const ann = await signUp(server);
const { at, url, owned, renamed } = naming(() => server);
await renamed(await owned(ann), "cli-taken", ann);
let names = 0;
const fresh = () => `cli-name-${++names}`;

/** A machine whose user is signed in, with a folder `site`. */
async function signedIn(person: Person | null = ann, on: TestServer = server): Promise<Home> {
  const home = shared(await Home.make(on.base_url));
  await home.write("site", { "index.html": "<!doctype html><title>CLI</title>by the command line" });
  if (person !== null) expect((await home.run(["login", "--token", person.session_token])).code).toBe(0);
  return home;
}

test("BEYOND 17: svc rename prints the new URL, and links and former name lead there", async () => {
  const home = await signedIn();
  const cwd = home.path("site");
  const first = (await home.run(["."], { cwd })).out.trim();
  const slug = fresh();
  const ran = await home.run(["rename", slug], { cwd });
  expect([ran.code, ran.out]).toEqual([0, `${url(slug, "")}\n`]);
  expect(ran.err).toContain(`${first} leads there, for good.`);
  expect((await home.links()).map((link) => link["url"])).toEqual([url(slug, "")]);
  expect((await home.run(["open"], { cwd })).out).toBe(`${url(slug, "")}\n`);
  expect((await home.run(["update"], { cwd })).out).toBe(`${url(slug, "")}\n`);
  expect((await at(new URL(first).hostname.split(".")[0]!)).location).toBe(url(slug));
  const back = json(await home.run(["rename", slug, "--json"], { cwd }));
  expect(back).toMatchObject({ ok: true, slug, url: url(slug, ""), versions: expect.any(Array) });
});

test("BEYOND 17: --site names any site of the account, also one that is not linked here", async () => {
  const [home, site, slug] = [await signedIn(), await owned(ann), fresh()];
  const ran = await home.run(["rename", slug, "--site", site.site_id]);
  expect([ran.code, ran.out]).toEqual([0, `${url(slug, "")}\n`]);
});

test.each([
  [["rename"], 2, /wants the new name/],
  [["rename", "www"], 1, /kept for the service/],
  [["rename", "My_Garden"], 1, /lower-case letters/],
  [["rename", "cli-taken"], 1, /another site's/],
  [["rename", "a-name", "--site", `site_${"z".repeat(20)}`], 1, /gone/],
])("BEYOND 17: svc %p ends with %i and says what to do", async (args, code, says) => {
  const home = await signedIn();
  const cwd = home.path("site");
  const site = await home.run(["."], { cwd });
  const ran = await home.run(args, { cwd });
  expect([ran.code, ran.out, ran.err]).toEqual([code, "", expect.stringMatching(says)]);
  expect((await home.run(["open"], { cwd })).out).toBe(site.out);
});

test("BEYOND 17: without an account nothing is renamed, and the sentence says svc login", async () => {
  const home = await signedIn(null);
  const cwd = home.path("site");
  await home.run(["."], { cwd });
  const ran = await home.run(["rename", fresh(), "--json"], { cwd });
  expect([ran.code, json(ran)["code"], String(json(ran)["error"])]).toEqual([
    1,
    "unauthorized",
    expect.stringContaining("svc login"),
  ]);
});

test("BEYOND 17: svc <dir> --name makes the site and names it before its URL is printed", async () => {
  const [home, slug] = [await signedIn(), fresh()];
  const ran = await home.run(["site", "--name", slug]);
  expect([ran.code, ran.out]).toEqual([0, `${url(slug, "")}\n`]);
  expect(await at(slug)).toMatchObject({ status: 200, text: expect.stringContaining("by the command line") });
  expect((await home.links())[0]).toMatchObject({ url: url(slug, "") });
  const next = fresh();
  const body = json(await home.run(["site", "--name", next, "--json"]));
  const { version_id } = body;
  expect(body).toMatchObject({ ok: true, url: url(next, ""), version_url: url(`${String(version_id)}--${next}`, "") });
});

test("BEYOND 17: --json of a deploy has the same members with and without a name", async () => {
  const home = await signedIn();
  const without = json(await home.run(["site", "--json"]));
  const withName = json(await home.run(["site", "--name", fresh(), "--json"]));
  const refused = json(await home.run(["site", "--name", "cli-taken", "--json"]));
  expect(Object.keys(withName)).toEqual(Object.keys(without));
  expect(Object.keys(refused)).toEqual(Object.keys(without));
});

test("BEYOND 17: a name that is taken: live under its given slug, exit 0, and the last lines say so with svc rename", async () => {
  const [home, slug] = [await signedIn(), fresh()];
  await renamed(await owned(ann), slug, ann);
  for (const more of [[], ["-q"], ["--json"]]) {
    const ran = await home.run(["site", "--name", slug, ...more]);
    const given = more[0] === "--json" ? String(json(ran)["url"]) : ran.out.trim();
    expect([ran.code, given]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/[a-z]+-[a-z]+-[0-9a-z]{4}\.localhost:\d+$/),
    ]);
    const last = ran.err.trim().split("\n").slice(-2).join("\n");
    expect(last).toContain(`It is live at ${given}, and not under the name that you chose.`);
    expect(last).toMatch(/another site's.*\n.*svc rename <name> --site site_/);
    expect((await at(new URL(given).hostname.split(".")[0]!)).status).toBe(200);
  }
});

test("BEYOND 17: a brand, which the server alone knows, and the sixth name of a day end so too", async () => {
  const own = shared(await startServer({ SVC_RATE_SLUG: "1/1d" }));
  const home = await signedIn(await signUp(own), own);
  const brand = await home.run(["site", "--name", "paypal-login"]);
  expect([brand.code, brand.err]).toEqual([0, expect.stringContaining("PayPal")]);
  expect((await home.run(["site", "--name", "first-of-a-day"])).out).toContain("first-of-a-day");
  const late = await home.run(["site", "--name", "second-of-a-day"]);
  expect([late.code, late.err]).toEqual([0, expect.stringContaining("not under the name that you chose")]);
});

test.each([
  ["my_garden", /lower-case letters/],
  ["ab", /3 to 40 characters/],
  ["calm-otter-7f3k", /drawn by the server/],
  ["adm1n", /looks like admin/],
])("BEYOND 17: --name %s is judged by the client: exit 1, nothing sent", async (name, says) => {
  const home = await signedIn();
  const before = server.rows("sites");
  for (const args of [
    ["site", "--name", name],
    ["site", "--name", name, "--dry-run"],
  ]) {
    const ran = await home.run(args);
    expect([ran.code, ran.out, ran.err]).toEqual([1, "", expect.stringMatching(says)]);
    expect(ran.err).toContain("Nothing was sent.");
  }
  expect(server.rows("sites")).toBe(before);
});

test("BEYOND 17: --name without a session, or with a deploy token: exit 1 before any upload, with svc login", async () => {
  const home = await signedIn(null);
  const before = server.rows("sites");
  for (const env of [{}, { SVC_TOKEN: "svc_deploy_x" }] as Record<string, string>[]) {
    const ran = await home.run(["site", "--name", fresh()], { env });
    expect([ran.code, ran.out, ran.err]).toEqual([1, "", expect.stringContaining("svc login")]);
  }
  expect(server.rows("sites")).toBe(before);
});
