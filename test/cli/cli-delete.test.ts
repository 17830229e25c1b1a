/** `svc delete` (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { signUp } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

interface Site {
  site_id: string;
  url: string;
}

/** A home that is signed in, with folders `a` and `b` that are sites of the account. */
async function signedIn() {
  const home = await Home.make(server.base_url);
  await home.write("", { "a/index.html": "<title>a</title>", "b/index.html": "<title>b</title>" });
  await home.run(["login", "--token", person.session_token]);
  const site = async (folder: string) => json(await home.run([folder, "--json"])) as unknown as Site;
  return { home, a: await site("a"), b: await site("b") };
}

const statusOf = async ({ url }: Site) => (await server.site(slugOf(url))).status;

describe("CONTRACT 8: svc delete", () => {
  const NAMES: [string, (site: Site) => string][] = [
    ["site_id", ({ site_id }) => site_id],
    ["slug", ({ url }) => slugOf(url)],
    ["URL", ({ url }) => url],
    ["URL of a page", ({ url }) => `${url}/about?x=1`],
    ["URL without its scheme", ({ url }) => url.replace("http://", "")],
  ];
  test.each(NAMES)("deletes a site by its %s, its link too, and prints its site_id", async (_, nameOf) => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    expect(await home.run(["delete", nameOf(a), "--yes"])).toEqual({
      code: 0,
      out: `${a.site_id}\n`,
      err: `  ✓ Deleted ${a.url}\n`,
    });
    expect([await statusOf(a), await statusOf(b)]).toEqual([404, 200]);
    expect((await home.links()).map((link) => link["site_id"])).toEqual([b.site_id]);
  });

  test("several at once, twice named counts once; --json", async () => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    const ran = await home.run(["delete", a.url, b.site_id, a.site_id, "--yes", "--json"]);
    expect(json(ran)).toEqual({ ok: true, deleted: [a.site_id, b.site_id] });
    expect([await statusOf(a), await statusOf(b)]).toEqual([404, 404]);
  });

  test("without a site, where no folder or several are linked: how one is named, and nothing is deleted", async () => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    await home.write("c", { "index.html": "c" });
    const none = json(await home.run(["delete", "--yes", "--json"], { cwd: home.path("c") }));
    expect(none).toMatchObject({
      code: "not_linked",
      error: expect.stringMatching(/name the site: svc delete <site>$/),
    });
    const several = json(await home.run(["delete", "--yes", "--json"]));
    expect(several).toMatchObject({ code: "several_links", error: expect.stringContaining("svc delete <site>") });
    expect(JSON.stringify([none, several])).not.toContain("--site");
    expect([await statusOf(a), await statusOf(b)]).toEqual([200, 200]);
  });

  test("without a site: that of the folder's link", async () => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    expect((await home.run(["delete", "--yes"], { cwd: home.path("a") })).out).toBe(`${a.site_id}\n`);
    expect([await statusOf(a), await statusOf(b)]).toEqual([404, 200]);
    const none = await home.run(["delete", "--yes", "--json"], { cwd: home.path("a") });
    expect(json(none)).toMatchObject({ code: "not_linked" });
  });

  test("one that is not the account's: nothing is deleted", async () => {
    const { home, a } = await signedIn();
    await using _home = home;
    const other = await signUp(server);
    const env = { SVC_TOKEN: other.session_token };
    const theirs = json(await home.run(["b", "--json"], { env })) as unknown as Site;
    for (const name of [theirs.site_id, theirs.url, "calm-otter-0000", "../x"]) {
      const ran = await home.run(["delete", a.site_id, name, "--yes", "--json"]);
      expect(ran.code).toBe(1);
      expect(json(ran)).toMatchObject({ code: "unknown_site", error: expect.stringContaining(name) });
      expect(json(ran)["error"]).toContain("nothing was deleted");
    }
    expect(await statusOf(a)).toBe(200);
  });

  test("an anonymous one: when it ends, and how to make it one's own", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("", { "a/index.html": "<title>a</title>" });
    const a = json(await home.run(["a", "--json"])) as unknown as Site;
    const env = { SVC_TOKEN: person.session_token };
    const ran = await home.run(["delete", slugOf(a.url), "--yes", "--json"], { env });
    expect(ran.code).toBe(1);
    expect(json(ran)["code"]).toBe("not_owned");
    expect(json(ran)["error"]).toMatch(/it ends by itself on .* 14 days from now/);
    expect(json(ran)["error"]).toContain(`svc claim ${a.site_id}`);
    const signedOut = json(await home.run(["delete", "--yes", "--json"], { cwd: home.path("a") }));
    expect(signedOut["code"]).toBe("unauthorized");
    expect(signedOut["error"]).toContain("it ends by itself on");
    expect(await statusOf(a)).toBe(200);
  });

  test("a program that does not say --yes: exit 2, and nothing is asked of the server", async () => {
    const { home, a } = await signedIn();
    await using _home = home;
    for (const flags of [[], ["--json"], ["-q"]]) expect((await home.run(["delete", a.url, ...flags])).code).toBe(2);
    expect(await statusOf(a)).toBe(200);
  });

  test("signed out: exit 1 as list", async () => {
    await using home = await Home.make(server.base_url);
    const ran = await home.run(["delete", "site_x", "--yes", "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, "unauthorized"]);
    expect(json(ran)["error"]).toContain("svc delete needs your account: run svc login, or set SVC_TOKEN.");
  });
});

describe("CONTRACT 8: on a terminal the slug of each is typed", () => {
  /** Types an answer to each question as it comes. */
  const typing = (answers: string[]) => {
    let asked = 0;
    return (raw: string, terminal: Bun.Terminal) => {
      if ((raw.match(/to delete it: /g)?.length ?? 0) <= asked || asked >= answers.length) return;
      terminal.write(answers[asked++]!);
    };
  };

  test("all of them: they are gone", async () => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    const answers = [a, b].map(({ url }) => `${slugOf(url)}\r`);
    const { code, lines } = await home.runOnTerminal(["delete", a.url, b.url], {}, typing(answers));
    expect(code).toBe(0);
    expect(lines.join("\n")).toContain("Nobody gets its address again.");
    expect(lines.join("\n")).toContain(`Deleted ${b.url}`);
    expect([await statusOf(a), await statusOf(b)]).toEqual([404, 404]);
  });

  test.each([
    ["another word", "\r", 1],
    ["y", "y\r", 1],
    ["Ctrl-C", "\x03", 130],
  ])("the second one answered by %s: nothing is deleted", async (_, answer, exit) => {
    const { home, a, b } = await signedIn();
    await using _home = home;
    const { code } = await home.runOnTerminal(["delete", a.url, b.url], {}, typing([`${slugOf(a.url)}\r`, answer]));
    expect(code).toBe(exit);
    expect([await statusOf(a), await statusOf(b)]).toEqual([200, 200]);
  });
});
