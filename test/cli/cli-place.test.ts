/** Which site a place stands for, after `svc` in a project (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { deployed, Home, json } from "../kit/cli.ts";
import { call, signUp } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();

/** A home with `web`, a project whose build was deployed by `svc` alone. */
async function projectDeployed() {
  const home = await Home.make(server.base_url);
  await home.write("web", { "dist/index.html": "<title>1</title>", "src/a.txt": "a", "other/index.html": "o" });
  return { home, first: await deployed(home, [], home.path("web")) };
}

describe("CONTRACT 8: after `svc` in a project, the folder that was looked up is the project's link", () => {
  test.each<[string, string[], string]>([
    ["svc update dist in the project", ["update", "dist"], "web"],
    ["svc update dist/ in the project", ["update", "dist/"], "web"],
    ["svc update web/dist from above", ["update", "web/dist"], ""],
    ["svc update inside dist", ["update"], "web/dist"],
    ["svc update . inside dist", ["update", "."], "web/dist"],
    ["svc update in the project", ["update"], "web"],
  ])("%s publishes at its URL", async (_, args, cwd) => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    expect(await deployed(home, args, home.path(cwd))).toMatchObject({ url: first["url"], changed: false });
    await home.write("web", { "dist/index.html": `<title>2</title>now ${cwd}` });
    expect(await deployed(home, args, home.path(cwd))).toMatchObject({ url: first["url"], changed: true });
    expect(await (await server.site(slugOf(first["url"]))).text()).toContain(`now ${cwd}`);
    expect(await home.links()).toHaveLength(1);
  });

  test.each<[string, string[], string]>([
    ["versions by path", ["versions", "dist", "--json"], "web"],
    ["versions inside", ["versions", "--json"], "web/dist"],
    ["open by path", ["open", "web/dist", "--json"], ""],
    ["forget inside", ["forget", "--json"], "web/dist"],
  ])("%s finds it too", async (_, args, cwd) => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const found = await deployed(home, args, home.path(cwd));
    const { site_id, url } = first;
    expect([site_id, url, home.path("web")]).toContain(
      found["site_id"] ?? found["url"] ?? (found["forgotten"] as string[])[0],
    );
  });

  test("rollback inside the build folder is the project's", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    await home.write("web", { "dist/index.html": "<title>2</title>" });
    await deployed(home, ["update"], home.path("web"));
    expect((await home.run(["rollback"], { cwd: home.path("web/dist") })).out).toBe(`${first["url"]}\n`);
  });

  test("the folder is the one last deployed from it: when the build moves, its new place counts", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    await rm(home.path("web/dist"), { recursive: true });
    await home.write("web", { "build/index.html": "<title>moved</title>" });
    expect(await deployed(home, ["update"], home.path("web"))).toMatchObject({ source: "build", changed: true });
    await home.write("web", { "dist/index.html": "an old one" });
    expect(await deployed(home, ["update", "build"], home.path("web"))).toMatchObject({ url: first["url"] });
    expect((await home.run(["update", "dist"], { cwd: home.path("web") })).code).toBe(1);
    // Whoever stands in it means it, also where another candidate would be found first.
    expect(await deployed(home, ["update"], home.path("web/build"))).toMatchObject({ source: ".", changed: false });
  });

  test.each([
    [
      "a folder of the project",
      ["update", "src"],
      "web",
      "Nothing was deployed from src yet",
      "(svc update updates it)",
    ],
    [
      "below it, without a path",
      ["versions"],
      "web/src",
      "Nothing was deployed here yet",
      "(svc update .. updates it)",
    ],
    [
      "from above",
      ["forget", "web/other"],
      "",
      "Nothing was deployed from web/other yet",
      "(svc update web updates it)",
    ],
  ])("%s has no link: the error names the project's site and the command", async (_, args, cwd, sentence, command) => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const ran = await home.run([...args, "--json"], { cwd: home.path(cwd) });
    expect(ran.code).toBe(1);
    expect(json(ran)).toMatchObject({ code: "not_linked", error: expect.stringContaining(sentence) });
    expect(json(ran)["error"]).toContain(String(first["url"]));
    expect(json(ran)["error"]).toContain(command);
  });
});

describe("CONTRACT 8: a deploy that takes a place over says what it had", () => {
  test.each([
    ["svc . after svc", ["."], "web", "dist"],
    ["svc after svc", [], "web", "dist"],
    ["svc dist after svc", ["dist"], "web", "dist"],
  ])("%s", async (_, args, cwd, path) => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const taken = `This is a new site. The one before stays at ${first["url"]} (it was deployed from ${path}).`;
    const asText = await home.run(args, { cwd: home.path(cwd) });
    expect(asText.err).toContain(taken);
    const asJson = await home.run([...args, "--json"], { cwd: home.path(cwd) });
    expect(asJson.err).toContain(`The one before stays at ${asText.out.trim()}`);
  });

  test("on a terminal it is said first, with the command that publishes there", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const { code, lines } = await home.runOnTerminal([], { cwd: home.path("web") });
    const said = lines.findIndex((line) =>
      line.startsWith(`  This folder is ${first["url"]}: svc update publishes there.`),
    );
    expect([code, said !== -1, said < lines.findIndex((line) => line.includes("Live in"))]).toEqual([0, true, true]);
  });

  test("a site that was claimed in a browser meanwhile is not said to end, and its token says what became of it", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const { bearer } = await signUp(server);
    const { claim_token } = (await home.links())[0]!;
    const body = { claim_token, revoke_manage_tokens: true };
    expect((await call(server, "POST", `/sites/${first["site_id"]}/claim`, body, bearer)).status).toBe(200);
    for (const args of [["update"], ["versions"]]) {
      const { code, err } = await home.run(args, { cwd: home.path("web") });
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(
          "The token that was saved here has ended, most likely because the site was claimed in a browser. Was that you? svc login, then the same command again. If not, svc <path> makes a new site.",
        ),
      ]);
    }
    const { err } = await home.run([], { cwd: home.path("web") });
    expect(err).toContain(`The one before stays at ${first["url"]}`);
    expect(err).not.toContain("It ends on");
  });

  test("on a terminal it is said that the site wants a login, where a claim has ended the token of this place", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const { bearer } = await signUp(server);
    const { claim_token } = (await home.links())[0]!;
    const body = { claim_token, revoke_manage_tokens: true };
    expect((await call(server, "POST", `/sites/${first["site_id"]}/claim`, body, bearer)).status).toBe(200);
    const { lines } = await home.runOnTerminal([], { cwd: home.path("web") });
    const said = `This folder is ${first["url"]}: svc update publishes there once you are signed in: svc login`;
    expect(lines.join("").replaceAll(/\s+/g, " ")).toContain(said);
  });

  test("a site that is gone is said to be gone", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    server.remove({ site_id: String(first["site_id"]), slug: slugOf(first["url"]) });
    const { err } = await home.run([], { cwd: home.path("web") });
    expect(err).toContain(`This is a new site. The one before, ${first["url"]}, is gone.`);
    expect(err).not.toContain("stays at");
  });

  test("by its path and as a project a folder is one place: the newest is its site", async () => {
    const { home } = await projectDeployed();
    await using _home = home;
    const second = await deployed(home, ["."], home.path("web"));
    expect(await home.links()).toHaveLength(1);
    expect(await deployed(home, ["update"], home.path("web"))).toMatchObject({ url: second["url"], source: "." });
  });

  test("the first deploy of a place says nothing of the kind", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("", { "a/index.html": "a" });
    expect((await home.run(["a"])).err).not.toContain("new site");
  });
});

describe("a site without an owner whose place another took", () => {
  /** A home with `web`, from which `svc dist` made two sites. */
  async function placeTaken() {
    const home = await Home.make(server.base_url);
    const cwd = await home.write("web", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home, ["dist"], cwd);
    await home.write("web", { "dist/index.html": "<title>2</title>" });
    const { err, out } = await home.run(["dist"], { cwd });
    return { home, cwd, first, second: out.trim(), said: err };
  }
  const textAt = async (url: unknown) => (await server.site(slugOf(url))).text();

  test("the deploy says when it ends, and the commands that keep and update it", async () => {
    const { home, first, said } = await placeTaken();
    await using _home = home;
    expect(said).toContain(`The one before stays at ${first["url"]} (it was deployed from dist).`);
    expect(said).toMatch(/It ends on \d+ [A-Z][a-z]+ \d{4}, 14 days from now\./);
    expect(said).toContain(`Keep it: svc login, then svc claim ${first["site_id"]}.`);
    expect(said).toContain(`Update it: svc update dist --site ${first["site_id"]}.`);
    expect(said).not.toContain("svc_claim_");
  });

  test("it is updated by --site, as often as one wants, and the place goes on to be the new one's", async () => {
    const { home, cwd, first, second } = await placeTaken();
    await using _home = home;
    for (const words of ["three", "four"]) {
      await home.write("web", { "dist/index.html": `<title>${words}</title>` });
      const old = await deployed(home, ["update", "dist", "--site", String(first["site_id"])], cwd);
      expect(old).toMatchObject({ url: first["url"], changed: true });
      expect(await textAt(first["url"])).toContain(words);
      expect(await textAt(second)).not.toContain(words);
    }
    expect(await deployed(home, ["update", "dist"], cwd)).toMatchObject({ url: second, changed: true });
    expect(await home.links()).toHaveLength(1);
  });

  test("a login names it and leaves it alone; svc claim with its id makes it one's own", async () => {
    const { home, cwd, first, second } = await placeTaken();
    await using _home = home;
    const person = await signUp(server);
    const { err } = await home.run(["login", "--token", person.session_token], { cwd });
    expect(err).toContain(`1 site deployed here before: yours now, for good\n    ${second}\n`);
    expect(err).toContain(`${first["url"]} ends by itself: svc claim ${first["site_id"]} keeps it`);
    const claimed = await home.run(["claim", String(first["site_id"])], { cwd });
    expect([claimed.code, claimed.out.trim()]).toEqual([0, String(first["url"])]);
    const { sites } = (await call(server, "GET", "/account/sites", undefined, person.bearer)).body;
    expect(sites.map(({ url }) => url).toSorted()).toEqual([String(first["url"]), second].toSorted());
    expect((await home.run(["login", "--token", person.session_token], { cwd })).err).not.toContain("ends by itself");
  });

  test("svc login says of one that was claimed elsewhere meanwhile neither that it ends nor how to keep it", async () => {
    for (const revoke_manage_tokens of [false, true]) {
      const { home, cwd, first } = await placeTaken();
      await using _home = home;
      const person = await signUp(server);
      const { claim_token } = ((await home.saved("projects.json"))["replaced"] as { claim_token: string }[])[0]!;
      const path = `/sites/${String(first["site_id"])}/claim`;
      expect((await call(server, "POST", path, { claim_token, revoke_manage_tokens }, person.bearer)).status).toBe(200);
      const { err } = await home.run(["login", "--token", person.session_token], { cwd });
      expect(err).toContain("Signed in");
      expect(err).not.toContain("ends by itself");
    }
  });

  test("svc forget dist forgets the new one alone, with --site the one that is named", async () => {
    const { home, cwd, first, second } = await placeTaken();
    await using _home = home;
    expect((await home.run(["forget", "dist"], { cwd })).err).toBe(`Forgot that dist is ${second}. The site stays.\n`);
    const named = ["--site", String(first["site_id"])];
    expect((await home.run(["versions", ...named], { cwd })).code).toBe(0);
    expect((await home.run(["forget", ...named], { cwd })).err).toBe(
      `Forgot that dist is ${first["url"]}. The site stays.\n`,
    );
    expect((await home.run(["versions", ...named], { cwd })).code).toBe(1);
  });

  test("one of an account is not remembered: its owner has it", async () => {
    await using home = await Home.make(server.base_url);
    const person = await signUp(server);
    await home.run(["login", "--token", person.session_token]);
    await home.write("", { "dist/index.html": "<title>1</title>" });
    await home.run(["dist"]);
    const { err } = await home.run(["dist"]);
    expect(err).toContain("The one before stays at");
    expect(err).not.toContain("It ends on");
    expect((await home.saved("projects.json"))["replaced"]).toEqual([]);
  });
});

describe("CONTRACT 8: every answer of update names the folder and the site", () => {
  test("changed and unchanged, as text", async () => {
    const { home, first } = await projectDeployed();
    await using _home = home;
    const cwd = home.path("web");
    const same = await home.run(["update"], { cwd });
    expect([same.out, same.err]).toEqual([
      `${first["url"]}\n`,
      `  ✓ No changes (already live): dist is what is live at ${first["url"]}\n`,
    ]);
    await home.write("web", { "dist/index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"], { cwd })).err).toMatch(
      new RegExp(`✓ Updated in [\\d.]+ s: dist is live at ${first["url"]}\n`),
    );
  });
});

describe("CONTRACT 8: sources with their build beside them", () => {
  const SOURCES = {
    "index.html": '<title>app</title><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
    "src/main.tsx": "export {};",
  };
  test.each<[string, string[], string, string]>([
    ["of the current directory", ["."], "app", "svc dist"],
    ["from above", ["app"], "", "svc app/dist"],
  ])("the recipe ends with the command for the build: %s", async (_, args, cwd, command) => {
    await using home = await Home.make(server.base_url);
    await home.write("app", { ...SOURCES, "dist/index.html": "<title>built</title>" });
    const ran = await home.run([...args, "--json"], { cwd: home.path(cwd) });
    expect(ran.err).toMatch(new RegExp(`→ .* ${command}\n`));
    // What a program reads is the server's recipe.
    const warnings = json(ran)["warnings"] as { code: string; fix_recipe: string }[];
    const recipe = warnings.find(({ code }) => code === "unbuilt_source")!.fix_recipe;
    expect(recipe).not.toContain(command);
    const { site_id } = json(ran);
    expect((await home.run(["update", ...args, "--spa"], { cwd: home.path(cwd) })).err).toContain(
      `${command.replace("svc", "svc update")} --site ${site_id}\n`,
    );
  });

  test("no build there: no command that could not work", async () => {
    await using home = await Home.make(server.base_url);
    await home.write("app", { ...SOURCES, "pnpm-lock.yaml": "" });
    const { err } = await home.run(["app"]);
    expect(err).not.toContain("svc app/dist");
    expect(err).toContain("(pnpm run build)");
  });
});
