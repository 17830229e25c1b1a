/** BEYOND 10: what a domain's host shows, where a primary one leads, and for which names a proxy may get a certificate. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openOperations } from "../../src/store/operations.ts";
import { write } from "../kit/database.ts";
import { type Person, signUp } from "../kit/people.ts";
import { type DeployResult, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(60_000);

const world = await domainWorld();
const { server, dns, owned, add, active, change, remove, at, ask } = world;
const operations = openOperations({ ...server.address, now: server.now });
afterAll(async () => {
  await operations.close();
  await world[Symbol.asyncDispose]();
});
const ann = await signUp(server);

const HEADERS: Record<string, string>[] = [
  {},
  { accept: "text/html" },
  { "accept-encoding": "gzip" },
  { range: "bytes=0-3" },
];
const FILES = {
  "index.html": "<!doctype html><title>Home</title><p>home",
  "about.html": "<!doctype html><title>About</title><p>about",
  "app.js": "/* app */",
  "404.html": "<!doctype html><title>Gone</title><p>own page",
  healthz: "its own",
  metrics: "its own",
  _redirects: "/old /about 301\n",
  _headers: "/*\n  X-Mine: yes\n",
};

describe("BEYOND 10: a domain's host is the live host", () => {
  test("every path answers as on the slug's host, header for header", async () => {
    const site = await owned(ann, FILES);
    const { domain } = await active(site, ann);
    const paths = ["/", "/about", "/about.html", "/app.js", "/old", "/none", "/healthz", "/metrics", "/_svc/c.js"];
    for (const path of [...paths, "/..%2f", "/_svc/none"]) {
      for (const headers of HEADERS) {
        // Twice: the second is the shortcut's.
        for (const turn of [1, 2]) {
          const [own, slug] = [
            await at(domain, path, { headers }),
            await at(`${site.slug}.localhost`, path, { headers }),
          ];
          const told = (answer: typeof own) => ({
            ...answer,
            text: answer.text.replaceAll(/req_\w+/g, "req").replaceAll(`${site.slug}.localhost`, domain),
            headers: [...answer.headers].filter(([name]) => !["date", "x-request-id", "content-length"].includes(name)),
          });
          expect([path, turn, told(own)]).toEqual([path, turn, told(slug)]);
        }
      }
    }
  });

  test("a deploy, a rollback and a deletion act at the next request", async () => {
    const site = await owned(ann);
    const { domain } = await active(site, ann);
    expect((await at(domain)).text).toContain("home");
    const sent = { method: "POST", body: zipOf({ "index.html": "<p>newer" }), headers: { ...ZIP, ...ann.bearer } };
    await server.api(`/sites/${site.site_id}/deploys`, sent);
    expect((await at(domain)).text).toContain("newer");
    await ask(ann, "POST", `/sites/${site.site_id}/rollback`, { version_id: site.version_id });
    expect((await at(domain)).text).toContain("home");
    await ask(ann, "DELETE", `/account/sites/${site.site_id}`);
    expect((await at(domain)).status).toBe(404);
  });

  test("a renamed site is there still, and a removed domain is 404 at the next request", async () => {
    const site = await owned(ann);
    const { domain } = await active(site, ann);
    await at(domain);
    await ask(ann, "PUT", `/sites/${site.site_id}/slug`, { slug: `moved-${site.site_id.slice(-6)}` });
    expect((await at(domain)).status).toBe(200);
    await at(domain);
    await remove(site, domain, ann);
    expect(await at(domain)).toMatchObject({ status: 404, text: expect.stringContaining("unknown_host") });
  });

  test.each<[by: string, end: (site: DeployResult, by: Person) => Promise<unknown>]>([
    ["by its owner", ({ site_id }, by) => ask(by, "DELETE", `/account/sites/${site_id}`)],
    ["with its owner's account", (_, by) => server.running.store.accounts.remove(by)],
    ["by the operator", ({ site_id }) => operations.actOnSite({ action: "delete", site_id })],
    ["with an account that the operator removes", (_, { email }) => operations.accounts.remove(email)],
  ])("a site that is deleted %s leaves its domain and its former name, which were shown, at once", async (_, end) => {
    const bea = await signUp(server);
    const site = await owned(bea);
    const { domain } = await active(site, bea);
    await ask(bea, "PUT", `/sites/${site.site_id}/slug`, { slug: `left-${site.site_id.slice(-6)}` });
    const shown = async () => [(await at(domain)).status, (await at(`${site.slug}.localhost`)).status];
    expect(await shown()).toEqual([200, 308]);
    expect(await shown()).toEqual([200, 308]);
    await end(site, bea);
    // Another process of the operator's is heard of a moment later.
    await until(async () => (await at(`left-${site.site_id.slice(-6)}.localhost`)).status === 404);
    expect(await at(domain)).toMatchObject({ status: 404, text: expect.stringContaining("unknown_host") });
    expect((await at(`${site.slug}.localhost`)).status).toBe(404);
  });

  test.each([
    ["frozen", 200],
    ["disabled", 451],
  ] as const)("a site that is %s is %d there", async (state, status) => {
    const site = await owned(ann);
    const { domain } = await active(site, ann);
    if (state === "frozen") server.freeze(site);
    else server.disable(site, "phishing");
    expect((await at(domain)).status).toBe(status);
  });

  test("a private site wants its password there, with a cookie of that host", async () => {
    const site = await owned(ann, FILES);
    const { domain } = await active(site, ann);
    await ask(ann, "PUT", `/sites/${site.site_id}/access`, { password: "open sesame" });
    expect(await at(domain, "/about")).toMatchObject({ status: 401 });
    const body = JSON.stringify({ password: "open sesame" });
    const entered = await at(domain, "/_svc/access", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const cookie = entered.headers.getSetCookie()[0]!.split(";")[0]!;
    expect((await at(domain, "/about", { headers: { cookie } })).status).toBe(200);
    expect((await at(`${site.slug}.localhost`, "/about", { headers: { cookie } })).status).toBe(401);
  });

  test("what is written on a page of it is in the site's comments; another origin's is refused", async () => {
    const site = await owned(ann, FILES);
    const { domain } = await active(site, ann);
    await ask(ann, "PATCH", `/sites/${site.site_id}/comments/settings`, { mode: "anonymous" });
    const note = {
      "@context": "http://www.w3.org/ns/anno.jsonld",
      type: "Annotation",
      body: { type: "TextualBody", value: "hello", format: "text/plain" },
      target: { source: `http://${domain}:${server.port}/about` },
    };
    const send = (origin: string) =>
      at(domain, "/_svc/comments/", {
        method: "POST",
        headers: { "content-type": "application/ld+json", origin },
        body: JSON.stringify(note),
      });
    const answer = await send(`http://${domain}:${server.port}`);
    expect([answer.status, answer.text]).toEqual([201, expect.stringContaining("hello")]);
    expect((await send(`http://elsewhere.example`)).status).toBe(403);
    expect((await at(domain, "/about.comments.json")).text).toContain("hello");
  });

  test("hosts that nobody has stay 404, by the thousand, and cost no more memory than hosts of sites do", async () => {
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 3000; i++) {
      const answer = await at(`a${i}.${"x".repeat(60)}.example.net`);
      if (answer.status !== 404) throw new Error(`${i}: ${answer.status}`);
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
    expect(await at("127.0.0.1", "/healthz")).toMatchObject({ status: 200 });
    expect(await at("anything.example.net", "/healthz")).toMatchObject({ status: 200 });
  });
});

describe("BEYOND 10: the primary domain", () => {
  test("GET and HEAD on the slug's host and on other domains are 308 to it; all else stays", async () => {
    const site = await owned(ann, FILES);
    const [main, other] = [await active(site, ann), await active(site, ann)];
    const slug = `${site.slug}.localhost`;
    for (const host of [slug, other.domain]) await at(host, "/app.js");
    const { status, body } = await change(site, main.domain, { primary: true }, ann);
    expect([status, body.primary as unknown]).toEqual([200, true]);
    const there = `http://${main.domain}:${server.port}`;
    for (const host of [slug, other.domain]) {
      for (const method of ["GET", "HEAD"]) {
        for (const path of ["/", "/app.js", "/none?a=1&b=%20", "/old", "/about.comments.json"]) {
          const answer = await at(host, path, { method });
          expect([path, answer.status, answer.location]).toEqual([path, 308, there + path]);
          expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
        }
      }
      expect((await at(host, "/", { method: "POST" })).status).toBe(405);
      expect((await at(host, "/_svc/c.js")).status).toBe(200);
      expect((await at(host, "/.well-known/acme-challenge/x")).status).toBe(404);
    }
    expect((await at(main.domain)).status).toBe(200);
    expect((await at(`${site.version_id}--${slug}`)).status).toBe(200);
  });

  test("one is primary at most; off again the slug's host answers itself", async () => {
    const site = await owned(ann);
    const [one, two] = [await active(site, ann), await active(site, ann)];
    await change(site, one.domain, { primary: true }, ann);
    await change(site, two.domain, { primary: true }, ann);
    const { domains } = (await ask(ann, "GET", `/sites/${site.site_id}/domains`)).body as never as {
      domains: { primary: boolean }[];
    };
    expect(domains.map(({ primary }) => primary)).toEqual([false, true]);
    expect((await at(one.domain)).location).toBe(`http://${two.domain}:${server.port}/`);
    await change(site, two.domain, { primary: false }, ann);
    for (const host of [one.domain, two.domain, `${site.slug}.localhost`]) expect((await at(host)).status).toBe(200);
    await change(site, two.domain, { primary: true }, ann);
    await remove(site, two.domain, ann);
    expect((await at(`${site.slug}.localhost`)).status).toBe(200);
  });

  test("a former name leads to it in one step, whatever the method; a former name's version stays below the slug", async () => {
    const site = await owned(ann);
    const main = await active(site, ann);
    await change(site, main.domain, { primary: true }, ann);
    const slug = `later-${site.site_id.slice(-6)}`;
    await ask(ann, "PUT", `/sites/${site.site_id}/slug`, { slug });
    for (const method of ["GET", "POST"]) {
      const answer = await at(`${site.slug}.localhost`, "/x?y=1", { method });
      expect([answer.status, answer.location]).toEqual([308, `http://${main.domain}:${server.port}/x?y=1`]);
    }
    const version = await at(`${site.version_id}--${site.slug}.localhost`);
    expect(version.location).toBe(`http://${site.version_id}--${slug}.localhost:${server.port}/`);
    expect((await at(`${slug}.localhost`)).location).toBe(`http://${main.domain}:${server.port}/`);
  });

  test("a private site asks for its password before it leads on", async () => {
    const site = await owned(ann, FILES);
    const main = await active(site, ann);
    await change(site, main.domain, { primary: true }, ann);
    await ask(ann, "PUT", `/sites/${site.site_id}/access`, { password: "open sesame" });
    const slug = `${site.slug}.localhost`;
    expect(await at(slug, "/about")).toMatchObject({ status: 401, location: null });
    const authorization = `Basic ${btoa(":open sesame")}`;
    const known = await at(slug, "/about", { headers: { authorization } });
    expect([known.status, known.location]).toEqual([308, `http://${main.domain}:${server.port}/about`]);
    expect(known.headers.get("cache-control")).toBe("private, no-store");
  });

  test("is refused before the domain is active, and hsts before its certificate is", async () => {
    const site = await owned(ann);
    const domain = freshDomain();
    await add(site, domain, ann);
    for (const wanted of [{ primary: true }, { hsts: true }]) {
      const { status, body } = await change(site, domain, wanted, ann);
      expect([status, body.code]).toEqual([409, "domain_unproved"]);
    }
    const proved = await active(site, ann);
    expect((await change(site, proved.domain, { hsts: true }, ann)).status).toBe(409);
    expect((await change(site, proved.domain, { hsts: false, primary: false }, ann)).status).toBe(200);
  });

  test.each([[{}], [{ primary: "yes" }], [{ hsts: 1 }], [{ primary: null }], [{ other: true }]])(
    "%j is 400 invalid_input and changes nothing",
    async (wanted) => {
      const site = await owned(ann);
      const { domain } = await active(site, ann);
      expect(await change(site, domain, wanted, ann)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    },
  );

  test("with a certificate hsts is on https answers of that domain alone; under http never", async () => {
    const site = await owned(ann);
    const { domain } = await active(site, ann);
    write(
      server.data_dir,
      "insert into certificates (name, state, expires_at, next_at) values (?, 'active', '2027-01-01T00:00:00.000Z', 0)",
      domain,
    );
    const { status, body } = await change(site, domain, { hsts: true }, ann);
    expect([status, body as unknown]).toEqual([
      200,
      expect.objectContaining({
        hsts: true,
        tls: { state: "active", expires_at: "2027-01-01T00:00:00.000Z", error: null },
      }),
    ]);
    expect((await at(domain)).headers.get("strict-transport-security")).toBeNull();
  });

  test("under https hsts is said at every path of that domain, twice asked too, and nowhere else", async () => {
    await using secure = await domainWorld("--base-url", "https://localhost");
    const cat = await signUp(secure.server);
    const site = await secure.owned(cat, FILES);
    const [{ domain }, other] = [await secure.active(site, cat), await secure.active(site, cat)];
    const has = async (host: string, path: string) =>
      (await secure.at(host, path)).headers.get("strict-transport-security");
    expect(await has(domain, "/")).toBeNull();
    write(
      secure.server.data_dir,
      "insert into certificates (name, state, expires_at, next_at) values (?, 'active', '2027-01-01T00:00:00.000Z', 0)",
      domain,
    );
    await secure.change(site, domain, { hsts: true }, cat);
    for (const path of ["/", "/", "/app.js", "/app.js", "/none", "/old", "/_svc/c.js", "/about.html"]) {
      expect([path, await has(domain, path)]).toEqual([path, "max-age=31536000"]);
      expect([path, await has(other.domain, path)]).toEqual([path, null]);
      expect([path, await has(`${site.slug}.localhost`, path)]).toEqual([path, null]);
    }
    await secure.change(site, domain, { hsts: false }, cat);
    expect(await has(domain, "/")).toBeNull();
  });

  test("BEYOND 5: an address that leads on is explained as primary_domain; one of the domain's as what it shows", async () => {
    const site = await owned(ann, FILES);
    const { domain } = await active(site, ann);
    const explain = async (url: string) =>
      (await ask(ann, "GET", `/sites/${site.site_id}/explain?url=${encodeURIComponent(url)}`)).body as never as object;
    expect(await explain(`https://${domain}/about`)).toMatchObject({
      url: `http://${domain}:${server.port}/about`,
      status: 200,
      by: "clean_url",
    });
    await change(site, domain, { primary: true }, ann);
    expect(await explain("/about")).toMatchObject({
      status: 308,
      by: "primary_domain",
      location: `http://${domain}:${server.port}/about`,
      version_id: site.version_id,
    });
    const foreign = freshDomain();
    expect(await explain(`http://${foreign}/`)).toMatchObject({ code: "invalid_input" });
  });
});

describe("BEYOND 10: GET /tls/ask", () => {
  const asked = async (name: string, init: RequestInit = {}) =>
    (await server.api(`/tls/ask?domain=${encodeURIComponent(name)}`, init)).status;

  test("is 200 for names that are served, and 404 for all others", async () => {
    const site = await owned(ann);
    const [{ domain }, waiting] = [await active(site, ann), freshDomain()];
    await add(site, waiting, ann);
    const former = site.slug;
    const slug = `asked-${site.site_id.slice(-6)}`;
    await ask(ann, "PUT", `/sites/${site.site_id}/slug`, { slug });
    const off = await owned(ann);
    server.disable(off, "phishing");
    const ours = [domain, domain.toUpperCase(), "localhost", `${slug}.localhost`, `${former}.localhost`];
    for (const name of [...ours, `${site.version_id}--${slug}.localhost`, `${off.slug}.localhost`]) {
      expect([name, await asked(name)]).toEqual([name, 200]);
    }
    const gone = await owned(ann);
    await ask(ann, "DELETE", `/account/sites/${gone.site_id}`);
    const others = [waiting, "elsewhere.example", "", "no name", `${"0".repeat(16)}--${slug}.localhost`, "1.2.3.4"];
    for (const name of [...others, `${gone.slug}.localhost`, "none.localhost", `${domain}:443`, "x".repeat(300)]) {
      expect([name, await asked(name)]).toEqual([name, 404]);
    }
  });

  test("answers on this machine alone, or to the bearer of SVC_METRICS_TOKEN, on any host that is no site's", async () => {
    await using other = await domainWorld({ SVC_METRICS_TOKEN: "0123456789abcdef" });
    const token = { authorization: "Bearer 0123456789abcdef" };
    const at = (host: string, headers: Record<string, string>) =>
      other.at(host, "/tls/ask?domain=localhost", { headers });
    expect((await at("127.0.0.1", {})).status).toBe(200);
    expect((await at("127.0.0.1", { "x-forwarded-for": "192.0.2.1" })).status).toBe(404);
    expect((await at("elsewhere.example", {})).status).toBe(404);
    expect((await at("elsewhere.example", token)).status).toBe(200);
    expect((await at("localhost", { ...token, "x-forwarded-for": "192.0.2.1" })).status).toBe(200);
    expect((await at("localhost", { authorization: "Bearer wrong", "x-forwarded-for": "x" })).status).toBe(404);
  });
});
