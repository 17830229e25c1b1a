/** BEYOND 7 on the account's page: deploy tokens are made, shown once, listed and revoked by hand. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { call } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";
import { givenBy } from "../accounts/deploy-tokens/given.ts";

setDefaultTimeout(60_000);
const MAKE = "/dashboard/account/tokens";

let ann: Visitor;
let bob: Visitor;
let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  [ann, bob] = [await visitorOf(server), await visitorOf(server)];
  site = await ann.deploy({ "index.html": "<title>x</title>" });
});

const { list, deploy, give } = givenBy(() => server);
const filled = (more: [string, string][] = []): [string, string][] => [
  ["name", "by hand"],
  ["scopes", "deploy"],
  ["expires_in", "30d"],
  ...more,
];
/** WEB 1.4: what is wrong is marked, described by the alert, and has the focus. */
const MARKED = /<(?:input|fieldset)\b[^>]*aria-invalid="true"[^>]*aria-describedby="problem\b/;
const tokenIn = (html: string): string | undefined => /value="(svc_deploy_[\w-]{43})"/.exec(html)?.[1];

describe("the form", () => {
  test("makes a token, which works and is on that page alone", async () => {
    const made = await ann.send(MAKE, filled());
    expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const token = tokenIn(made.html)!;
    expect(made.text).toContain("is shown this once");
    expect(await deploy(site, token)).toMatchObject({ status: 200 });
    for (const path of ["/dashboard/account", MAKE]) expect((await ann.read(path)).html).not.toContain(token);
    const [listed] = await list(ann.person);
    expect(listed).toMatchObject({ name: "by hand", scopes: ["deploy"], site_ids: null });
  });

  test.each([
    ["its id", () => site.site_id],
    ["its slug", () => site.slug],
    ["its address", () => site.url],
    ["its address with a page", () => `${site.url}/about.html`],
    ["itself twice", () => `${site.slug}, ${site.url}`],
  ])("a site is named by %s", async (_, words) => {
    const made = await ann.send(MAKE, filled([["site_ids", words()]]));
    expect(made.status).toBe(200);
    expect((await list(ann.person))[0]!.site_ids).toEqual([site.site_id]);
  });

  test.each<[string, [string, string][], string]>([
    ["without a name", [["scopes", "read"]], "a name has 1 to 80"],
    ["without a scope", [["name", "x"]], "choose what it may"],
    ["with a scope that is none", [...filled(), ["scopes", "all"]], "choose what it may"],
    ["with a site of nobody", filled([["site_ids", "no-such-site"]]), "all of them yours"],
    ["with a life that is none", [...filled().slice(0, 2), ["expires_in", "9999d"]], "choose how long"],
    ["with New sites and a list", [...filled(), ["scopes", "create"], ["site_ids", "x"]], "with New sites none"],
    ["with 21 sites", filled([["site_ids", "x ".repeat(21)]]), "up to 20 sites"],
  ])("%s: 400, what was typed stays, nothing is made", async (_, fields, said) => {
    const before = (await list(ann.person)).length;
    const expires: [string, string][] = fields.some(([name]) => name === "expires_in") ? [] : [["expires_in", "30d"]];
    const again = await ann.send(MAKE, [...fields, ...expires]);
    expect(again.status).toBe(400);
    expect(again.text).toContain(said);
    expect(again.text).toContain("Nothing was made");
    expect(again.html).toMatch(MARKED);
    for (const [name, value] of fields) {
      if (name === "name") expect(again.html).toContain(`value="${value}"`);
    }
    expect(await list(ann.person)).toHaveLength(before);
  });

  test("another account's site looks like none", async () => {
    const bobs = await bob.deploy({ "index.html": "bob's" });
    const refused = await ann.send(MAKE, filled([["site_ids", bobs.slug]]));
    const none = await ann.send(MAKE, filled([["site_ids", "no-such-slug"]]));
    expect([refused.status, none.status]).toEqual([400, 400]);
    expect(refused.html).not.toContain(bobs.site_id);
  });

  test("a list of very many words is refused by its length, and none of them is looked up", async () => {
    const eve = await visitorOf(server);
    const timed = async (sites: string): Promise<number> => {
      const started = performance.now();
      expect((await eve.send(MAKE, filled([["site_ids", sites]]))).status).toBe(400);
      return performance.now() - started;
    };
    const fastest = async (sites: string) => Math.min(await timed(sites), await timed(sites), await timed(sites));
    await timed("x");
    const [long, many] = [await fastest("x".repeat(60_000)), await fastest("x ".repeat(30_000))];
    expect(many / long).toBeLessThan(10);
  });

  test("the 51st is refused in words", async () => {
    for (let left = 50 - (await list(bob.person)).length; left > 0; left--) await give(bob.person, ["read"]);
    const refused = await bob.send(MAKE, filled());
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("at most 50 deploy tokens");
  });

  test("without the proof of the page it is 403, signed out it leads to the sign-in, and nothing is made", async () => {
    const before = (await list(ann.person)).length;
    const forged = await server.api(MAKE, {
      method: "POST",
      headers: { cookie: ann.cookie, origin: "http://evil.example" },
      body: new URLSearchParams(filled()),
    });
    expect(forged.status).toBe(403);
    const out = await server.api(MAKE, { method: "POST", redirect: "manual", body: new URLSearchParams(filled()) });
    expect(out.headers.get("location")).toStartWith("/signin");
    expect(await list(ann.person)).toHaveLength(before);
  });
});

describe("the account's page", () => {
  test("lists each with what it may, and revokes it", async () => {
    const eve = await visitorOf(server);
    expect((await eve.read("/dashboard/account")).text).toContain("CI deploys with one");
    const { token_id } = await give(eve.person, ["read", "create"], { name: "<b>docs</b> & more" });
    const { text, html } = await eve.read("/dashboard/account");
    expect(text).toContain("<b>docs</b> & more");
    expect(text).toContain("read, create · all sites · Until");
    expect(text).toContain("Never used");
    expect(html).not.toContain("<b>docs</b>");
    const revoked = await eve.send(`${MAKE}/${token_id}/revoke`, {});
    expect([revoked.status, revoked.location]).toEqual([303, "/dashboard/account?done=token-revoked"]);
    expect((await eve.read("/dashboard/account?done=token-revoked")).text).toContain("The deploy token is revoked");
    expect(await list(eve.person)).toEqual([]);
  });

  test("revokes none of somebody else", async () => {
    const { token_id } = await give(ann.person, ["read"]);
    const refused = await bob.send(`${MAKE}/${token_id}/revoke`, {});
    expect(refused.status).toBe(404);
    const found = await call(server, "GET", "/account/tokens", undefined, ann.person.bearer);
    expect(JSON.stringify(found.body)).toContain(token_id);
  });
});
