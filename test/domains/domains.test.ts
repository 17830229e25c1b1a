/** BEYOND 10: domains of one's own: which names may be added, what proves one, and who has it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { domainName, faultOfDomain } from "../../src/base/domain-names.ts";
import { auditRows } from "../kit/database.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { type Domain, domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(90_000);

const world = await domainWorld();
const { server, dns, owned, add, verify, remove, prove, active, at, ask } = world;
afterAll(() => world[Symbol.asyncDispose]());
const [ann, ben] = [await signUp(server), await signUp(server)];
const site = await owned(ann);

describe("BEYOND 10: POST /sites/:id/domains", () => {
  test("answers with the records that prove it, and is pending until one is there", async () => {
    const domain = freshDomain();
    const { status, body } = await add(site, domain, ann);
    expect(status).toBe(201);
    expect(body as unknown).toEqual({
      domain,
      state: "pending",
      primary: false,
      hsts: false,
      records: [
        { type: "TXT", name: `_svc.${domain}`, value: expect.stringMatching(/^svc-verify=[\w-]{43}$/) },
        { type: "CNAME", name: domain, value: `${site.slug}.localhost` },
      ],
      verified_at: null,
      checked_at: expect.stringMatching(/^20/),
      tls: { state: "none", expires_at: null, error: null },
    });
    expect((await at(domain)).status).toBe(404);
    const again = await add(site, domain, ann);
    expect([again.status, again.body as unknown]).toEqual([200, body]);
  });

  test.each(["TXT", "CNAME"] as const)("is active at once where its %s record is there already", async (type) => {
    const domain = freshDomain();
    const asked = (await add(site, domain, ann)).body as unknown as Domain;
    prove(asked, type);
    await remove(site, domain, ann);
    const { status, body } = await add(site, domain, ann);
    expect([status, body.state]).toEqual([201, "active"]);
    expect(await at(domain)).toMatchObject({ status: 200, text: expect.stringContaining("home") });
    await remove(site, domain, ann);
    expect((await at(domain)).status).toBe(404);
  });

  test.each([
    ["WWW.Garden.Example.ORG", "www.garden.example.org"],
    ["bücher.example.org", "xn--bcher-kva.example.org"],
    ["XN--BCHER-KVA.example.net", "xn--bcher-kva.example.net"],
    ["last-dot.example.org.", "last-dot.example.org"],
    [" blank.example.org ", "blank.example.org"],
    ["ｆｕｌｌ。example.org", "full.example.org"],
  ])("%p is added as %s", async (written, domain) => {
    const { status, body } = await add(await owned(ben), written, ben);
    expect([status, body.domain as unknown]).toEqual([201, domain]);
  });

  test.each([
    ...["192.0.2.7", "[2001:db8::1]", "0x7f.1", "1.2.3", "example", "", " ", ".", "a..example.org", "-a.example.org"],
    ...["a-.example.org", "_a.example.org", "*.example.org", "www.example.org:80", "https://www.example.org"],
    ...["www.example.org/path", "user@example.org", "a b.example.org", "a\u0000.example.org", "a%2e.example.org"],
    ...[`${"a".repeat(64)}.example.org`, `${"a.".repeat(127)}org`, "\ud800.example.org", "a\u202e.example.org"],
    ...["localhost", "a.localhost", "printer.local", "db.internal", "x.onion", "calm-fox.localhost"],
  ])("%p is 400 invalid_domain", async (domain) => {
    const before = server.rows("domains");
    const { status, body } = await add(site, domain, ann);
    expect([status, body.code]).toEqual([400, domain === "" ? "invalid_input" : "invalid_domain"]);
    expect(server.rows("domains")).toBe(before);
  });

  test.each([
    ["svc.example", false],
    ["sites.example", false],
    ["calm.sites.example", false],
    ["a.b.sites.example", false],
    ["www.svc.example", true],
    ["mysites.example", true],
    ["example", false],
  ])("below a server of one's own %s is allowed: %p", (domain, allowed) => {
    const hosting = { base_url: "https://svc.example:8443", sites_domain: "sites.example:8443" };
    const name = domainName(domain);
    expect(name !== null && faultOfDomain(name, hosting) === null).toBe(allowed);
  });

  test("ten of a site and no more: 403 quota_exceeded", async () => {
    const full = await owned(ann);
    for (let i = 0; i < 10; i++) expect((await add(full, freshDomain(), ann)).status).toBe(201);
    const { status, body } = await add(full, freshDomain(), ann);
    expect([status, body as unknown]).toEqual([
      403,
      expect.objectContaining({ code: "quota_exceeded", limit: 10, unit: "domains" }),
    ]);
  });

  test("a manage_token is 401, and 403 owner_required while nobody owns the site", async () => {
    const free = await server.deploy({ "index.html": "<p>free" });
    const by = bearer(free.manage_token!);
    const asked = await call(server, "POST", `/sites/${free.site_id}/domains`, { domain: freshDomain() }, by);
    expect([asked.status, asked.body.code]).toEqual([403, "owner_required"]);
    const listed = await call(server, "GET", `/sites/${free.site_id}/domains`, undefined, by);
    expect([listed.status, listed.body.code]).toEqual([403, "owner_required"]);
    await call(server, "POST", `/sites/${free.site_id}/claim`, { claim_token: free.claim_token }, ann.bearer);
    const late = await call(server, "POST", `/sites/${free.site_id}/domains`, { domain: freshDomain() }, by);
    expect([late.status, late.body.code]).toEqual([401, "unauthorized"]);
  });
});

describe("BEYOND 10: the proof", () => {
  test("neither record is 409 domain_unproved, with what was found", async () => {
    const domain = freshDomain();
    await add(site, domain, ann);
    expect(await verify(site, domain, ann)).toMatchObject({
      status: 409,
      body: { code: "domain_unproved", found: { txt: [], cname: null } },
    });
    dns.set(`_svc.${domain}`, "TXT", ["svc-verify=wrong", "else"]);
    dns.set(domain, "CNAME", ["Elsewhere.Example."]);
    expect(await verify(site, domain, ann)).toMatchObject({
      status: 409,
      body: { found: { txt: ["svc-verify=wrong", "else"], cname: "elsewhere.example" } },
    });
    expect((await at(domain)).status).toBe(404);
  });

  test("the token is the account's for this domain: that of another account or domain proves nothing", async () => {
    const domain = freshDomain();
    const [mine, other] = [await add(site, domain, ann), await add(await owned(ben), domain, ben)];
    const [my_token, their_token] = [mine, other].map(({ body }) => (body as unknown as Domain).records[0]!.value) as [
      string,
      string,
    ];
    expect(my_token).not.toBe(their_token);
    dns.set(`_svc.${domain}`, "TXT", [their_token]);
    expect((await verify(site, domain, ann)).status).toBe(409);
    dns.set(`_svc.${domain}`, "TXT", [their_token, my_token]);
    expect((await verify(site, domain, ann)).status).toBe(200);
  });

  test("one account's token is the same for each of its sites, a CNAME is for one site", async () => {
    const [domain, second] = [freshDomain(), await owned(ann)];
    const one = (await add(site, domain, ann)).body as unknown as Domain;
    const two = (await add(second, domain, ann)).body as unknown as Domain;
    expect(one.records[0]!.value).toBe(two.records[0]!.value);
    prove(one, "CNAME");
    expect((await verify(second, domain, ann)).status).toBe(409);
    expect((await verify(site, domain, ann)).status).toBe(200);
  });

  test("a CNAME to a former name of the site proves it, after the rename too", async () => {
    const mine = await owned(ann);
    const domain = freshDomain();
    prove((await add(mine, domain, ann)).body as unknown as Domain, "CNAME");
    const slug = `renamed-${domain.split(".")[1]}`;
    await ask(ann, "PUT", `/sites/${mine.site_id}/slug`, { slug });
    expect(await verify(mine, domain, ann)).toMatchObject({
      status: 200,
      body: { records: [expect.anything(), { value: `${slug}.localhost` }] },
    });
  });

  test.each(["fails", "refuses", "garbage", "other_id", "other_name", "hangs"] as const)(
    "a server that %s tells nothing: 409 within seconds, and what was active stays",
    async (mood) => {
      const [old, domain] = [await active(site, ann), freshDomain()];
      prove((await add(site, domain, ann)).body as unknown as Domain);
      dns.mood = mood;
      const begun = performance.now();
      try {
        expect(await verify(site, domain, ann)).toMatchObject({
          status: 409,
          body: { code: "domain_unproved", found: { txt: null, cname: null } },
        });
        expect(performance.now() - begun).toBeLessThan(9000);
        expect((await verify(site, old.domain, ann)).status).toBe(409);
        expect((await at(old.domain)).status).toBe(200);
      } finally {
        dns.mood = "answers";
      }
      for (const one of [old.domain, domain]) await remove(site, one, ann);
    },
  );

  test("an answer that is too long for one datagram is asked for again over TCP, and none is kept", async () => {
    const domain = freshDomain();
    const { records } = (await add(site, domain, ann)).body as unknown as Domain;
    const many = Array.from({ length: 30 }, (_, i) => `${"x".repeat(200)}${i}`);
    dns.set(`_svc.${domain}`, "TXT", [...many, records[0]!.value]);
    expect((await verify(site, domain, ann)).status).toBe(200);
    dns.set(`_svc.${domain}`, "TXT", null);
    expect((await verify(site, domain, ann)).status).toBe(409);
    await remove(site, domain, ann);
  });

  test("who proves first has it; another site waits while that proof stands, and gets it when it is gone", async () => {
    const [theirs, domain] = [await owned(ben), freshDomain()];
    const held = await active(site, ann, domain);
    const asked = (await add(theirs, domain, ben)).body as unknown as Domain;
    expect(asked.state).toBe("pending");
    const both = [held, asked].map(({ records }) => records[0]!.value);
    dns.set(`_svc.${domain}`, "TXT", both);
    expect(await verify(theirs, domain, ben)).toMatchObject({ status: 409, body: { code: "domain_taken", domain } });
    expect((await at(domain)).status).toBe(200);
    prove(asked);
    expect(await verify(theirs, domain, ben)).toMatchObject({ status: 200, body: { state: "active" } });
    expect((await ask(ann, "GET", `/sites/${site.site_id}/domains`)).body.domains as unknown).toContainEqual(
      expect.objectContaining({ domain, state: "lapsed" }),
    );
    await remove(site, domain, ann);
  });

  test("a domain that nobody added is 404; one of another account's site cannot be seen or changed", async () => {
    const domain = freshDomain();
    expect((await verify(site, domain, ann)).status).toBe(404);
    expect((await verify(site, "no%20name", ann)).status).toBe(404);
    await add(site, domain, ann);
    for (const answer of [
      await verify(site, domain, ben),
      await remove(site, domain, ben),
      await world.change(site, domain, { primary: true }, ben),
      await ask(ben, "GET", `/sites/${site.site_id}/domains`),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
    }
  });

  test("a frozen site adds, verifies, changes and removes none", async () => {
    const mine = await owned(ann);
    const { domain } = await active(mine, ann);
    server.freeze(mine);
    for (const answer of [
      await add(mine, freshDomain(), ann),
      await verify(mine, domain, ann),
      await world.change(mine, domain, { primary: true }, ann),
      await remove(mine, domain, ann),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, "site_frozen"]);
    }
    expect((await at(domain)).status).toBe(200);
  });

  test("each change is in the audit; deleting the site frees its domains", async () => {
    const mine = await owned(ann);
    const { domain } = await active(mine, ann);
    await world.change(mine, domain, { primary: true }, ann);
    const lines = auditRows(server.data_dir).filter(({ site_id }) => site_id === mine.site_id);
    expect(lines.filter(({ action }) => action === "set-domain").map(({ reason }) => reason)).toEqual([
      `added ${domain}`,
      `${domain} is active`,
      `${domain}: primary on, hsts off`,
    ]);
    await ask(ann, "DELETE", `/account/sites/${mine.site_id}`);
    expect((await at(domain)).status).toBe(404);
    const heirs = await owned(ben);
    prove((await add(heirs, domain, ben)).body as unknown as Domain);
    expect((await verify(heirs, domain, ben)).status).toBe(200);
  });

  test("GET /account/domains has all, each with its site; usage and settings count them", async () => {
    const cat = await signUp(server);
    const [one, two] = [await owned(cat), await owned(cat)];
    const a = await active(one, cat);
    const b = (await add(two, freshDomain(), cat)).body as unknown as Domain;
    expect((await ask(cat, "GET", "/account/domains")).body as unknown).toEqual({
      domains: [
        { site_id: one.site_id, ...a },
        { site_id: two.site_id, ...b },
      ],
    });
    expect((await ask(cat, "GET", "/account/usage")).body).toMatchObject({ domains: 2 });
    await world.change(one, a.domain, { primary: true }, cat);
    expect((await ask(cat, "GET", `/sites/${one.site_id}/settings`)).body).toMatchObject({
      domains: 1,
      primary_domain: a.domain,
    });
  });
});
