/** BEYOND 8: the password of a site, as visitors, programs and its keepers meet it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows } from "../kit/database.ts";
import { call, type Person, signUp } from "../kit/people.ts";
import { type Contents, type DeployResult, JSON_TYPE, slugOf, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await signUp(server);
const PASSWORD = "open sesame 1";
const FILES = {
  "index.html": "<!doctype html><title>Secret garden</title><h1>Roses</h1>",
  "a.css": "p{}",
  "404.html": "<title>Own 404</title>",
  _redirects: "/old /a.css 301\n",
  _headers: "/*\n  x-secret: rose\n",
};

interface Made extends DeployResult {
  slug: string;
}
async function made(files: Contents = FILES, person: Person | null = null): Promise<Made> {
  const answer = await server.post(zipOf(files), person?.bearer);
  const result = (await answer.json()) as DeployResult;
  return { ...result, slug: slugOf(result.url) };
}
const own = ({ manage_token }: Pick<DeployResult, "manage_token">) => ({ authorization: `Bearer ${manage_token}` });
const setPassword = (site: Made, password: string = PASSWORD, by: Record<string, string> = own(site)) =>
  call(server, "PUT", `/sites/${site.site_id}/access`, { password }, by);
async function shut(files?: Contents): Promise<Made> {
  const site = await made(files);
  expect((await setPassword(site)).status).toBe(200);
  return site;
}
const basic = (password: string, user = "") => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const HTML = { accept: "text/html,*/*" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const enter = (host: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  server.site(host, "/_svc/access", {
    method: "POST",
    headers: { ...FORM, ...HTML, ...headers },
    body: new URLSearchParams(fields).toString(),
  });
async function grant(host: string): Promise<{ cookie: string }> {
  const answer = await enter(host, { password: PASSWORD });
  expect(answer.status).toBe(303);
  return { cookie: answer.headers.get("set-cookie")!.split(";")[0]! };
}
const VARY = /(^|, )Cookie, Authorization$/;

function expectPrivate(response: Response): void {
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("vary")).toMatch(VARY);
  expect(response.headers.get("x-robots-tag")).toBe("noindex");
}

describe("BEYOND 8: who sets it", () => {
  test("a manage_token of a site without an owner sets, reads and removes it", async () => {
    const site = await made();
    const at = `/sites/${site.site_id}/access`;
    expect((await call(server, "GET", at, undefined, own(site))).body).toEqual({
      mode: "public",
      set_at: null,
    } as never);
    const set = await setPassword(site);
    expect(set.body as unknown).toEqual({ mode: "password", set_at: expect.stringMatching(/^20\d\d-/) });
    expect((await call(server, "GET", at, undefined, own(site))).body).toEqual(set.body);
    expect((await call(server, "GET", `/sites/${site.site_id}/settings`, undefined, own(site))).body["password"]).toBe(
      true,
    );
    expect((await server.site(site.slug)).status).toBe(401);
    expect((await call(server, "DELETE", at, undefined, own(site))).body as unknown).toEqual({ mode: "public" });
    expect((await server.site(site.slug)).status).toBe(200);
    expect(auditRows(server.data_dir).filter(({ site_id }) => site_id === site.site_id)).toMatchObject([
      { actor: "manage_token", action: "set-access", reason: "password" },
      { actor: "manage_token", action: "set-access", reason: "public" },
    ]);
  });

  test("of an owned site the owner's session alone, and a claim keeps it", async () => {
    const site = await shut();
    const claimed = { claim_token: site.claim_token };
    expect((await call(server, "POST", `/sites/${site.site_id}/claim`, claimed, ann.bearer)).status).toBe(200);
    expect((await server.site(site.slug)).status).toBe(401);
    expect((await setPassword(site, "another one")).status).toBe(401);
    expect((await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, own(site))).status).toBe(401);
    expect((await setPassword(site, "another one", ann.bearer)).status).toBe(200);
    expect((await call(server, "GET", `/sites/${site.site_id}/access`, undefined, own(site))).status).toBe(200);
  });

  test.each([
    ["7 characters", "1234567"],
    ["257 characters", "x".repeat(257)],
    ["none", ""],
    ["no text", 12345678],
  ])("%s is refused, and changes nothing", async (_, password) => {
    const site = await made();
    const { status, body } = await setPassword(site, password as string);
    expect([status, body.code]).toEqual([400, "invalid_input"]);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("a frozen site takes a password, and does not lose it; a disabled one takes none", async () => {
    const site = await made();
    server.freeze(site);
    expect((await setPassword(site)).status).toBe(200);
    const removed = await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, own(site));
    expect([removed.status, removed.body.code]).toEqual([403, "site_frozen"]);
    const other = await made();
    server.disable(other, "spam");
    expect((await setPassword(other)).status).toBe(451);
  });

  test("a disabled site is 451 with a password, too", async () => {
    const site = await shut();
    server.disable(site, "spam");
    expect((await server.site(site.slug)).status).toBe(451);
  });
});

describe("BEYOND 8: without the password", () => {
  test("every path, host and method has the same answer, which says nothing of the site", async () => {
    const site = await shut();
    const preview = await call(server, "GET", `/sites/${site.site_id}`, undefined, own(site));
    const version = String(preview.body["live_version_id"]);
    const bodies = new Set<string>();
    const hosts = [site.slug, `${version}--${site.slug}`, `0123456789abcdef--${site.slug}`, `nothing--${site.slug}`];
    const paths = ["/", "/a.css", "/old", "/nothing", "/_svc/comments/", "/_svc/c.js", "/comments.json", "/robots.txt"];
    for (const host of hosts) {
      for (const path of [...paths, "/%zz", `/${"x".repeat(3000)}`]) {
        for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
          const answer = await server.site(host, path, { method });
          expect([host, path, method, answer.status]).toEqual([host, path, method, 401]);
          expectPrivate(answer);
          expect(answer.headers.get("www-authenticate")).toBe(
            `Basic realm="${host}.localhost:${server.port}", charset="UTF-8"`,
          );
          expect(answer.headers.get("x-secret")).toBeNull();
          expect(answer.headers.get("etag")).toBeNull();
          const text = await answer.text();
          if (method === "GET") bodies.add(text.replace(/req_[0-9a-f]+/, ""));
        }
      }
    }
    expect(bodies.size).toBe(1);
    expect(JSON.parse([...bodies][0]!)).toMatchObject({ code: "password_required" });
  });

  test("a page for browsers: the host, a labelled field, no script, and where it leads afterwards", async () => {
    const site = await shut();
    const answer = await server.site(site.slug, "/deep/page?x=1&y=%22", { headers: HTML });
    const text = await answer.text();
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Svc-Password"]);
    expectPrivate(answer);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).toContain(`${site.slug}.localhost:${server.port}`);
    expect(text).toContain('<label for="password">');
    expect(text).toContain('name="next" value="/deep/page?x=1&amp;y=%22"');
    expect(text).not.toMatch(/<script|Secret garden|Roses|icon/);
  });

  test("a known ETag, a range and a former version's file are 401, never 304, 206 or 200", async () => {
    const site = await made();
    const etag = (await server.site(site.slug)).headers.get("etag")!;
    await setPassword(site);
    const headers: Record<string, string>[] = [
      { "if-none-match": etag },
      { "if-none-match": "*" },
      { range: "bytes=0-3" },
    ];
    for (const one of headers) expect((await server.site(site.slug, "/", { headers: one })).status).toBe(401);
  });

  test("a report to the operator is taken all the same", async () => {
    const site = await shut();
    const report = { method: "POST", headers: { "content-type": "application/json" }, body: `{"reason":"phishing"}` };
    const answer = await server.site(site.slug, "/_svc/report", report);
    expect(answer.status).toBe(202);
    expectPrivate(answer);
  });

  test("a former name leads on, and says nothing more", async () => {
    const site = await made(FILES, ann);
    await setPassword(site, PASSWORD, ann.bearer);
    const name = "shut-garden";
    expect((await call(server, "PUT", `/sites/${site.site_id}/slug`, { slug: name }, ann.bearer)).status).toBe(200);
    expect((await server.site(site.slug, "/a.css")).status).toBe(308);
    expect((await server.site(name, "/a.css")).status).toBe(401);
    const report = { method: "POST", headers: { "content-type": "application/json" }, body: `{"reason":"phishing"}` };
    expect((await server.site(site.slug, "/_svc/report", report)).status).toBe(202);
    expect((await server.site(site.slug, "/_svc/c.js")).status).toBe(200);
    expect((await enter(site.slug, { password: PASSWORD })).status).toBe(308);
  });
});

describe("BEYOND 8: with the password", () => {
  test("the form gives a cookie and leads to the page that was asked for", async () => {
    const site = await shut();
    const answer = await enter(site.slug, { password: PASSWORD, next: "/a.css?x=1" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/a.css?x=1"]);
    expectPrivate(answer);
    const cookie = answer.headers.get("set-cookie")!;
    expect(cookie).toMatch(/^svc_access=\d+\.[\w-]{43}; HttpOnly; SameSite=Lax; Path=\/; Max-Age=2592000$/);
    const headers = { cookie: cookie.split(";")[0]! };
    for (const [path, status] of [
      ["/", 200],
      ["/a.css", 200],
      ["/old", 301],
      ["/nothing", 404],
    ] as const) {
      // prettier-ignore
      const seen = await server.site(site.slug, path, { headers });
      expect([path, seen.status]).toEqual([path, status]);
      expectPrivate(seen);
      if (status !== 301) expect(seen.headers.get("x-secret")).toBe("rose");
    }
    const { headers: said } = await server.site(site.slug, "/", { headers });
    const same = await server.site(site.slug, "/", { headers: { ...headers, "if-none-match": said.get("etag")! } });
    expect(same.status).toBe(304);
    expectPrivate(same);
    const part = await server.site(site.slug, "/", {
      headers: { ...headers, range: "bytes=0-3", "accept-encoding": "identity" },
    });
    expect(part.status).toBe(206);
    expectPrivate(part);
  });

  test("JSON has JSON back", async () => {
    const site = await shut();
    const json = { method: "POST", headers: { "content-type": "application/json" } };
    const right = await server.site(site.slug, "/_svc/access", {
      ...json,
      body: JSON.stringify({ password: PASSWORD }),
    });
    expect([right.status, await right.json()]).toEqual([200, { ok: true }]);
    const wrong = await server.site(site.slug, "/_svc/access", { ...json, body: `{"password":"wrong one"}` });
    expect([wrong.status, ((await wrong.json()) as { code: string }).code]).toEqual([401, "wrong_password"]);
    expect(wrong.headers.get("set-cookie")).toBeNull();
  });

  test("a wrong one is the page again, with what is wrong and where it led", async () => {
    const site = await shut();
    const answer = await enter(site.slug, { password: "wrong one", next: "/deep" });
    const text = await answer.text();
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
    expect(text).toContain("That password is wrong");
    expect(text).toContain('value="/deep"');
    expect(text).not.toContain("wrong one");
    const again = await server.site(site.slug, "/_svc/access", { headers: { ...HTML, ...(await grant(site.slug)) } });
    expect([again.status, again.headers.get("location")]).toEqual([303, "/"]);
  });

  test.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "javascript:alert(1)",
    "",
    "\t/x",
    "/x\r\nset-cookie: a=b",
    "/_svc/access",
    "/_svc/access?x=1",
  ])("next=%j leads to the start page", async (next) => {
    const site = await shut();
    const answer = await enter(site.slug, { password: PASSWORD, next });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
  });

  test("a page of another origin enters nothing, and its tries count for nobody", async () => {
    const site = await shut();
    const foreign: Record<string, string>[] = [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }];
    for (const headers of foreign) {
      const answer = await enter(site.slug, { password: PASSWORD }, headers);
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
      expectPrivate(answer);
    }
    const origin = `http://${site.slug}.localhost:${server.port}`;
    expect((await enter(site.slug, { password: PASSWORD }, { origin })).status).toBe(303);
  });

  test("Basic with any user name, in any case, and in other spellings of the same characters", async () => {
    const site = await made();
    await setPassword(site, "Ångström 12");
    for (const [user, password] of [
      ["", "Ångström 12"],
      ["ann", "Ångström 12"],
      ["x", "A\u030angstro\u0308m 12"],
    ] as const) {
      // prettier-ignore
      const answer = await server.site(site.slug, "/", { headers: basic(password, user) });
      expect([user, answer.status]).toEqual([user, 200]);
      expectPrivate(answer);
    }
    const lower = basic("Ångström 12").authorization.replace("Basic", "bASIC ");
    expect((await server.site(site.slug, "/", { headers: { authorization: lower } })).status).toBe(200);
    for (const wrong of ["ångström 12", "Ångström 1", ""]) {
      const answer = await server.site(site.slug, "/", { headers: basic(wrong) });
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, "wrong_password"]);
    }
  });

  test("Bearer with a credential that reads the site, and no other", async () => {
    const [site, other] = [await shut(), await shut()];
    expect((await server.site(site.slug, "/", { headers: own(site) })).status).toBe(200);
    expect((await server.site(site.slug, "/", { headers: own(other) })).status).toBe(401);
    expect((await server.site(site.slug, "/", { headers: ann.bearer })).status).toBe(401);
    expect((await server.site(site.slug, "/", { headers: { authorization: "Bearer nonsense" } })).status).toBe(401);
    const owned = await made(FILES, ann);
    await setPassword(owned, PASSWORD, ann.bearer);
    expect((await server.site(owned.slug, "/", { headers: ann.bearer })).status).toBe(200);
    const wanted = { name: "ci", scopes: ["read"] };
    const token = (await call(server, "POST", "/account/tokens", wanted, ann.bearer)).body["token"];
    const headers = { authorization: `Bearer ${String(token)}` };
    expect((await server.site(owned.slug, "/", { headers })).status).toBe(200);
  });

  test("comments and their feeds are read with the cookie, and the scripts too", async () => {
    const site = await shut();
    await call(server, "PATCH", `/sites/${site.site_id}/comments/settings`, { mode: "anonymous" }, own(site));
    const headers = await grant(site.slug);
    for (const path of ["/_svc/c.js", "/_svc/comments/?page=/", "/comments.json"]) {
      expect([path, (await server.site(site.slug, path)).status]).toEqual([path, 401]);
      const answer = await server.site(site.slug, path, { headers });
      expect([path, answer.status]).toEqual([path, 200]);
      expectPrivate(answer);
    }
  });
});

describe("BEYOND 8: a grant", () => {
  test("is the host's: not another site's, nor a version's, nor forged, nor past its end", async () => {
    const [site, other] = [await shut(), await shut()];
    const { cookie } = await grant(site.slug);
    const { body } = await call(server, "GET", `/sites/${site.site_id}`, undefined, own(site));
    const at = (host: string, value: string) => server.site(host, "/", { headers: { cookie: value } });
    expect((await at(site.slug, cookie)).status).toBe(200);
    expect((await at(other.slug, cookie)).status).toBe(401);
    expect((await at(`${String(body["live_version_id"])}--${site.slug}`, cookie)).status).toBe(401);
    const [, end = "", mac = ""] = /^svc_access=(\d+)\.(.*)$/.exec(cookie)!;
    for (const forged of [`${Number(end) + 1}.${mac}`, `${end}.${mac.slice(1)}A`, `${end}.`, mac, "x"]) {
      expect((await at(site.slug, `svc_access=${forged}`)).status).toBe(401);
    }
    expect((await at(site.slug, `svc_access=x; ${cookie}; svc_access=1.y`)).status).toBe(200);
    // Each costs the server a signature: of hundreds only the first are looked at.
    const many = Array.from({ length: 200 }, (_, n) => `svc_access=${end}.${String(n).padStart(43, "A")}`).join("; ");
    expect((await at(site.slug, `${cookie}; ${many}`)).status).toBe(200);
    expect((await at(site.slug, `${many}; ${cookie}`)).status).toBe(401);
  });

  test("and Basic end with any change of the password, the same one too", async () => {
    const site = await shut();
    const { cookie } = await grant(site.slug);
    const seen = async (headers: Record<string, string>) => (await server.site(site.slug, "/", { headers })).status;
    expect([await seen({ cookie }), await seen(basic(PASSWORD))]).toEqual([200, 200]);
    await setPassword(site);
    expect([await seen({ cookie }), await seen(basic(PASSWORD))]).toEqual([401, 200]);
    await setPassword(site, "quite another");
    expect([await seen({ cookie }), await seen(basic(PASSWORD)), await seen(basic("quite another"))]).toEqual([401, 401, 200]); // prettier-ignore
    const again = await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, own(site));
    expect(again.status).toBe(200);
    await setPassword(site);
    expect(await seen({ cookie })).toBe(401);
  });

  test("ends after 30 days", async () => {
    const old = await sharedServer();
    const site = { ...(await old.deploy(FILES)), slug: "" };
    const slug = slugOf(site.url);
    await call(old, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const fields = { method: "POST", headers: FORM, body: new URLSearchParams({ password: PASSWORD }).toString() };
    const cookie = (await old.site(slug, "/_svc/access", fields)).headers.get("set-cookie")!.split(";")[0]!;
    await call(
      old,
      "POST",
      `/sites/${site.site_id}/claim`,
      { claim_token: site.claim_token },
      (await signUp(old)).bearer,
    );
    old.advance(30 * 24 * 3_600_000 - 60_000);
    expect((await old.site(slug, "/", { headers: { cookie } })).status).toBe(200);
    old.advance(120_000);
    expect((await old.site(slug, "/", { headers: { cookie } })).status).toBe(401);
  });

  test("under https its name and attributes keep it to the host", async () => {
    const secure = await sharedServer("--base-url", "https://svc.example");
    const on = (name: string, path: string, init: RequestInit) =>
      fetch(`http://127.0.0.1:${secure.port}${path}`, {
        redirect: "manual",
        ...init,
        headers: { ...(init.headers as Record<string, string>), host: name },
      });
    const deployed = await on("svc.example", "/sites", { method: "POST", headers: ZIP, body: zipOf(FILES) });
    const site = (await deployed.json()) as DeployResult;
    const host = `${slugOf(site.url)}.svc.example`;
    const json = { ...JSON_TYPE, ...own(site) };
    await on("svc.example", `/sites/${site.site_id}/access`, { method: "PUT", headers: json, body: JSON.stringify({ password: PASSWORD }) }); // prettier-ignore
    const body = new URLSearchParams({ password: PASSWORD }).toString();
    const answer = await on(host, "/_svc/access", { method: "POST", headers: { ...FORM, origin: `https://${host}` }, body }); // prettier-ignore
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-svc_access=.*; HttpOnly; SameSite=Lax; Path=\/; Max-Age=2592000; Secure$/); // prettier-ignore
  });

  test("a page that asks for a password that is no longer wanted leads to the site", async () => {
    const site = await made();
    const answer = await enter(site.slug, { password: "whatever", next: "/a.css" });
    expect([answer.status, answer.headers.get("location"), answer.headers.get("set-cookie")]).toEqual([303, "/a.css", null]); // prettier-ignore
  });
});

describe("BEYOND 8: guesses", () => {
  test("past SVC_RATE_ACCESS right ones are 429, too, while grants go on working", async () => {
    const slow = await sharedServer({ SVC_RATE_ACCESS: "3/10m" });
    const site = await slow.deploy(FILES);
    const slug = slugOf(site.url);
    await call(slow, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const tried = async (password: string) => (await slow.site(slug, "/", { headers: basic(password) })).status;
    const fields = { method: "POST", headers: FORM, body: new URLSearchParams({ password: PASSWORD }).toString() };
    const cookie = (await slow.site(slug, "/_svc/access", fields)).headers.get("set-cookie")!.split(";")[0]!;
    for (let n = 0; n < 9; n++) expect(await tried(PASSWORD)).toBe(200); // a right one counts for nothing
    for (let n = 0; n < 3; n++) expect(await tried(`wrong ${n} one`)).toBe(401);
    const late = await slow.site(slug, "/", { headers: basic("wrong again") });
    expect([late.status, Number(late.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expectPrivate(late);
    expect((await slow.site(slug, "/_svc/access", fields)).status).toBe(429);
    expect((await slow.site(slug, "/", { headers: { cookie } })).status).toBe(200);
    expect(await tried(PASSWORD)).toBe(200); // remembered
  });

  test("a right one that comes many times at once, as from a page with many parts, is looked at once", async () => {
    const slow = await sharedServer({ SVC_RATE_ACCESS: "3/10m" });
    const site = await slow.deploy(FILES);
    await call(slow, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const all = Array.from({ length: 60 }, () => slow.site(slugOf(site.url), "/", { headers: basic(PASSWORD) }));
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("one that a visitor gave right helps no stranger past the limits to find it", async () => {
    const slow = await sharedServer("--trust-proxy", "127.0.0.1", { SVC_RATE_ACCESS: "3/10m" });
    const site = await slow.deploy(FILES);
    await call(slow, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const tried = async (from: string, password: string) =>
      (await slow.site(slugOf(site.url), "/", { headers: { ...basic(password), "x-forwarded-for": from } })).status;
    expect(await tried("203.0.113.1", PASSWORD)).toBe(200);
    for (let n = 0; n < 3; n++) expect(await tried("198.51.100.9", `wrong ${n} one`)).toBe(401);
    expect([await tried("198.51.100.9", PASSWORD), await tried("203.0.113.1", PASSWORD)]).toEqual([429, 200]);
  });

  test("a class that opens one link is let in, by form and by Basic: right ones at the same time are one look", async () => {
    const slow = await sharedServer("--trust-proxy", "127.0.0.1", { SVC_RATE_ACCESS: "3/10m" });
    const site = await slow.deploy(FILES);
    const slug = slugOf(site.url);
    await call(slow, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const form = (from: string) => {
      const body = new URLSearchParams({ password: PASSWORD }).toString();
      return slow.site(slug, "/_svc/access", { method: "POST", headers: { ...FORM, "x-forwarded-for": from }, body });
    };
    const room = await Promise.all(Array.from({ length: 12 }, () => form("203.0.113.1")));
    expect(new Set(room.map(({ status }) => status))).toEqual(new Set([303]));
    const street = await Promise.all(Array.from({ length: 70 }, (_, n) => form(`198.51.100.${n}`)));
    expect(new Set(street.map(({ status }) => status))).toEqual(new Set([303]));
  });

  test("many at once do not pass as one", async () => {
    const slow = await sharedServer({ SVC_RATE_ACCESS: "3/10m" });
    const site = await slow.deploy(FILES);
    await call(slow, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
    const all = Array.from({ length: 12 }, (_, n) =>
      slow.site(slugOf(site.url), "/", { headers: basic(`wrong ${n} one`) }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(3).fill(401), ...Array<number>(9).fill(429)]);
  });
});

test("BEYOND 8: what is set acts at the next request, also of an answer that was in memory", async () => {
  const site = await made();
  for (let n = 0; n < 3; n++) expect((await server.site(site.slug, "/a.css")).status).toBe(200);
  await setPassword(site);
  expect((await server.site(site.slug, "/a.css")).status).toBe(401);
  const headers = await grant(site.slug);
  for (let n = 0; n < 3; n++) expectPrivate(await server.site(site.slug, "/a.css", { headers }));
  expect((await server.site(site.slug, "/a.css")).status).toBe(401);
  await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, own(site));
  const open = await server.site(site.slug, "/a.css");
  expect([open.status, open.headers.get("cache-control")]).toEqual([200, "public, max-age=60, must-revalidate"]);
});
