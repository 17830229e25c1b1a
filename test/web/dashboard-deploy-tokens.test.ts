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

  test("its sites are boxes to tick: of one, of none, of all", async () => {
    const { html, text } = await ann.read(MAKE);
    expect(text).toMatch(/Sites All sites, also new ones Only these/);
    expect(html).toMatch(new RegExp(`type="checkbox"[^>]*name="site_ids"\\s+value="${site.site_id}"`));
    const only = await ann.send(MAKE, filled([["which", "some"], ["site_ids", site.site_id]])); // prettier-ignore
    expect(only.status).toBe(200);
    expect((await list(ann.person))[0]!.site_ids).toEqual([site.site_id]);
    const all = await ann.send(MAKE, filled([["which", "all"], ["site_ids", site.site_id]])); // prettier-ignore
    expect(all.status).toBe(200);
    expect((await list(ann.person))[0]!.site_ids).toBeNull();
    const none = await ann.send(MAKE, filled([["which", "some"]]));
    expect([none.status, none.text.includes("choose 1 to 20 sites")]).toEqual([400, true]);
    expect(none.html).toMatch(/value="some"\s+checked/);
  });

  test("of more than 50 sites a search finds the others; what was typed and ticked stays, and nothing is made", async () => {
    const many = await visitorOf(server);
    const sites: DeployResult[] = [];
    for (let i = 0; i < 52; i++) sites.push(await many.deploy({ "index.html": `<title>Number ${i}.</title>` }));
    const boxes = (html: string) => [...html.matchAll(/name="site_ids"\s+value="(site_\w+)"\s*(checked)?/g)];
    const first = await many.read(MAKE);
    expect([boxes(first.html).length, first.text.includes("Search")]).toEqual([50, true]);
    const found = await many.send(
      MAKE,
      filled([["which", "some"], ["site_ids", sites[51]!.site_id], ["q", "number 0."], ["find", "1"]]), // prettier-ignore
    );
    expect(found.status).toBe(200);
    expect(boxes(found.html).map(([, id, checked]) => [id, checked !== undefined])).toEqual([
      [sites[51]!.site_id, true],
      [sites[0]!.site_id, false],
    ]);
    expect(found.html).toContain('value="by hand"');
    expect(await list(many.person)).toEqual([]);
  }, 60_000);

  test.each<[string, [string, string][], string]>([
    ["without a name", [["scopes", "read"]], "a name has 1 to 80"],
    ["without a scope", [["name", "x"]], "choose its permissions"],
    ["with a scope that is none", [...filled(), ["scopes", "all"]], "choose its permissions"],
    ["with a site of nobody", filled([["site_ids", "no-such-site"]]), "all of them yours"],
    ["with a life that is none", [...filled().slice(0, 2), ["expires_in", "9999d"]], "choose when it expires"],
    [
      "with New sites and a list",
      [...filled(), ["scopes", "create"], ["site_ids", "x"]],
      "New sites goes with all sites alone",
    ],
    ["with 21 sites", filled(Array.from({ length: 21 }, () => ["site_ids", "x"])), "1 to 20 sites"],
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
    const refused = await ann.send(MAKE, filled([["site_ids", bobs.site_id]]));
    const none = await ann.send(MAKE, filled([["site_ids", "no-such-slug"]]));
    expect([refused.status, none.status]).toEqual([400, 400]);
    expect(refused.html).not.toContain(bobs.site_id);
    expect(refused.html).not.toContain(bobs.slug);
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
    expect(text).toContain("Reads, makes new sites · All sites · Until");
    expect(text).toContain("Never used");
    expect(html).not.toContain("<b>docs</b>");
    const own = await eve.deploy({ "index.html": "x" });
    await eve.change(own, { label: "Harbour <guide>" });
    await give(eve.person, ["deploy"], { site_ids: [own.site_id] });
    expect((await eve.read("/dashboard/account")).text).toContain("Deploys · Harbour <guide> · Until");
    const revoked = await eve.send(`${MAKE}/${token_id}/revoke`, {});
    expect([revoked.status, revoked.location]).toEqual([303, "/dashboard/account?done=token-revoked"]);
    expect((await eve.read("/dashboard/account?done=token-revoked")).text).toContain("The deploy token is revoked");
    expect((await list(eve.person)).map((one) => one.token_id)).not.toContain(token_id);
  });

  test("revokes none of somebody else", async () => {
    const { token_id } = await give(ann.person, ["read"]);
    const refused = await bob.send(`${MAKE}/${token_id}/revoke`, {});
    expect(refused.status).toBe(404);
    const found = await call(server, "GET", "/account/tokens", undefined, ann.person.bearer);
    expect(JSON.stringify(found.body)).toContain(token_id);
  });
});
