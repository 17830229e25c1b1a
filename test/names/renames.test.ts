/** BEYOND 17: who names a site what, in which order it is refused, and what is kept of it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bearer, call, signUp } from "../kit/people.ts";
import { count } from "../kit/database.ts";
import { type AuditLine, listed, operate } from "../kit/operator.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { naming } from "./named.ts";

setDefaultTimeout(60_000);

const server = await sharedServer({ SVC_RATE_SLUG: "off" });
const [ann, ben] = [await signUp(server), await signUp(server)];
const { owned, rename, renamed, at, url } = naming(() => server);
let names = 0;
const fresh = () => `fresh-name-${++names}`;

describe("BEYOND 17: PUT /sites/:id/slug", () => {
  test("answers with the site as GET does, under its new url, which serves at once", async () => {
    const site = await owned(ann, "tides");
    const slug = fresh();
    const body = await renamed(site, slug, ann);
    const read = await call(server, "GET", `/sites/${site.site_id}`, undefined, ann.bearer);
    expect(body).toEqual(read.body);
    expect(body).toMatchObject({ site_id: site.site_id, slug, url: `http://${slug}.localhost:${server.port}` });
    expect(await at(slug)).toMatchObject({ status: 200, text: expect.stringContaining("tides") });
    const { sites } = (await call(server, "GET", "/account/sites", undefined, ann.bearer)).body;
    expect(sites.find(({ site_id }) => site_id === site.site_id)).toMatchObject({ slug, url: body.url });
  });

  test("the same name again is 200 and changes nothing, the given one too", async () => {
    const site = await owned(ann);
    expect((await rename(site, site.slug, ann)).body).toMatchObject({ slug: site.slug });
    const slug = fresh();
    await renamed(site, slug, ann);
    const before = server.rows("audit");
    await renamed(site, slug, ann);
    expect(server.rows("audit")).toBe(before);
  });

  test.each([
    ["my_garden", "characters"],
    ["ab", "length"],
    ["a--b", "hyphens"],
    ["calm-otter-7f3k", "drawn"],
    ["www", "reserved"],
    ["adm1n", "reserved"],
    ["paypal-login", "brand"],
  ])("%s is 400 invalid_slug with the rule", async (slug, rule) => {
    const { status, body } = await rename(await owned(ann), slug, ann);
    expect([status, body]).toEqual([400, expect.objectContaining({ code: "invalid_slug", field: "slug", rule })]);
  });

  test.each([[null], [7], [""], [[]], [{}], ["x".repeat(201)], [undefined]])(
    "%p is 400 invalid_input",
    async (slug) => {
      expect(await rename(await owned(ann), slug, ann)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    },
  );

  test("P9: a name that another site has, had, or had before it was gone is 409 slug_taken", async () => {
    const [has, had, gone, mine] = [await owned(ben), await owned(ben), await owned(ben), await owned(ann)];
    const [now, then, last, first] = [fresh(), fresh(), fresh(), fresh()];
    await renamed(has, now, ben);
    await renamed(had, then, ben);
    await renamed(had, fresh(), ben);
    await renamed(gone, first, ben);
    await renamed(gone, last, ben);
    await call(server, "DELETE", `/account/sites/${gone.site_id}`, undefined, ben.bearer);
    for (const slug of [now, then, first, last]) {
      expect(await rename(mine, slug, ann)).toMatchObject({ status: 409, body: { code: "slug_taken", slug } });
      expect(await rename(has, slug, ben)).toMatchObject({ status: slug === now ? 200 : 409 });
    }
  });

  test("a former name of its own is taken back, the given one too, whatever its form is", async () => {
    const site = await owned(ann);
    const slug = fresh();
    await renamed(site, slug, ann);
    await renamed(site, site.slug, ann);
    expect(await at(slug)).toMatchObject({ status: 308, location: url(site.slug) });
    expect((await at(site.slug)).status).toBe(200);
    await renamed(site, slug, ann);
    expect(await at(site.slug)).toMatchObject({ status: 308, location: url(slug) });
    expect(await rename(await owned(ann), site.slug, ann)).toMatchObject({ status: 400 });
  });

  test("ten former names and no more; one of them can still be taken back", async () => {
    const site = await owned(ann);
    const had: string[] = [site.slug];
    for (let i = 0; i < 10; i++) had.push(String((await renamed(site, fresh(), ann)).slug));
    const refused = await rename(site, fresh(), ann);
    expect(refused).toMatchObject({ status: 409, body: { code: "too_many_names", limit: 10 } });
    await renamed(site, had[3]!, ann);
    expect((await rename(site, fresh(), ann)).status).toBe(409);
    for (const slug of had) {
      const answer = await at(slug);
      expect(answer).toMatchObject(slug === had[3] ? { status: 200 } : { status: 308, location: url(had[3]!) });
    }
  });

  test("a frozen site is 403 site_frozen, a disabled one 451, and nothing of it changes", async () => {
    const [frozen, off] = [await owned(ann), await owned(ann)];
    server.freeze(frozen);
    server.disable(off, "phishing");
    expect(await rename(frozen, fresh(), ann)).toMatchObject({ status: 403, body: { code: "site_frozen" } });
    expect(await rename(off, fresh(), ann)).toMatchObject({ status: 451, body: { code: "site_disabled" } });
  });

  test("a preview's address must still be a host's name: the name is refused and the preview named", async () => {
    const site = await owned(ann);
    const preview = "p".repeat(63 - 2 - site.slug.length);
    const made = await server.api(`/sites/${site.site_id}/previews?name=${preview}`, {
      method: "POST",
      headers: { "content-type": "application/zip", ...ann.bearer },
      body: zipOf({ "index.html": "look" }),
    });
    expect(made.status).toBe(200);
    const long = "l".repeat(site.slug.length + 1);
    const { status, body } = await rename(site, long, ann);
    expect([status, body.code, body.error]).toEqual([400, "invalid_slug", expect.stringContaining(preview)]);
    const short = "s".repeat(site.slug.length - 1);
    await renamed(site, short, ann);
    expect((await at(`${preview}--${short}`)).text).toContain("look");
    expect(await at(`${preview}--${site.slug}`, "/a?b")).toMatchObject({
      status: 308,
      location: url(`${preview}--${short}`, "/a?b"),
    });
  });

  test("each change is in the audit, by the account that made it", async () => {
    const site = await owned(ann);
    const slug = fresh();
    await renamed(site, slug, ann);
    await rename(site, "www", ann);
    const rows = (await listed<AuditLine>(server.data_dir, "audit")).filter(({ site_id }) => site_id === site.site_id);
    expect(rows.filter(({ action }) => action === "rename")).toEqual([
      expect.objectContaining({ actor: ann.account_id, reason: `from ${site.slug} to ${slug}` }),
    ]);
  });

  test("no body has the former names", async () => {
    const site = await owned(ann);
    await renamed(site, fresh(), ann);
    for (const path of [`/sites/${site.site_id}`, `/sites/${site.site_id}/settings`, "/account/sites"]) {
      const { body } = await call(server, "GET", path, undefined, ann.bearer);
      expect(JSON.stringify(body)).not.toContain(site.slug);
    }
  });
});

describe("BEYOND 17: SVC_RATE_SLUG", () => {
  const paced = (pace: string) => startServer({ SVC_RATE_SLUG: pace });

  test("only changes that took place count, per account, and refusals come in their order", async () => {
    await using own = await paced("2/1d");
    const person = await signUp(own);
    const here = naming(() => own);
    const [site, other, second] = [await here.owned(person), await here.owned(person), await signUp(own)];
    await here.renamed(await here.owned(second), "taken-name", second);
    for (const slug of ["ab", "www", site.slug, other.slug, "taken-name"]) await here.rename(site, slug, person);
    await here.renamed(site, "first-name", person);
    await here.renamed(site, "first-name", person);
    const last = await here.rename(site, "second-name", person);
    expect([last.status, last.headers.get("ratelimit-policy")]).toEqual([200, '"slug";q=2;w=86400']);
    const late = await here.rename(other, "third-name", person);
    expect([late.status, late.body.code, Number(late.headers.get("retry-after")) > 0]).toEqual([
      429,
      "rate_limited",
      true,
    ]);
    expect((await here.rename(site, "www", person)).body.code).toBe("invalid_slug");
    expect((await here.rename(site, "taken-name", person)).body.code).toBe("slug_taken");
    expect((await here.rename(site, "second-name", person)).status).toBe(200);
    own.advance(86_400_000);
    await here.renamed(site, "third-name", person);
  });

  test("without a setting it is five a day", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const here = naming(() => own);
    const site = await here.owned(person);
    for (let i = 0; i < 5; i++) await here.renamed(site, `name-number-${i}`, person);
    expect((await here.rename(site, "name-number-5", person)).status).toBe(429);
  });

  test("two accounts race for one name: one has it, the other gets 409 and keeps its name and its count", async () => {
    await using own = await paced("1/1d");
    const here = naming(() => own);
    for (let round = 0; round < 5; round++) {
      const people = [await signUp(own), await signUp(own), await signUp(own)];
      const sites = await Promise.all(people.map((person) => here.owned(person)));
      const slug = `wanted-${round}`;
      const answers = await Promise.all(sites.map((site, i) => here.rename(site, slug, people[i]!)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const lost = answers.findIndex(({ status }) => status === 409);
      expect((await here.at(sites[lost]!.slug)).status).toBe(200);
      await here.renamed(sites[lost]!, `${slug}-again`, people[lost]!);
    }
    expect(count(own.data_dir, "former_slugs")).toBe(10);
  });

  test("one site that is named twice at a time has one name, and the other leads there", async () => {
    await using own = await paced("2/1d");
    const here = naming(() => own);
    const person = await signUp(own);
    const site = await here.owned(person);
    await Promise.all(["one-name", "other-name"].map((slug) => here.rename(site, slug, person)));
    const { slug } = (await call(own, "GET", `/sites/${site.site_id}`, undefined, person.bearer)).body as {
      slug?: string;
    };
    for (const host of [site.slug, "one-name", "other-name"]) {
      const { status, location } = await here.at(host);
      expect([status, location]).toEqual(host === slug ? [200, null] : [308, here.url(slug!)]);
    }
  });
});

describe("BEYOND 17: claims and operators", () => {
  test("a site without an owner is named once it is claimed, and its manage_token stays good for deploys", async () => {
    const site = await server.deploy({ "index.html": "unowned" });
    expect((await rename(site, fresh(), { bearer: bearer(site.manage_token) })).status).toBe(401);
    await call(server, "POST", `/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, ann.bearer);
    const slug = fresh();
    await renamed(site, slug, ann);
    const again: DeployResult = await server.redeploy(site, { "index.html": "claimed and named" });
    expect(again).toMatchObject({ slug, url: `http://${slug}.localhost:${server.port}` });
  });

  test("bulk-attach: a site that an operator named is attached under that name", async () => {
    const site = await server.deploy({ "index.html": "unowned" });
    const slug = fresh();
    await operate(server.data_dir, "rename", site.site_id, slug);
    const items = { sites: [{ site_id: site.site_id, manage_token: site.manage_token }] };
    const { body } = await call(server, "POST", "/account/bulk-attach", items, ann.bearer);
    expect(body as unknown).toEqual({ attached: [site.site_id], skipped: [] });
    expect((await at(slug)).status).toBe(200);
    expect((await at(site.slug)).location).toBe(url(slug));
  });
});
