/** `svc versions` and `svc rollback` (SPEC, "Version and live pointer"). */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { Home, json } from "../kit/cli.ts";
import { fakeServer, type FakeServer } from "../kit/fake-server.ts";
import { ROOT } from "../kit/paths.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

/** Version ids, newest first. */
let ids: string[];
let url: string;
let site_id: string;

const server = await sharedServer();
const home = shared(await Home.make(server.base_url));
beforeAll(async () => {
  ids = [];
  for (const n of [1, 2, 3]) {
    await home.write("", { "dist/index.html": `<title>${n}</title>page ${n}` });
    const body = json(await home.run([...(n === 1 ? [] : ["update"]), "--json"]));
    [url, site_id] = [String(body["url"]), String(body["site_id"])];
    ids.unshift(String(body["version_id"]));
    // Two versions of one millisecond would have no order.
    server.advance(1);
  }
});

const page = async () => (await server.site(new URL(url).hostname.split(".")[0]!)).text();

describe("versions", () => {
  test("rows `version_id created_at [live]`, newest first", async () => {
    const { code, out, err } = await home.run(["versions"]);
    expect([code, err]).toEqual([0, ""]);
    const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
    const rows = out.trimEnd().split("\n");
    expect(rows).toHaveLength(3);
    rows.forEach((row, i) => expect(row).toMatch(new RegExp(`^${ids[i]} ${time}${i === 0 ? " \\[live\\]" : ""}$`)));
    expect((await home.run(["versions", "-q"])).out).toBe(out);
    expect((await home.run(["versions", "."])).out).toBe(out);
    expect((await home.run(["versions", "--site", site_id], { cwd: "/" })).out).toBe(out);
  });

  test("CONTRACT 8: --json is the object of the specification, each version with its title and its own URL", async () => {
    expect(json(await home.run(["versions", "--json"]))).toEqual({
      ok: true,
      site_id,
      live_version_id: ids[0],
      versions: ids.map((version_id, i) => ({
        version_id,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        title: String(ids.length - i),
        version_url: String(url).replace("://", `://${version_id}--`),
      })),
    });
  });

  test("a reader that goes away is no failure", async () => {
    const child = Bun.spawn(["sh", "-c", `exec "$0" "$1" versions | true`, process.execPath, join(ROOT, "cli.ts")], {
      cwd: home.dir,
      env: { PATH: process.env["PATH"] ?? "", SVC_CONFIG_DIR: home.config, DEPLOY_URL: home.server },
      stderr: "pipe",
    });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  });
});

describe("rollback", () => {
  test("without a version the one before the live one, step by step, until the oldest", async () => {
    const first = await home.run(["rollback"]);
    expect([first.code, first.out]).toEqual([0, `${url}\n`]);
    expect(first.err).toContain(`Version ${ids[1]} is live`);
    expect(first.err).toContain(`svc rollback ${ids[0]}`);
    expect(await page()).toContain("page 2");
    expect((await home.run(["rollback", "-q"])).err).toBe("");
    expect(await page()).toContain("page 1");
    const last = await home.run(["rollback", "--json"]);
    expect(last.code).toBe(1);
    expect(json(last)).toEqual({
      ok: false,
      error: expect.stringContaining("the oldest"),
      code: "no_previous_version",
    });
    expect(await page()).toContain("page 1");
  });

  test("forward again by id; --json is the API's body; nothing was deleted", async () => {
    const ran = await home.run(["rollback", ids[0]!, "--json"]);
    expect(json(ran)).toEqual({ ok: true, site_id, url, version_id: ids[0], previous_version_id: ids[2] });
    expect(await page()).toContain("page 3");
    expect((await home.run(["versions"])).out.split("\n")).toHaveLength(4);
  });

  test("by a prefix, in either case", async () => {
    expect(json(await home.run(["rollback", ids[1]!.slice(0, 8).toUpperCase(), "--json"]))["version_id"]).toBe(ids[1]);
    expect(await page()).toContain("page 2");
  });

  test("to the version that is live: nothing changes, and nothing is said of a way forward", async () => {
    const ran = await home.run(["rollback", ids[1]!]);
    expect([ran.code, ran.out]).toEqual([0, `${url}\n`]);
    expect(ran.err).toContain("No changes (already live)");
    expect(ran.err).not.toContain("Forward again");
  });

  test("only one version: refused", async () => {
    await using other = await Home.make(server.base_url);
    await other.write("", { "dist/index.html": "<title>1</title>" });
    await other.run(["-q"]);
    const ran = await other.run(["rollback", "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({
      ok: false,
      error: "The site has only one version: there is none to go back to.", // and no version is offered
      code: "no_previous_version",
    });
  });
});

describe("what a prefix may be", () => {
  const VERSIONS = ["abc0000000000001", "abc0000000000002", "abd0000000000003", "0000000000000004"];
  let fake: FakeServer;
  beforeAll(() => {
    const versions = VERSIONS.map((version_id, i) => ({
      version_id,
      title: null,
      created_at: `2026-01-0${4 - i}T00:00:00.000Z`,
    }));
    const record = {
      site_id: "site_x",
      url: "http://x.localhost",
      expires_at: null,
      live_version_id: VERSIONS[1],
      versions,
    };
    fake = fakeServer(async (path, _, request) => {
      if (request.method === "GET") return Response.json(record);
      const { version_id } = (await request.json()) as { version_id: string };
      return Response.json({
        ok: true,
        site_id: "site_x",
        url: record.url,
        version_id,
        previous_version_id: VERSIONS[1],
      });
    });
  });
  afterAll(() => fake.stop());
  const rollback = (args: string[]) =>
    home.run(["rollback", "--site", "site_x", "--token", "t", "--json", ...args], { env: { DEPLOY_URL: fake.url } });
  const posts = () => fake.asked.filter(({ method }) => method === "POST").length;

  test.each([
    ["abc0000000000001", VERSIONS[0]!],
    ["abd", VERSIONS[2]!],
    ["0", VERSIONS[3]!],
    ["abc0000000000002", VERSIONS[1]!],
  ])("%s is %s", async (prefix, version_id) => {
    expect(json(await rollback([prefix]))).toMatchObject({ ok: true, version_id });
  });

  test("no argument is the version right before the live one in the list", async () => {
    expect(json(await rollback([]))).toMatchObject({ version_id: VERSIONS[2] });
  });

  test.each([
    ["abc", "ambiguous_version", "abc could be abc0000000000001 or abc0000000000002. Give more of it."],
    ["ab", "ambiguous_version", "could be"],
    ["ffff", "unknown_version", "Unknown version ffff."],
    ["", "unknown_version", "Unknown version"],
    ["abc00000000000011", "unknown_version", "Unknown version"],
  ])("%p is rejected before anything that changes", async (prefix, code, sentence) => {
    const before = posts();
    const ran = await rollback([prefix]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({ ok: false, error: expect.stringContaining(sentence), code });
    expect(posts()).toBe(before);
  });

  test("the server's Unknown version is passed on", async () => {
    const gone = fakeServer((_, nth) =>
      nth === 1
        ? Response.json({
            site_id: "s",
            url: "u",
            live_version_id: "b",
            versions: [{ version_id: "b" }, { version_id: "a" }],
          })
        : Response.json({ error: "Unknown version", code: "unknown_version" }, { status: 404 }),
    );
    const args = ["rollback", "--site", "s", "--token", "t", "--json"];
    expect(json(await home.run(args, { env: { DEPLOY_URL: gone.url } }))).toEqual({
      ok: false,
      error: "Unknown version",
      code: "unknown_version",
    });
    await gone.stop();
  });
});
