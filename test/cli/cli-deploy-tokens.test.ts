/** `svc token …`, and CI that has a deploy token as SVC_TOKEN (BEYOND 7). */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { Home, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { signUp } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

let home: Home;
const server = await sharedServer();
const person = await signUp(server);
beforeEach(async () => {
  await home?.[Symbol.asyncDispose]();
  home = await Home.make(server.base_url);
  await home.write("dist", { "index.html": "<!doctype html><title>t</title>one" });
});
afterAll(() => home?.[Symbol.asyncDispose]());

const asPerson = (...args: string[]) => home.run(args, { env: { SVC_TOKEN: person.session_token } });
const ofPerson = async (text = "owned") => {
  const answer = await server.post(zipOf({ "index.html": `<!doctype html><title>x</title>${text}` }), person.bearer);
  return (await answer.json()) as { site_id: string; url: string; slug: string; version_id: string };
};
const made = async (...args: string[]) => {
  const ran = await asPerson("token", "create", "--name", "CI", ...args);
  expect(ran.code, ran.err).toBe(0);
  return ran.out.trim();
};
/** A machine that has nothing but the token. */
const inCi = (token: string, ...args: string[]) => home.run(args, { env: { SVC_TOKEN: token, CI: "true" } });

describe("svc token create", () => {
  test("prints the token alone on stdout, and what it may on stderr", async () => {
    const { site_id } = await ofPerson();
    const { code, out, err } = await asPerson(
      ...["token", "create", "--name", "docs", "--scope", "read", "--scope", "deploy", "--site", site_id],
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^svc_deploy_[\w-]{43}\n$/);
    expect(err).toMatch(/✓ tok_[0-9a-z]{20}: read, deploy for site_[0-9a-z]{20}, until /);
    expect(err).toContain("shown this once");
    expect(err).not.toContain(out.trim());
  });

  test("--json prints the answer of the API with ok, the end as ISO 8601", async () => {
    const body = json(await asPerson("token", "create", "--name", "x", "--scope", "create,deploy", "--json"));
    expect(body).toMatchObject({ ok: true, name: "x", scopes: ["deploy", "create"], site_ids: null });
    expect(Date.parse(String(body["expires_at"])) - Date.parse(String(body["created_at"]))).toBe(90 * 86_400_000);
  });

  test("--expires says when it ends", async () => {
    const body = json(
      await asPerson("token", "create", "--name", "x", "--scope", "read", "--expires", "12h", "--json"),
    );
    expect(Date.parse(String(body["expires_at"])) - Date.parse(String(body["created_at"]))).toBe(12 * 3_600_000);
  });

  test.each([
    [["--scope", "read"], "--name"],
    [["--name", "x"], "--scope"],
    [["--name", "x", "--scope", "reed"], "There is no scope reed"],
    [["--name", "x", "--scope", "create", "--site", "site_00000000000000000000"], "--site"],
    [["--name", "x", "--scope", "read", "--site", "my-slug"], "site_…"],
    [["--name", "x", "--scope", "read", "--expires", "soon"], "--expires"],
    [["--name", "x", "--scope", "read", "--expires", "367d"], "366d"],
    [["--name", "x".repeat(81), "--scope", "read"], "--name wants"],
    [["--name", "a\u202eb", "--scope", "read"], "--name wants"],
    [["--name", "x", "--scope", "read", "--expire", "1d"], "Did you mean --expires?"],
  ])("%j is wrong usage: exit 2, nothing asked", async (args, said) => {
    const ran = await home.run(["token", "create", ...args]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(ran.err).toContain(said);
  });

  test("what the server refuses is said: a site of somebody else", async () => {
    const nobodys = await server.deploy({ "index.html": "x" });
    const ran = await asPerson("token", "create", "--name", "x", "--scope", "read", "--site", nobodys.site_id);
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(ran.err).toContain(nobodys.site_id);
  });
});

describe("svc token list and revoke", () => {
  test("a line each, newest first, without the token; revoke ends one by its id", async () => {
    const eve = await signUp(server);
    const asEve = (...args: string[]) => home.run(args, { env: { SVC_TOKEN: eve.session_token } });
    expect((await asEve("token", "list")).err).toContain("No deploy tokens");
    for (const name of ["first", "second"]) {
      await asEve("token", "create", "--name", name, "--scope", "deploy,create");
      server.advance(1000);
    }
    const { out } = await asEve("token", "list");
    const [second, first] = out.trim().split("\n");
    expect(second).toMatch(
      /^tok_[0-9a-z]{20} {2}second {2}deploy,create {2}all sites {2}until \d{4}-\d\d-\d\d {2}never used$/,
    );
    expect(out).not.toContain("svc_deploy_");
    const id = first!.split(" ")[0]!;
    const ended = await asEve("token", "revoke", id);
    expect([ended.code, ended.out]).toEqual([0, ""]);
    const listed = json(await asEve("token", "list", "--json"));
    expect(listed).toMatchObject({ ok: true, tokens: [{ name: "second", last_used_at: null }] });
    expect(json(await asEve("token", "revoke", id, "--json"))).toMatchObject({ ok: false, code: "not_found" });
  });

  test.each([
    [["token", "revoke"], "<tok_…>"],
    [["token", "revoke", "svc_deploy_x"], "not the token itself"],
    [["token", "revoke", "../x"], "tok_…"],
    [["token"], "create, list, revoke"],
    [["tokens", "create"], "svc token create"],
  ])("%j is wrong usage", async (args, said) => {
    const ran = await home.run(args);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(said);
  });

  test("the help says which is which", async () => {
    expect((await home.run(["token", "--help"])).out).toContain("svc tokens revoke");
    expect((await home.run(["tokens", "--help"])).out).toContain("svc token revoke");
  });
});

describe("a deploy token as SVC_TOKEN", () => {
  test("svc makes a site of the account; the token is neither printed nor kept", async () => {
    const token = await made("--scope", "create");
    const ran = await inCi(token, "dist", "--json");
    expect(json(ran)).toMatchObject({ ok: true, manage_token: null, owner_account_id: person.account_id });
    const quiet = await inCi(token, "dist", "--quiet");
    expect([quiet.code, quiet.err]).toEqual([0, ""]);
    const loud = await inCi(token, "dist");
    for (const { out, err } of [ran, quiet, loud]) expect(out + err).not.toContain(token);
    expect(await readFile(home.path("config", "projects.json"), "utf8")).not.toContain("svc_deploy_");
    expect((await home.links())[0]).toMatchObject({ manage_token: null });
  });

  test("update, versions and rollback go with --site and nothing else", async () => {
    const { site_id, url, version_id } = await ofPerson();
    const token = await made("--scope", "deploy", "--site", site_id);
    const updated = await inCi(token, "update", "dist", "--site", site_id);
    expect([updated.code, updated.out]).toEqual([0, `${url}\n`]);
    expect(json(await inCi(token, "update", "dist", "--site", site_id, "--json"))).toMatchObject({
      changed: false,
      manage_token: null,
    });
    expect((await inCi(token, "versions", "--site", site_id)).out).toContain(version_id);
    expect((await inCi(token, "rollback", "--site", site_id)).out).toBe(`${url}\n`);
    expect(await home.hasSaved("projects.json")).toBe(false);
  });

  test("given by --token it is not printed either", async () => {
    const { site_id } = await ofPerson();
    const token = await made("--scope", "deploy");
    for (const _ of ["changed", "unchanged"]) {
      const ran = await home.run(["update", "dist", "--site", site_id, "--token", token, "--json"]);
      expect(json(ran)).toMatchObject({ ok: true, manage_token: null });
      expect(ran.out + ran.err).not.toContain(token);
    }
  });

  test("a folder that was deployed with one is updated with one", async () => {
    const token = await made("--scope", "create,deploy");
    const first = await inCi(token, "dist");
    await home.write("dist", { "index.html": "<!doctype html><title>t</title>two" });
    const second = await inCi(token, "update", "dist");
    expect([second.code, second.out]).toEqual([0, first.out]);
    expect(await readFile(home.path("config", "projects.json"), "utf8")).not.toContain("svc_deploy_");
  });

  test("a scope that lacks is said with what is needed, and where the token came from", async () => {
    const { site_id } = await ofPerson();
    const token = await made("--scope", "read");
    const ran = await inCi(token, "update", "dist", "--site", site_id, "--json");
    expect(ran.code).toBe(1);
    expect(json(ran)).toMatchObject({ ok: false, code: "scope_missing" });
    expect(String(json(ran)["error"])).toContain("this needs deploy");
    expect(String(json(ran)["error"])).toContain("SVC_TOKEN");
  });

  test("one that has ended is said, and no site without an owner is made of it", async () => {
    const { site_id } = await ofPerson();
    const ended = `svc_deploy_${"x".repeat(43)}`;
    const before = server.rows("sites");
    for (const args of [["dist"], ["update", "dist", "--site", site_id]]) {
      const ran = await inCi(ended, ...args);
      expect([ran.code, ran.out]).toEqual([1, ""]);
      expect(ran.err).toContain("expired or was revoked");
      expect(ran.err).not.toContain(ended);
    }
    expect(server.rows("sites")).toBe(before);
  });

  test.each([
    ["list"],
    ["whoami"],
    ["usage"],
    ["token list"],
    ["tokens revoke --site site_00000000000000000000"],
    ["delete --yes some-slug"],
    ["claim site_00000000000000000000 --token x"],
  ])("svc %s says that it needs the account", async (words) => {
    const ran = await inCi(`svc_deploy_${"x".repeat(43)}`, ...words.split(" "));
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(ran.err).toContain("needs your account");
    expect(ran.err).toContain("deploy token");
  });
});

describe("BEYOND 0: a server that is older", () => {
  test.each([["list"], ["create --name x --scope read"], ["revoke tok_00000000000000000000"]])(
    "svc token %s says so, and what to do",
    async (words) => {
      const nothing = { error: "There is nothing at this address of the API.", code: "not_found" };
      const old = fakeServer(() => Response.json(nothing, { status: 404 }));
      await using away = await Home.make(old.url);
      const env = { SVC_TOKEN: person.session_token };
      const { code, out, err } = await away.run(["token", ...words.split(" ")], { env });
      expect([code, out]).toEqual([1, ""]);
      expect(err.replace(/\s+/g, " ")).toContain(
        "knows no deploy tokens: it is older than this svc, and must be upgraded",
      );
      await old.stop();
    },
  );
});
