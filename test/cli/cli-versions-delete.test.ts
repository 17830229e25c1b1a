/** `svc versions delete` and `prune` (CONTRACT 8, BEYOND 9), and what `svc versions` says of a version that is withheld. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { signUp } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();
const SECRET = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;

/** A home that is signed in, with a site of so many versions: their ids, newest first, and the address of the site. */
async function withVersions(count: number, signed_in = true) {
  const home = await Home.make(server.base_url);
  if (signed_in) await home.run(["login", "--token", person.session_token]);
  const ids: string[] = [];
  let [url, site_id] = ["", ""];
  for (let n = 1; n <= count; n++) {
    await home.write("", { "dist/index.html": `<title>${n}</title>page ${n}` });
    const body = json(await home.run([...(n === 1 ? [] : ["update"]), "--json"]));
    [url, site_id] = [String(body["url"]), String(body["site_id"])];
    ids.unshift(String(body["version_id"]));
    // Two versions of one millisecond would have no order.
    server.advance(1);
  }
  const statuses = () => Promise.all(ids.map(async (id) => (await server.site(`${id}--${slugOf(url)}`)).status));
  return { home, ids, url, site_id, statuses };
}

describe("svc versions delete", () => {
  test("deletes by id or prefix, twice named counts once, and prints each id", async () => {
    const { home, ids, statuses } = await withVersions(3);
    await using _home = home;
    const [, second, first] = ids as [string, string, string];
    const ran = await home.run(["versions", "delete", first, second.slice(0, 9).toUpperCase(), first, "--yes"]);
    expect([ran.code, ran.out]).toEqual([0, `${first}\n${second}\n`]);
    expect(ran.err).toMatch(/^ {2}✓ Deleted 2 versions \(\d+ bytes of files that no other version has\)\n$/);
    expect(await statuses()).toEqual([200, 404, 404]);
    expect((await home.run(["versions"])).out.trimEnd().split("\n")).toHaveLength(1);
  });

  test("--json says how much is free now; --site names a site from anywhere", async () => {
    const { home, ids, site_id } = await withVersions(2);
    await using _home = home;
    const ran = await home.run(["versions", "delete", ids[1]!, "--site", site_id, "--yes", "--json"], { cwd: "/" });
    const freed_bytes = "<title>1</title>page 1".length;
    expect(json(ran)).toEqual({ ok: true, deleted: [ids[1]], freed_bytes });
  });

  test("the live one, one that is not there and an unclear prefix: nothing is deleted", async () => {
    const { home, ids, statuses } = await withVersions(2);
    await using _home = home;
    const refused = async (...named: string[]) => {
      const ran = await home.run(["versions", "delete", ids[1]!, ...named, "--yes", "--json"]);
      return [ran.code, json(ran)["code"]];
    };
    expect(await refused(ids[0]!)).toEqual([1, "version_live"]);
    expect(await refused("zzzz")).toEqual([1, "unknown_version"]);
    expect(await statuses()).toEqual([200, 200]);
    const none = json(await home.run(["versions", "delete", "--yes", "--json"]));
    expect(none).toMatchObject({ code: "usage", error: expect.stringContaining("svc versions delete <version>") });
  });

  test("a version that a preview alone shows", async () => {
    const { home, ids, url, statuses } = await withVersions(1);
    await using _home = home;
    await home.write("draft", { "index.html": "a draft" });
    const shown = json(await home.run(["preview", "draft", "--name", "draft", "--site", await idOf(home), "--json"]));
    const version_id = String(shown["version_id"]);
    expect((await home.run(["versions", "delete", version_id.slice(0, 10), "--yes"])).out).toBe(`${version_id}\n`);
    expect((await server.site(`draft--${slugOf(url)}`)).status).toBe(404);
    expect([ids.length, await statuses()]).toEqual([1, [200]]);
  });

  test("a manage_token and another account delete none, and are told what does", async () => {
    const { home, ids, statuses } = await withVersions(2, false);
    await using _home = home;
    const call = ["versions", "delete", ids[1]!, "--yes", "--json"];
    const signed_out = json(await home.run(call));
    expect(signed_out).toMatchObject({ code: "unauthorized", error: expect.stringContaining("svc login") });
    const other = await signUp(server);
    const theirs = json(await home.run(call, { env: { SVC_TOKEN: other.session_token } }));
    expect(theirs).toMatchObject({ code: "forbidden", error: expect.stringContaining("claim it first") });
    expect(await statuses()).toEqual([200, 200]);
  });

  test("without a terminal and --yes nothing is asked of the server, exit 2", async () => {
    const { home, ids, statuses } = await withVersions(2);
    await using _home = home;
    for (const call of [
      ["delete", ids[1]!],
      ["prune", "--keep", "1"],
    ]) {
      const ran = await home.run(["versions", ...call, "--json"]);
      expect([ran.code, json(ran)["code"]]).toEqual([2, "usage"]);
      expect(json(ran)["error"]).toContain("--yes");
    }
    expect(await statuses()).toEqual([200, 200]);
  });

  test("on a terminal the versions are listed, and a word is typed", async () => {
    const { home, ids, statuses } = await withVersions(2);
    await using _home = home;
    const typing = (word: string) => {
      let done = false;
      return (raw: string, terminal: Bun.Terminal) => {
        if (done || !raw.includes("Type delete to delete 1 version: ")) return;
        done = true;
        terminal.write(`${word}\r`);
      };
    };
    const no = await home.runOnTerminal(["versions", "delete", ids[1]!], {}, typing("yes"));
    expect([no.code, no.raw]).toEqual([1, expect.stringContaining("nothing was deleted")]);
    expect(no.lines.some((line) => line.includes(`${ids[1]}  1  now`))).toBe(true);
    expect(await statuses()).toEqual([200, 200]);
    const yes = await home.runOnTerminal(["versions", "delete", ids[1]!], {}, typing("delete"));
    expect([yes.code, yes.raw]).toEqual([0, expect.stringContaining("Deleted 1 version")]);
    expect(await statuses()).toEqual([200, 404]);
  });

  test("a server that is older says so", async () => {
    const versions = ["b", "a"].map((version_id) => ({
      version_id,
      title: null,
      created_at: "2026-01-01T00:00:00.000Z",
    }));
    const record = { site_id: "site_x", url: "http://x.localhost", expires_at: null, live_version_id: "b", versions };
    const unknown = { error: "There is nothing here.", code: "not_found" };
    const old = fakeServer((path) =>
      path === "/sites/site_x" ? Response.json(record) : Response.json(unknown, { status: 404 }),
    );
    await using home = await Home.make(old.url);
    const env = { SVC_TOKEN: "svc_session_x" };
    const listed = await home.run(["versions", "--site", "site_x"], { env });
    expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/^b .* \[live\]\na /)]);
    const ran = json(await home.run(["versions", "delete", "a", "--site", "site_x", "--yes", "--json"], { env }));
    expect(ran).toMatchObject({ code: "not_found", error: expect.stringContaining("Upgrade it first") });
    old.stop();
  });
});

const idOf = async (home: Home): Promise<string> => String((await home.links())[0]!["site_id"]);

describe("svc versions prune", () => {
  test("keeps the newest, and the live one among them", async () => {
    const { home, ids, statuses } = await withVersions(5);
    await using _home = home;
    const ran = await home.run(["versions", "prune", "--keep", "3", "--yes"]);
    expect([ran.code, ran.out]).toEqual([0, `${ids[4]}\n${ids[3]}\n`]);
    expect(await statuses()).toEqual([200, 200, 200, 404, 404]);
    await home.run(["rollback", ids[2]!]);
    expect((await home.run(["versions", "prune", "--keep", "2", "--yes"])).out).toBe(`${ids[1]}\n`);
    expect((await home.run(["versions", "prune", "--keep", "1", "--yes"])).out).toBe(`${ids[0]}\n`);
    expect(await statuses()).toEqual([404, 404, 200, 404, 404]);
    const nothing = await home.run(["versions", "prune", "--keep", "1", "--yes", "--json"]);
    expect(json(nothing)).toEqual({ ok: true, deleted: [], freed_bytes: 0 });
  });

  test.each([[[]], [["--keep", "0"]], [["--keep", "all"]]])("with %p nothing is deleted, exit 2", async (flags) => {
    const { home, statuses } = await withVersions(2);
    await using _home = home;
    const ran = await home.run(["versions", "prune", ...flags, "--yes", "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([2, "usage"]);
    expect(await statuses()).toEqual([200, 200]);
  });
});

describe("svc versions", () => {
  test("marks a version that is withheld, and what the receipt says of it can be run", async () => {
    await using home = await Home.make(server.base_url);
    await home.run(["login", "--token", person.session_token]);
    await home.write("", { "dist/index.html": "<title>a</title><script src=app.js></script>", "dist/app.js": SECRET });
    const first = await home.run(["--json"]);
    const { version_id } = json(first) as { version_id: string };
    expect(first.out).toContain(`svc versions delete ${json(first)["version_id"]}`);
    await home.write("", { "dist/app.js": "// nothing" });
    const { err } = await home.run(["update"]);
    expect(err).toContain("A secret was seen in the version before. Revoke it where it was issued");
    expect(err).toContain(`svc versions delete ${version_id} --site`);
    expect(err).not.toContain("rollback");
    const rows = (await home.run(["versions"])).out.trimEnd().split("\n");
    expect(rows.map((row) => row.split(" ")[2])).toEqual(["[live]", "[withheld]"]);
    const { versions } = json(await home.run(["versions", "--json"])) as { versions: object[] };
    expect(versions.map((row) => "withheld" in row && row.withheld)).toEqual([false, true]);
    const seen = await home.runOnTerminal(["versions"]);
    expect(seen.lines.some((line) => line.startsWith(version_id) && line.endsWith("[withheld]"))).toBe(true);
    const back = await home.run(["rollback", "--json"]);
    expect([back.code, json(back)]).toMatchObject([1, { code: "version_withheld" }]);
    expect(json(back)["error"]).toContain(`svc versions delete ${version_id}`);
    expect((await home.run(["versions"])).out).toMatch(new RegExp(`^${version_id} \\S+ \\[withheld\\]$`, "m"));
    expect((await home.run(["rollback", version_id, "--yes"])).code).toBe(0);
    expect((await home.run(["rollback"])).code).toBe(1); // it was the first
    expect((await home.run(["update"])).code).toBe(0);
    expect((await home.run(["versions", "delete", version_id, "--yes"])).code).toBe(0);
    expect((await home.run(["versions"])).out).not.toContain("withheld");
  });

  test("a folder that is called as a command is named by its path, and the help lists both commands", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("delete", { "index.html": "<title>a</title>" });
    await home.run(["./delete"]);
    expect((await home.run(["versions", "./delete"])).out).toMatch(/\[live\]\n$/);
    const { out } = await home.run(["help", "versions"]);
    for (const call of ["svc versions delete <version>…", "svc versions prune"]) expect(out).toContain(call);
  });
});
