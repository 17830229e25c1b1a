/** WEB 1.7 and 1.9: what strangers send is text on every page of the dashboard, and no foreign page writes through it. */
import { DASHBOARD } from "../../src/web/dashboard/index.ts";
import { beforeAll, describe, expect, test } from "bun:test";
import { submit } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { seen, visitorOf } from "../kit/visitor.ts";

const server = await sharedServer();
const ann = await visitorOf(server);

const PROBE = `"><img src=x onerror=alert(1)><script>alert(1)</script>'`;
const PROBE_PATH = `<img src=x onerror=alert(1)>'&quot;.txt`;
const ENTITIES = PROBE.replaceAll("<", "&lt;");

/** Nothing but elements of our own is in there. */
async function expectHarmless(html: string): Promise<void> {
  const odd: string[] = [];
  const element = ({ tagName, attributes }: HTMLRewriterTypes.Element): void => {
    const all = [...attributes];
    for (const [name, value] of all) {
      if (/^on|^style$/.test(name)) odd.push(`${tagName} ${name}`);
      if (tagName === "script" && name === "src" && !value.startsWith("/assets/")) odd.push(value);
      if (name === "href" && !/^(?:https?:|mailto:|\/(?!\/)|#)/.test(value)) odd.push(value);
    }
    if (tagName === "img") odd.push(tagName);
    if (tagName === "script" && !all.some(([name]) => name === "src")) odd.push("script of its own");
  };
  await new HTMLRewriter().on("*", { element }).transform(new Response(html)).text();
  expect(odd).toEqual([]);
}

describe("what strangers send", () => {
  let site: DeployResult;
  let pages: string[];
  beforeAll(async () => {
    site = await ann.deploy({ "index.html": `<!doctype html><title>${ENTITIES}</title>x` });
    const files = {
      "index.html": `<!doctype html><title>${ENTITIES}</title><img src="${PROBE_PATH}x">`,
      [PROBE_PATH]: "x",
      _redirects: `/a${PROBE.replaceAll(" ", "")} /b\n${PROBE}\n`,
      _headers: `/${PROBE.replaceAll(" ", "")}\n  X-A: ${PROBE}\n  ${PROBE}\n`,
    };
    await ann.redeploy(site, files);
    await ann.change(site, { label: PROBE });
    const probe = encodeURIComponent(PROBE);
    await submit(
      server,
      "/signin",
      { email: ann.person.email, password: "correct horse battery" },
      { "user-agent": PROBE },
    );
    const own = `/dashboard/sites/${site.site_id}`;
    pages = [
      "/dashboard",
      `/dashboard?q=${probe}&sort=${probe}&page=${probe}&done=${probe}`,
      `/dashboard/delete?site=${site.site_id}&q=${probe}&sort=${probe}&page=${probe}`,
      own,
      `${own}?done=${probe}&page=${probe}`,
      `${own}/changes`,
      `${own}/changes?from=${probe}`,
      `${own}/rules`,
      `${own}/rules?url=${encodeURIComponent(`/${PROBE}`)}&show=${probe}&page=${probe}`,
      `${own}/rules?url=${probe}&method=${probe}`,
      `${own}/rules?url=/&accept_encoding=${probe}&sec_fetch_dest=${probe}&sec_fetch_site=${probe}`,
      `${own}/delete`,
      "/dashboard/account",
      "/dashboard/account/delete",
      `/dashboard/sites/${probe}`,
      `/dashboard/${probe}`,
      `${own}/versions/${site.version_id}/delete`,
    ];
  });

  test("WEB 1.9: label, title, path, client's name and what an address says are text on every page", async () => {
    for (const path of pages) await expectHarmless((await ann.read(path)).html);
    const { text } = await ann.read(pages[0]!);
    expect(text).toContain(PROBE);
    expect((await ann.read("/dashboard/account")).text).toContain(PROBE);
    expect((await ann.read(pages[5]!)).text).toContain(PROBE_PATH);
  });

  test("WEB 1.9: what a refused form held is text, too", async () => {
    const own = `/dashboard/sites/${site.site_id}`;
    const sent: [string, Record<string, string>][] = [
      [`${own}/settings`, { label: PROBE.repeat(3), spa: PROBE }],
      [`${own}/delete`, { confirm: PROBE }],
      [`${own}/versions/${site.version_id}/delete`, { confirm: PROBE }],
      [`${own}/rollback`, { version_id: PROBE }],
      [`${own}/slug`, { slug: PROBE }],
      [`${own}/skew`, { skew: PROBE }],
      [`${own}/access`, { password: PROBE.repeat(300) }],
      ["/dashboard/delete", { site: site.site_id, confirm: PROBE }],
    ];
    for (const [path, fields] of sent) {
      const { status, html } = await ann.send(path, fields);
      expect(status).toBeGreaterThanOrEqual(400);
      await expectHarmless(html);
    }
  });

  test("WEB 1.9: a blank title is Untitled, and text in elements of its own goes its own way", async () => {
    const blank = await ann.deploy({ "index.html": "<!doctype html><title> </title>x" });
    await ann.change(blank, { label: "שלום" });
    const { html, text } = await ann.read("/dashboard");
    expect(text).toContain("Untitled");
    expect(html).toMatch(/dir="auto"\s*>\s*שלום/);
    expect(html).toMatch(/<span dir="auto">Untitled<\/span>/);
  });
});

describe("forged writes", () => {
  const FORMS = (site: string): [string, Record<string, string>][] => [
    ["/dashboard/delete", { site, confirm: "delete 1 site" }],
    [`/dashboard/sites/${site}/settings`, { label: "forged", spa: "on" }],
    [`/dashboard/sites/${site}/rollback`, { version_id: "0".repeat(16) }],
    [`/dashboard/sites/${site}/slug`, { slug: "forged-name" }],
    [`/dashboard/sites/${site}/access`, { password: "forged password" }],
    [`/dashboard/sites/${site}/skew`, { skew: "off" }],
    [`/dashboard/sites/${site}/previews`, { end: "x" }],
    [`/dashboard/sites/${site}/domains`, { domain: "www.example.org" }],
    [`/dashboard/sites/${site}/statistics`, { stats: "off" }],
    [`/dashboard/sites/${site}/delete`, { confirm: "x" }],
    [`/dashboard/sites/${site}/versions/0123456789abcdef/delete`, { confirm: "delete" }],
    [`/dashboard/sites/${site}/comments/settings`, { mode: "anonymous" }],
    [`/dashboard/sites/${site}/comments/decide`, { delete: "c_x" }],
    [`/dashboard/sites/${site}/comments/c_x/reply`, { text: "forged" }],
    [`/dashboard/sites/${site}/comments/resend`, { letter: "msg_x" }],
    [`/dashboard/sites/${site}/comments/owner`, {}],
    ["/dashboard/account/sessions/end-others", {}],
    ["/dashboard/account/sessions/sess_x/end", {}],
    ["/dashboard/account/tokens", { name: "x", scope: "read" }],
    ["/dashboard/account/tokens/tok_x/revoke", {}],
    [`/dashboard/sites/${site}/comments/tokens/agent_x/revoke`, {}],
    [`/dashboard/sites/${site}/comments/webhook/remove`, {}],
  ];

  test("every form of the dashboard is among them, or has tests of its own for it", () => {
    const tried = FORMS(":id").map(([path]) =>
      path
        .replace(/(?:sess|tok)_x/, ":id")
        .replace("agent_x", ":token")
        .replace("c_x", ":comment")
        .replace(/[0-9a-f]{16}/, ":version_id"),
    );
    const posts = DASHBOARD.filter(([method]) => method === "POST").map(([, path]) => path);
    const elsewhere = ["sites/:id/deploys", "account/password", "account/delete"].map((path) => `/dashboard/${path}`);
    expect(posts.filter((path) => !tried.includes(path))).toEqual(elsewhere);
  });

  test("WEB 1.7: no form of the dashboard is taken without its proof, or from another origin", async () => {
    const { site_id } = await ann.deploy({ "index.html": "<title>x</title>" });
    const bob = await visitorOf(server);
    const { cookie, csrf } = ann;
    for (const [path, fields] of FORMS(site_id)) {
      const tries: [Record<string, string>, Record<string, string>][] = [
        [fields, { cookie }],
        [{ ...fields, csrf: "x" }, { cookie }],
        [{ ...fields, csrf: bob.csrf }, { cookie }],
        [
          { ...fields, csrf },
          { cookie, origin: `http://evil.localhost:${server.port}` },
        ],
        [
          { ...fields, csrf },
          { cookie, origin: "null" },
        ],
        [
          { ...fields, csrf },
          { cookie, "sec-fetch-site": "same-site" },
        ],
        [
          { ...fields, csrf },
          { cookie, "sec-fetch-site": "cross-site" },
        ],
      ];
      for (const [sent, headers] of tries) {
        const { status, text } = await seen(await submit(server, path, sent, headers));
        expect([path, status]).toEqual([path, 403]);
        expect(text).toContain("Go back, reload, and try again.");
      }
    }
    expect((await server.running.store.sites.byId(site_id))!.label).toBeNull();
  });

  test("WEB 1.5: without a session nothing happens, and the way leads back to the form's page", async () => {
    const { site_id } = await ann.deploy({ "index.html": "<title>x</title>" });
    const own = `/dashboard/sites/${site_id}`;
    const next: Record<string, string> = {
      [`${own}/settings`]: `${own}/settings`,
      [`${own}/rollback`]: `${own}/versions`,
      [`${own}/slug`]: `${own}/settings`,
      [`${own}/access`]: `${own}/settings`,
      [`${own}/skew`]: `${own}/settings`,
      [`${own}/previews`]: `${own}/previews`,
      [`${own}/domains`]: `${own}/domains`,
      [`${own}/statistics`]: `${own}/statistics`,
      [`${own}/delete`]: `${own}/delete`,
      [`${own}/versions/0123456789abcdef/delete`]: `${own}/versions/0123456789abcdef/delete`,
      [`${own}/comments/settings`]: `${own}/comments`,
      [`${own}/comments/decide`]: `${own}/comments`,
      [`${own}/comments/c_x/reply`]: `${own}/comments`,
      [`${own}/comments/resend`]: `${own}/comments`,
      [`${own}/comments/owner`]: `${own}/comments`,
      [`${own}/comments/tokens/agent_x/revoke`]: `${own}/comments`,
      [`${own}/comments/webhook/remove`]: `${own}/comments`,
      "/dashboard/delete": "/dashboard/delete",
      "/dashboard/account/sessions/end-others": "/dashboard/account",
      "/dashboard/account/sessions/sess_x/end": "/dashboard/account",
      "/dashboard/account/tokens": "/dashboard/account/tokens",
      "/dashboard/account/tokens/tok_x/revoke": "/dashboard/account",
    };
    for (const [path, fields] of FORMS(site_id)) {
      const { status, location } = await seen(await submit(server, path, fields));
      expect([path, status]).toEqual([path, 303]);
      expect(location).toBe(`/signin?${new URLSearchParams({ next: next[path]!, why: "signed-out" })}`);
    }
    expect((await server.running.store.sites.byId(site_id))!.label).toBeNull();
  });

  test("WEB 1.5: every page sends whoever is signed out to sign in, and back", async () => {
    for (const path of [
      "/dashboard",
      "/dashboard?q=a%26b&page=2",
      "/dashboard/delete?site=site_x",
      "/dashboard/sites/site_x",
      "/dashboard/sites/site_x/changes?to=1",
      "/dashboard/sites/site_x/rules?url=/a%26b&page=2",
      "/dashboard/sites/site_x/delete",
      "/dashboard/sites/site_x/comments?show=pending&cursor=x",
      "/dashboard/account",
      "/dashboard/account/delete",
    ]) {
      const { status, location } = await seen(await server.api(path, { headers: { accept: "text/html" } }));
      expect([status, location]).toEqual([303, `/signin?${new URLSearchParams({ next: path })}`]);
    }
  });
});
