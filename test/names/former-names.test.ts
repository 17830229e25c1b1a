/** BEYOND 17: what a site's former names answer, in every state of the site, to every method, path and kind of host. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { write } from "../kit/database.ts";
import { call, signUp } from "../kit/people.ts";
import { listed, type AuditLine, operate, operator } from "../kit/operator.ts";
import { rawBytes } from "../kit/raw-http.ts";
import { type DeployResult, JSON_TYPE } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { naming } from "./named.ts";

setDefaultTimeout(60_000);

const server = await sharedServer({ SVC_RATE_SLUG: "off", SVC_RATE_REPORT: "off" });
const ann = await signUp(server);
const { owned, renamed, rename, at, url } = naming(() => server);
let names = 0;
const fresh = () => `later-name-${++names}`;

interface NamedSite extends DeployResult {
  now: string;
}
async function moved(): Promise<NamedSite> {
  const site = await owned(ann, "moved");
  const now = fresh();
  await renamed(site, now, ann);
  return { ...site, now };
}

describe("BEYOND 17: a former name leads to the present one", () => {
  const PATHS = [
    ...["/", "/a", "/a/b.html", "/a?b=c", "/?", "/?q=%C3%A9&r=1#x", "/a%20b", "/%E2%82%AC", "//a", "//evil.example/x"],
    ...[
      "/\\evil.example",
      "/@evil.example",
      "/.well-known/x",
      "/comments.json",
      "/a.comments.json",
      "/a//b/",
      "/%2e%2e/",
    ],
    ...[
      "/%0d%0aset-cookie:x=1",
      "/_svc/comments/threads?page=%2F",
      "/_svc/none",
      "/robots.txt",
      `/${"x".repeat(5000)}`,
    ],
  ];
  test.each(PATHS.map((path) => [path]))("GET %s is 308 to the same path and query", async (path) => {
    const site = await moved();
    const { status, location, text, headers } = await at(site.slug, path);
    // Slashes at the beginning count as one, as everywhere.
    const asked = new URL(`http://x${path.replace(/^[/\\]+/, "/")}`);
    const to = new URL(location!);
    expect([status, text, to.host]).toEqual([308, "", `${site.now}.localhost:${server.port}`]);
    expect(to.pathname + to.search).toBe(asked.pathname + asked.search);
    expect(headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s is 308 too", async (method) => {
    const site = await moved();
    expect(await at(site.slug, "/a?b", { method })).toMatchObject({ status: 308, location: url(site.now, "/a?b") });
  });

  test("bytes that no browser sends end in a redirect or a refusal, never in a header or an error of ours", async () => {
    const site = await moved();
    const host = `${site.slug}.localhost:${server.port}`;
    for (const path of ["/\u00e9", "/a\tb", "/\x7f", "/a\x01b", `http://${host}/a`, `http://evil.example/a`, "/a#b"]) {
      const sent = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const answer = (await rawBytes(server.port, Buffer.from(sent, "latin1"))).toString("latin1");
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? [];
      expect(["308", "400", "404", "505"]).toContain(status!);
      const location = /^location: (.*)$/im.exec(answer)?.[1];
      if (status === "308") expect(location).toStartWith(`http://${site.now}.localhost:${server.port}/`);
    }
  });

  test("hosts of versions and previews lead to theirs, whether these are there or not", async () => {
    const site = await owned(ann, "first");
    await server.api(`/sites/${site.site_id}/previews?name=pr-7`, {
      method: "POST",
      headers: { "content-type": "application/zip", ...ann.bearer },
      body: zipOf({ "index.html": "beside" }),
    });
    const now = fresh();
    await renamed(site, now, ann);
    const version = `${site.version_id}--`;
    for (const before of [version, "pr-7--", "pr-8--", `${"f".repeat(16)}--`]) {
      const there = await at(`${before}${site.slug}`, "/x?y");
      expect(there).toMatchObject({ status: 308, location: url(`${before}${now}`, "/x?y") });
      // The preview's name can be taken back as well.
      expect(there.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    }
    expect((await at(`${version}${now}`)).text).toContain("first");
    expect((await at(`pr-7--${now}`)).text).toContain("beside");
    expect((await at(`${"p".repeat(50)}--${site.slug}`)).status).toBe(404);
  });

  test("all former names lead to the present one at once, however often it changes", async () => {
    const site = await owned(ann);
    const had = [site.slug];
    for (let i = 0; i < 4; i++) {
      const now = fresh();
      await renamed(site, now, ann);
      for (const slug of had) expect(await at(slug)).toMatchObject({ status: 308, location: url(now) });
      had.push(now);
    }
  });

  test("names that go round never lead in a ring: each is one redirect away from the page", async () => {
    const site = await owned(ann);
    const [one, two] = [fresh(), fresh()];
    for (const slug of [one, two, site.slug, two, one, two]) await renamed(site, slug, ann);
    for (const slug of [site.slug, one]) expect((await at(slug)).location).toBe(url(two));
    expect((await at(two)).status).toBe(200);
  });

  test("a page that was served before is not shown again under the former name", async () => {
    const site = await owned(ann, "kept in the cache");
    for (let i = 0; i < 3; i++) expect((await at(site.slug)).status).toBe(200);
    const now = fresh();
    const { headers } = await at(site.slug);
    await renamed(site, now, ann);
    const again = await at(site.slug, "/", { headers: { "if-none-match": headers.get("etag")! } });
    expect(again).toMatchObject({ status: 308, text: "" });
    expect((await at(now)).headers.get("etag")).toBe(headers.get("etag"));
  });

  test("a deploy under the former name's link is seen under the present one", async () => {
    const site = await moved();
    await server.redeploy(site, { "index.html": "newer words" });
    expect((await at(site.now)).text).toContain("newer words");
    expect((await at(site.slug)).status).toBe(308);
  });

  test("nobody else's content is ever at a former name", async () => {
    const site = await moved();
    const ben = await signUp(server);
    const other = await owned(ben, "somebody else");
    for (const slug of [site.slug, site.now])
      expect((await rename(other, slug, ben)).status).toBeGreaterThanOrEqual(400);
    await call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, ann.bearer);
    for (const slug of [site.slug, site.now]) {
      expect((await rename(other, slug, ben)).status).toBeGreaterThanOrEqual(400);
      expect(await at(slug)).toMatchObject({ status: 404, location: null });
    }
  });
});

describe("BEYOND 17: the site's state at a former name", () => {
  test("frozen and in quarantine it is 308 and says nothing of the site", async () => {
    const [live, frozen, held] = [await moved(), await moved(), await moved()];
    server.freeze(frozen);
    server.quarantine(held);
    const of = async ({ slug }: NamedSite) => {
      const { status, headers } = await at(slug);
      const names = [...headers.keys()].filter((name) => !["date", "location"].includes(name));
      return [status, names.toSorted()];
    };
    for (const site of [frozen, held]) expect(await of(site)).toEqual(await of(live));
  });

  test("disabled it is 451 with the reason, and 308 again once it is enabled", async () => {
    const site = await moved();
    server.disable(site, "phishing");
    const { status, text, location } = await at(site.slug, "/a", { headers: { accept: "application/json" } });
    expect([status, location, text]).toEqual([451, null, expect.stringContaining("phishing")]);
    server.enable(site);
    expect((await at(site.slug, "/a")).location).toBe(url(site.now, "/a"));
  });

  test("deleted by its owner, by its account's end and by the operator, all its names are 404 for good", async () => {
    const ben = await signUp(server);
    const bens = await owned(ben);
    const last = fresh();
    await renamed(bens, last, ben);
    const [own, operators] = [await moved(), await moved()];
    await call(server, "DELETE", `/account/sites/${own.site_id}`, undefined, ann.bearer);
    await call(server, "DELETE", "/account", undefined, ben.bearer);
    await operate(server.data_dir, "delete", operators.slug);
    await server.running.store.sweep(server.now());
    for (const slug of [own.slug, own.now, bens.slug, last, operators.slug, operators.now]) {
      const { status, text } = await at(slug, "/", { headers: { accept: "application/json" } });
      expect([status, JSON.parse(text).code]).toEqual([404, "unknown_host"]);
    }
  });

  test("one that an operator named, and that nobody owned, is 410 under all names when its time is over", async () => {
    const site = await server.deploy({ "index.html": "unowned" });
    const now = fresh();
    await operate(server.data_dir, "rename", site.slug, now);
    expect((await at(site.slug)).location).toBe(url(now));
    server.expire(site);
    for (const slug of [site.slug, now]) expect((await at(slug)).status).toBe(410);
    await server.running.store.sweep(server.now());
    for (const slug of [site.slug, now]) expect((await at(slug)).status).toBe(410);
  });
});

describe("BEYOND 17: what answers on a former name itself", () => {
  const report = { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ reason: "spam" }) };
  test("/_svc/report takes reports on both, and the operator sees the site", async () => {
    const site = await moved();
    for (const slug of [site.slug, site.now]) expect((await at(slug, "/_svc/report", report)).status).toBe(202);
    const reports = await listed<{ site_id: string; slug: string }>(server.data_dir, "reports");
    expect(reports.filter(({ site_id }) => site_id === site.site_id).map(({ slug }) => slug)).toEqual([
      site.now,
      site.now,
    ]);
    const headers = { ...JSON_TYPE, origin: `http://evil.example` };
    expect((await at(site.slug, "/_svc/report", { ...report, headers })).status).toBe(403);
  });

  test("the widget's scripts answer, for a page that is still open there; comments are at the present name", async () => {
    const site = await moved();
    await call(server, "PATCH", `/sites/${site.site_id}/comments/settings`, { mode: "anonymous" }, ann.bearer);
    const { text } = await at(site.now);
    const script = /src="?(\/_svc\/[^"\s>]+)/.exec(text)?.[1];
    expect(script).toBeDefined();
    expect((await at(site.slug, script)).status).toBe(200);
    const posted = { method: "POST", headers: JSON_TYPE, body: "{}" };
    const comments = "/_svc/comments/";
    expect(await at(site.slug, comments, posted)).toMatchObject({ status: 308, location: url(site.now, comments) });
  });

  test("threads and their ids stay: the address of a comment leads to it", async () => {
    const site = await owned(ann, "Deploys finish in two seconds.");
    await call(server, "PATCH", `/sites/${site.site_id}/comments/settings`, { mode: "anonymous" }, ann.bearer);
    const body = { type: "TextualBody", value: "Is it?" };
    const origin = url(site.slug, "");
    const posted = await server.site(site.slug, "/_svc/comments/", {
      method: "POST",
      headers: { ...JSON_TYPE, origin },
      body: JSON.stringify({ type: "Annotation", motivation: "commenting", body, target: `${origin}/` }),
    });
    expect(posted.status).toBe(201);
    const { pathname } = new URL(posted.headers.get("location")!, origin);
    const now = fresh();
    await renamed(site, now, ann);
    expect(await at(site.slug, pathname)).toMatchObject({ status: 308, location: url(now, pathname) });
    expect(await at(now, pathname)).toMatchObject({ status: 200, text: expect.stringContaining("Is it?") });
    const feed = await at(now, "/comments.json");
    expect([feed.text.includes(url(now, "")), feed.text.includes(origin)]).toEqual([true, false]);
    expect(await at(site.slug, "/comments.json")).toMatchObject({ status: 308, location: url(now, "/comments.json") });
  });
});

describe("BEYOND 17: explanations, and the operator", () => {
  const explained = async (site: DeployResult, asked: string) =>
    await call(server, "GET", `/sites/${site.site_id}/explain?url=${encodeURIComponent(asked)}`, undefined, ann.bearer);

  test("an address on a former name is explained as it answers", async () => {
    const site = await moved();
    expect(await explained(site, url(site.slug, "/a?b"))).toMatchObject({
      status: 200,
      body: {
        url: url(site.slug, "/a?b"),
        status: 308,
        by: "former_name",
        location: url(site.now, "/a?b"),
        live: true,
      },
    });
    const version = `${site.version_id}--${site.slug}`;
    expect((await explained(site, url(version))).body).toMatchObject({ by: "former_name" });
    expect((await explained(site, url(`gone--${site.slug}`))).status).toBe(400);
    expect((await explained(await moved(), url(site.slug))).status).toBe(400);
  });

  test("svc-server rename is bound by the form and by names that others have or had, and by nothing else", async () => {
    const [site, other] = [await owned(ann), await moved()];
    const by = (...words: string[]) => operator(server.data_dir, ["rename", ...words]);
    for (const [slug, says] of [
      ["www", "kept for the service"],
      ["my_garden", "lower-case letters"],
      ["paypal-login", "PayPal"],
      [other.slug, "another site's"],
      [other.now, "another site's"],
    ] as const) {
      const { code, stdout, stderr } = await by(site.site_id, slug);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(says)]);
    }
    server.freeze(site);
    for (let i = 0; i < 12; i++) expect((await by(site.slug, `operators-name-${i}`)).code).toBe(0);
    const { code, stdout } = await by(url("operators-name-3"), site.slug);
    expect([code, stdout]).toEqual([0, `${url(site.slug, "")}\n`]);
    expect((await at("operators-name-11")).location).toBe(url(site.slug));
    const rows = await listed<AuditLine>(server.data_dir, "audit");
    const last = rows.findLast(({ site_id }) => site_id === site.site_id);
    expect(last).toMatchObject({
      actor: "operator",
      action: "rename",
      reason: `from operators-name-11 to ${site.slug}`,
    });
    expect((await by(site.site_id)).code).toBe(2);
    expect((await by("site_00000000000000000000", "some-name")).code).toBe(1);
  });

  test("an operator's command finds a site by a former name, and says of one that is gone when it went", async () => {
    const site = await moved();
    await operate(server.data_dir, "freeze", url(site.slug, "/some/page"));
    expect((await call(server, "GET", `/sites/${site.site_id}`, undefined, ann.bearer)).body).toMatchObject({
      state: "frozen",
    });
    await operate(server.data_dir, "delete", site.slug);
    const { code, stderr } = await operator(server.data_dir, ["freeze", site.slug]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is gone: deleted")]);
    expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  });

  test("svc-server verify says where a former name leads to no site", async () => {
    const site = await moved();
    const astray = "insert into former_slugs (slug, site_id, left_at) values (?, ?, ?)";
    write(server.data_dir, astray, "leads-nowhere", "site_none", "2026-11-21");
    const { code, stdout, stderr } = await operator(server.data_dir, ["verify"]);
    write(server.data_dir, "delete from former_slugs where slug = ?", "leads-nowhere");
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("leads-nowhere")]);
    expect(stdout + stderr).not.toContain(site.slug);
  });
});
