/** What programs and people read of a deploy, of versions and of the account's sites (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployed, Home, json } from "../kit/cli.ts";
import { call } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const { server, person } = await sharedPerson();

const versionUrl = ({ url, version_id }: Record<string, unknown>) =>
  String(url).replace("http://", `http://${String(version_id)}--`);

describe("CONTRACT 8: the object of a deploy and of an update", () => {
  test("has healed, warnings and version_url, which serves this version for good", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("a", { "page.html": '<title>t</title><img src="gone.png">' });
    const first = await deployed(home, ["a"]);
    expect(first["healed"]).toMatchObject([{ code: "index_from_single_html" }]);
    expect(first["warnings"]).toMatchObject([{ code: "missing_asset", fix_recipe: expect.any(String) }]);
    expect(first["version_url"]).toBe(versionUrl(first));
    const same = await deployed(home, ["update", "a"]);
    expect(same).toMatchObject({ changed: false, healed: [], warnings: [], version_url: first["version_url"] });
    await home.write("a", { "page.html": "<title>t</title>two" });
    const second = await deployed(home, ["update", "a"]);
    expect(second).toMatchObject({ changed: true, warnings: [], version_url: versionUrl(second) });
    const host = new URL(String(first["version_url"])).host;
    const kept = await fetch(server.base_url, { headers: { host } });
    expect(await kept.text()).toContain("gone.png");
  });
});

describe("CONTRACT 8: versions", () => {
  test("--json: each with title and version_url; a pipe has SPEC's row, a terminal title and age", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("a", { "index.html": "<title>The first\u202e one</title>" });
    const first = await deployed(home, ["a"]);
    await home.write("a", { "index.html": "no title" });
    server.advance(1000);
    const second = await deployed(home, ["update", "a"]);
    const { versions } = json(await home.run(["versions", "a", "--json"])) as { versions: Record<string, string>[] };
    expect(versions).toEqual([
      {
        version_id: second["version_id"],
        created_at: expect.any(String),
        title: null,
        version_url: second["version_url"],
      },
      {
        version_id: first["version_id"],
        created_at: expect.any(String),
        title: expect.stringContaining("The first"),
        version_url: first["version_url"],
      },
    ] as never);
    const [newer, older] = versions as [Record<string, string>, Record<string, string>];
    expect((await home.run(["versions", "a"])).out).toBe(
      `${newer["version_id"]} ${newer["created_at"]} [live]\n${older["version_id"]} ${older["created_at"]}\n`,
    );
    const { lines, raw } = await home.runOnTerminal(["versions", "a"]);
    const rows = lines.filter((line) => /^[0-9a-f]{16} /.test(line));
    expect(rows[0]).toMatch(new RegExp(`^${newer["version_id"]}  -  +now  \\[live\\]$`));
    expect(rows[1]).toMatch(new RegExp(`^${older["version_id"]}  The first.*one  now$`));
    expect(rows[0]!.indexOf("now")).toBe(rows[1]!.indexOf("now"));
    expect(raw).not.toContain("\u202e");
  });
});

describe("CONTRACT 8: list", () => {
  test("on a terminal a table of name, URL and age, newest first; in a pipe and with --json the array", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("a", { "index.html": "a" });
    const env = { SVC_TOKEN: person.session_token };
    const none = await home.runOnTerminal(["list"], { env });
    expect(none.lines.join("\n")).toContain(`No sites yet on ${server.base_url}: svc makes one.`);
    const make = async () => json(await home.run(["a", "--json"], { env }));
    const ages = [3 * DAY, DAY, 5 * MINUTE, MINUTE, 0];
    // The server's clock is ahead of the CLI's by what was advanced.
    server.advance(-3 * DAY - 30_000);
    const made: Record<string, unknown>[] = [];
    for (const [i, age] of ages.entries()) {
      made.unshift(await make());
      server.advance(age - (ages[i + 1] ?? 0));
    }
    const named = { label: "A label that is so long that it would push all else out of sight" };
    await call(server, "PATCH", `/account/sites/${made[1]!["site_id"]}`, named, person.bearer);
    const { lines, code } = await home.runOnTerminal(["list"], { env });
    expect(code).toBe(0);
    const [head, ...rows] = lines.filter((line) => line.trim() !== "").map((line) => line.split(/ {2,}/));
    expect(head).toEqual(["NAME", "URL", "CREATED"]);
    expect(rows.map(([, url]) => url)).toEqual(made.map(({ url }) => String(url)));
    expect(rows.map(([, , age]) => age)).toEqual(["now", "1 minute ago", "5 minutes ago", "1 day ago", "3 days ago"]);
    expect(rows.map(([name]) => name)).toEqual(
      made.map(({ url }, i) => (i === 1 ? expect.stringMatching(/^A label .*…$/) : slugOf(url))) as string[],
    );
    const piped = await home.run(["list"], { env });
    expect(JSON.parse(piped.out)).toHaveLength(5);
    expect(JSON.parse((await home.runOnTerminal(["list", "--json"], { env })).raw)).toEqual(JSON.parse(piped.out));
  });
});
