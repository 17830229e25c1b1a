/** WEB 1.10, and that no page leads nowhere: every link and form of what an account sees, from its first page on. */
import { beforeAll, expect, test } from "bun:test";
import { pageOf, previewing } from "../deploys/previewing.ts";
import { sharedServer } from "../kit/shared.ts";
import { decoded, type Visitor, visitorOf } from "../kit/visitor.ts";

let ann: Visitor;
/** Each page that was met, by its path. */
const pages = new Map<string, string>();

const { make } = previewing(() => server);
const tagsOf = (html: string, name: string): string[] => html.match(new RegExp(`<${name}\\s[^>]*>`, "g")) ?? [];
const valueOf = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return found === undefined ? undefined : decoded(found);
};
/** As a browser that stands on a page takes an address. */
const urlOf = (href: string, path: string): URL => new URL(href, server.base_url + path);
const isOwn = (url: URL): boolean => url.origin === server.base_url;

const server = await sharedServer({ SVC_CONTACT: "https://help.example/contact" });
beforeAll(async () => {
  ann = await visitorOf(server);
  const broken = Array.from({ length: 9 }, (_, i) => `<img src="${i}.png">`).join("");
  const site = await ann.deploy(pageOf("one", { "a&b é.txt": "x" }));
  await ann.redeploy(site, pageOf(`two ${broken}`));
  await make(site, pageOf("three"), "next");
  await make(site, pageOf("four"));
  await ann.send(`/dashboard/sites/${site.site_id}/comments/settings`, { mode: "anonymous" });
  server.freeze(await ann.deploy(pageOf("frozen")));
  for (const waiting = ["/", "/dashboard"]; waiting.length > 0;) {
    const path = waiting.pop()!;
    if (pages.has(path)) continue;
    const { status, html } = await ann.read(path);
    expect([path, status]).toEqual([path, 200]);
    pages.set(path, html);
    for (const tag of tagsOf(html, "a")) {
      const url = urlOf(valueOf(tag, "href")!, path);
      if (isOwn(url) && !/^\/(?:docs|llms\.txt)/.test(url.pathname)) waiting.push(url.pathname + url.search);
    }
  }
}, 60_000);

test("every page that is linked is there, and those that an account has are among them", () => {
  const found = [...pages.keys()].map((path) =>
    path
      .replace(/site_\w+/, "x")
      .replace(/versions\/\w+/, "versions/x")
      .replace(/\?.*/, ""),
  );
  expect([...new Set(found)].toSorted()).toEqual([
    "/",
    "/dashboard",
    "/dashboard/account",
    "/dashboard/account/delete",
    "/dashboard/account/tokens",
    "/dashboard/sites/x",
    "/dashboard/sites/x/changes",
    "/dashboard/sites/x/comments",
    "/dashboard/sites/x/delete",
    "/dashboard/sites/x/domains",
    "/dashboard/sites/x/previews",
    "/dashboard/sites/x/rules",
    "/dashboard/sites/x/settings",
    "/dashboard/sites/x/statistics",
    "/dashboard/sites/x/versions",
    "/dashboard/sites/x/versions/x/delete",
  ]);
});

test("WEB 1.10: links to sites open in the same tab with rel=noopener, lead where something is, and nothing is embedded", async () => {
  const others = new Set<string>();
  for (const [path, html] of pages) {
    expect([path, html.match(/<(?:iframe|object|embed|frame|portal)\b|\starget=/g)]).toEqual([path, null]);
    for (const tag of tagsOf(html, "a")) {
      const url = urlOf(valueOf(tag, "href")!, path);
      if (!url.hostname.endsWith(".localhost")) continue;
      expect([path, tag, valueOf(tag, "rel")]).toEqual([path, tag, "noopener"]);
      others.add(url.href);
    }
  }
  // The live site, its two versions with a file each, and both previews.
  expect(others.size).toBeGreaterThan(5);
  for (const href of others) {
    const { host, pathname } = new URL(href);
    expect([href, (await server.api(pathname, { headers: { host } })).status]).toEqual([href, 200]);
  }
});

test("WEB 1.4: every form goes to an address that takes it, by its proof", async () => {
  const actions = new Set<string>();
  for (const [path, html] of pages)
    for (const tag of tagsOf(html, "form")) {
      const action = urlOf(valueOf(tag, "action") ?? "", path).pathname;
      const posts = valueOf(tag, "method")?.toLowerCase() === "post";
      if (!posts)
        expect([action, [200, 303]]).toEqual([action, expect.arrayContaining([(await ann.read(action)).status])]);
      else actions.add(action);
    }
  expect(actions.size).toBeGreaterThan(8);
  const headers = { cookie: ann.cookie, accept: "text/html", origin: server.base_url };
  for (const action of actions) {
    const { status } = await server.api(action, { method: "POST", headers, body: new URLSearchParams() });
    expect([action, status]).toEqual([action, 403]);
  }
});
