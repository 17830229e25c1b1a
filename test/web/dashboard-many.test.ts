/** WEB 5 and 6 with 600 sites and 1,000 versions: pages stay light, and each has its own rows. */
import { beforeAll, describe, expect, test } from "bun:test";
import { addSites, addVersions } from "../kit/many.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";

let ann: Visitor;
let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  ann = await visitorOf(server);
  site = await ann.deploy({ "index.html": `<!doctype html><title>${"A long title ".repeat(15)}</title>x` });
  await ann.change(site, { label: "The first of them" });
  addSites(server.data_dir, site, 599);
  addVersions(server.data_dir, site, 999);
}, 60_000);

/** Of the page as a browser gets it. */
async function weight(path: string): Promise<number> {
  const headers = { cookie: ann.cookie, accept: "text/html", "accept-encoding": "gzip, br, zstd" };
  const response = await server.api(path, { headers, decompress: false } as RequestInit);
  expect(response.status).toBe(200);
  return (await response.arrayBuffer()).byteLength;
}
const LIGHT = 30 * 1024; // stylesheet, scripts and icon make up the 40 KB

describe("600 sites", () => {
  test("WEB 5: each stands on one of twelve pages, in every order", async () => {
    for (const sort of ["deployed", "created", "name"]) {
      const seen = new Set<string>();
      for (let page = 1; page <= 12; page++) {
        const { html, text } = await ann.read(`/dashboard?sort=${sort}&page=${page}`);
        expect(text).toContain(`Page ${page} of 12`);
        for (const [, id] of html.matchAll(/name="site"\s+value="([^"]+)"/g)) seen.add(id!);
      }
      expect(seen.size).toBe(600);
    }
  });

  test("WEB 5: a search looks through all of them", async () => {
    const { text } = await ann.read("/dashboard?q=many-59");
    expect(text).toContain("11 of 600 sites match “many-59”");
    expect((await ann.read("/dashboard?q=first+of")).text).toContain("600 of 600 sites match");
  });

  test("WEB 5: a loop of searches is bounded, and neither the list nor another account's search waits for it", async () => {
    const bob = await visitorOf(server);
    await bob.deploy({ "index.html": "<title>Bob's</title>" });
    const headers = { cookie: ann.cookie, accept: "text/html" };
    const loop = Array.from({ length: 60 }, () => server.api("/dashboard?q=nowhere", { headers }));
    const [list, other] = await Promise.all([ann.read("/dashboard"), bob.read("/dashboard?q=bob")]);
    expect([list.status, other.status, other.text.includes("1 of 1 site match")]).toEqual([200, 200, true]);
    const answers = await Promise.all(loop);
    const refused = answers.filter(({ status }) => status === 503);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(refused[0]!.headers.get("retry-after")).toBe("2");
    expect(await refused[0]!.text()).toContain("Too many searches are under way.");
    expect((await ann.read("/dashboard?q=first+of")).text).toContain("600 of 600 sites match");
  });

  test("WEB 10: a page of them weighs little", async () => {
    for (const path of ["/dashboard", "/dashboard?q=first&sort=name&page=7"])
      expect(await weight(path)).toBeLessThan(LIGHT);
  });

  test("WEB 8: the account's page names the ten that take the most room, and weighs little", async () => {
    const { html, text } = await ann.read("/dashboard/account");
    expect(text).toContain("600 sites");
    expect(/aria-label="Largest sites"[\s\S]*?<\/ul>/.exec(html)![0].match(/<li>/g)).toHaveLength(10);
    expect(await weight("/dashboard/account")).toBeLessThan(LIGHT);
  });

  test("WEB 5: a hundred are deleted at once, and no other", async () => {
    const ids = Array.from({ length: 100 }, (_, i): [string, string] => [
      "site",
      `site_many${String(i + 1).padStart(16, "0")}`,
    ]);
    const { text } = await ann.read(`/dashboard/delete?${new URLSearchParams(ids)}`);
    expect(text).toContain("Type delete 100 sites to confirm");
    const { location } = await ann.send("/dashboard/delete", [...ids, ["confirm", "delete 100 sites"]]);
    expect(location).toBe("/dashboard?done=deleted");
    expect((await ann.read(location!)).text).toContain("500 sites");
  });
});

describe("1,000 versions", () => {
  const path = () => `/dashboard/sites/${site.site_id}`;

  test("WEB 6: twenty stand on each of fifty pages", async () => {
    const seen = new Set<string>();
    for (const page of [1, 25, 50]) {
      const { html, text } = await ann.read(`${path()}/versions?page=${page}`);
      expect(text).toContain(`Page ${page} of 50`);
      for (const [, id] of html.matchAll(/<code title="([0-9a-f]{16})">/g)) seen.add(id!);
    }
    expect(seen.size).toBe(60);
    expect(seen).toContain(site.version_id);
  });

  test("WEB 10: a page of them, and the choice of two among all, weigh little", async () => {
    expect(await weight(path())).toBeLessThan(LIGHT);
    expect(await weight(`${path()}/versions`)).toBeLessThan(LIGHT);
    expect(await weight(`${path()}/changes`)).toBeLessThan(LIGHT);
    const { html } = await ann.read(`${path()}/changes`);
    expect(html.match(/<option value="[0-9a-f]{16}"/g)).toHaveLength(2000);
  });
});

test("WEB 10: of 2,000 rules and as many headers' lines a page weighs little, explained or not", async () => {
  const name = "a-rather-long-name-of-a-page";
  const own = await ann.deploy({
    "index.html": "<title>x</title>",
    _redirects: Array.from({ length: 2000 }, (_, i) => `/${i}-${name} /new 301`).join("\n"),
    _headers: `/*\n${Array.from({ length: 2000 }, (_, i) => `  X-${i}-${name}: ${i}`).join("\n")}\n`,
  });
  const path = `/dashboard/sites/${own.site_id}/rules`;
  for (const query of ["", "?page=21", "?page=41", "?show=warned", "?url=/", `?url=/7-${name}`])
    expect(await weight(path + query)).toBeLessThan(LIGHT);
  expect((await ann.read(`${path}?page=41`)).text).toContain("Page 41 of 41");
});
