/** `svc claim <site_id>`: an anonymous site becomes one's own (SPEC, "CLI"; CONTRACT 4.4 and 8). */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Home, json, type Screen } from "../kit/cli.ts";
import { signUp } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();
const person = await signUp(server);
const home = shared(await Home.make(server.base_url));
beforeAll(async () => {
  await home.write("", { "dist/index.html": "<title>t</title>" });
  await home.run(["login", "--token", person.session_token]);
});

/** A site that was deployed on another machine. */
const elsewhere = (): Promise<DeployResult> => server.deploy({ "index.html": "<title>t</title>" });
const ownerOf = async (site_id: string) => (await server.running.store.sites.byId(site_id))?.owner_account_id ?? null;

describe("the claim_token of --token", () => {
  test("makes the site one's own: its URL on stdout, and again", async () => {
    const { site_id, claim_token, url } = await elsewhere();
    for (const flags of [[], ["-q"]]) {
      const { code, out, err } = await home.run(["claim", site_id, "--token", claim_token!, ...flags]);
      expect([code, out]).toEqual([0, `${url}\n`]);
      expect(err).toBe(flags.length === 0 ? "\n  ✓ Claimed: the site is yours and does not expire\n" : "");
    }
    expect(await ownerOf(site_id)).toBe(person.account_id);
    expect((await home.run(["list"])).out).toContain(site_id);
  });

  test("--json prints the answer of the API", async () => {
    const { site_id, claim_token, url } = await elsewhere();
    expect(json(await home.run(["claim", site_id, "--token", claim_token!, "--json"]))).toEqual({
      ok: true,
      site_id,
      url,
      owner_account_id: person.account_id,
      expires_at: null,
    });
  });

  test.each<[string, (site: DeployResult) => string[], string, RegExp]>([
    ["wrong", ({ site_id }) => [site_id, "--token", "svc_claim_x"], "invalid_claim", /claim_token \(--token\) is not/],
    ["of an unknown site", ({ claim_token }) => ["site_x", "--token", claim_token!], "invalid_claim", /^Invalid claim/],
    [
      "the manage_token",
      ({ site_id, manage_token }) => [site_id, "--token", manage_token],
      "invalid_claim",
      /^Invalid/,
    ],
  ])("%s: exit 1, Invalid claim, and no owner", async (_, args, reason, sentence) => {
    const site = await elsewhere();
    const ran = await home.run(["claim", ...args(site), "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, reason]);
    expect(json(ran)["error"]).toMatch(sentence);
    expect(json(ran)["error"]).not.toContain("session");
    expect(await ownerOf(site.site_id)).toBeNull();
  });

  test("a site of another account: exit 1, already_owned", async () => {
    const site = await elsewhere();
    const other = await signUp(server);
    const env = { SVC_TOKEN: other.session_token };
    expect((await home.run(["claim", site.site_id, "--token", site.claim_token!], { env })).code).toBe(0);
    const ran = await home.run(["claim", site.site_id, "--token", site.claim_token!, "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, "already_owned"]);
    expect(await ownerOf(site.site_id)).toBe(other.account_id);
  });

  test("a site that is gone: exit 1, unknown_site", async () => {
    const site = await elsewhere();
    server.advance(15 * 86_400_000);
    const ran = await home.run(["claim", site.site_id, "--token", site.claim_token!, "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, "unknown_site"]);
    expect(json(ran)["error"]).toContain("The site is gone");
  });

  test("beats that of the link", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "<title>t</title>" });
    const { site_id } = json(await own.run(["--json"])) as { site_id: string };
    const env = { SVC_TOKEN: person.session_token };
    expect((await own.run(["claim", site_id, "--token", "svc_claim_x"], { env })).code).toBe(1);
    expect((await own.run(["claim", site_id], { env })).code).toBe(0);
  });
});

describe("the claim_token of the link", () => {
  test("is found from any folder; the link then knows that the site stays, and can still update it", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("site", { "dist/index.html": "<title>t</title>" });
    const cwd = own.path("site");
    const { site_id, url } = json(await own.run(["--json"], { cwd })) as { site_id: string; url: string };
    const env = { SVC_TOKEN: person.session_token };
    expect((await own.run(["claim", site_id], { env })).out).toBe(`${url}\n`);
    const file = await readFile(join(own.config, "projects.json"), "utf8");
    const { projects } = JSON.parse(file) as { projects: Record<string, unknown>[] };
    expect(projects).toMatchObject([{ site_id, expires_at: null, claim_token: null }]);
    await own.write("site/dist", { "index.html": "<title>two</title>" });
    const updated = json(await own.run(["update", "--json"], { cwd }));
    expect(updated).toMatchObject({ changed: true, owner_account_id: person.account_id, expires_at: null });
  });
});

describe("a person is asked for the claim_token", () => {
  const PROMPT = "(not shown): ";

  /** Types once the question is there. */
  async function answering(site_id: string, typed: string[]): Promise<Screen> {
    const left = [...typed];
    return home.runOnTerminal(["claim", site_id], {}, (seen, terminal) => {
      if (seen.includes(PROMPT)) for (const keys of left.splice(0)) terminal.write(keys);
    });
  }

  test("it is not shown, may be corrected, and claims the site", async () => {
    const { site_id, claim_token, url } = await elsewhere();
    const { code, raw, lines } = await answering(site_id, ["wrong\x15", `${claim_token!}x`, "\x7f", "\r"]);
    expect(code).toBe(0);
    expect(raw).toContain(`claim_token of ${site_id} ${PROMPT}`);
    expect(raw).not.toContain(claim_token!);
    expect(raw).not.toContain("wrong");
    expect(lines.join("\n")).toContain(url);
    expect(await ownerOf(site_id)).toBe(person.account_id);
  });

  test("Ctrl-C: exit 130, the question is wiped, nothing is claimed", async () => {
    const { site_id } = await elsewhere();
    const { code, raw } = await answering(site_id, ["abc", "\x03"]);
    expect(code).toBe(130);
    expect(raw.slice(raw.indexOf(PROMPT))).toEndWith("\r\x1b[J");
    expect(await ownerOf(site_id)).toBeNull();
  });

  test("nothing typed: exit 1", async () => {
    const { site_id } = await elsewhere();
    const { code, lines } = await answering(site_id, ["\r"]);
    expect([code, lines.join("\n").includes("No claim_token was given.")]).toEqual([1, true]);
  });

  test("without a terminal, or with --json, nobody is asked", async () => {
    const { site_id } = await elsewhere();
    const piped = await home.run(["claim", site_id]);
    expect([piped.code, piped.out]).toEqual([1, ""]);
    expect(piped.err).toContain("give --token <claim_token>");
    const program = await home.runOnTerminal(["claim", site_id, "--json"]);
    expect([program.code, json({ out: program.raw })["code"]]).toEqual([1, "no_claim_token"]);
  });
});

describe("before anything is sent", () => {
  test("without a session: exit 1 and the way to get one", async () => {
    await using own = await Home.make(server.base_url);
    const ran = await own.run(["claim", "site_x", "--token", "t", "--json"]);
    expect([ran.code, json(ran)["code"]]).toEqual([1, "unauthorized"]);
    expect(json(ran)["error"]).toContain("svc claim needs your account: run svc login");
  });

  test.each([
    [["claim"], "svc claim wants the site: svc claim <site_id>"],
    [["claim", "a/../b"], "svc claim wants an id such as site_…"],
    [["claim", "a", "b"], "svc claim takes one argument"],
    [["claim", "site_x", "--token", "a b"], "That is no claim_token"],
  ])("%j is wrong usage", async (args, sentence) => {
    const { code, err } = await home.run(args);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
  });
});
