/** RELIABILITY 3 over HTTP: what became of an archive's names. */
import { beforeAll, describe, expect, test } from "bun:test";
import { accept } from "../kit/ingesting.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { buildZip, type Member } from "../kit/zip.ts";

const server = await sharedServer();

describe("odd names are reachable by their percent-encoded URL", () => {
  const urls: Record<string, string> = {
    ".../x": "/.../x",
    "a..b": "/a..b",
    "~/x": "/~/x",
    "%2e%2e/x": "/%252e%252e/x",
    "a%20b": "/a%2520b",
    "a#b?c": "/a%23b%3Fc",
    "a b": "/a%20b",
    "a+b": "/a+b",
    "🎉.txt": "/%F0%9F%8E%89.txt",
    "A.txt": "/A.txt",
    "a.txt": "/a.txt",
    ["__proto__"]: "/__proto__",
    constructor: "/constructor",
    toString: "/toString",
    "x/__proto__/y": "/x/__proto__/y",
    "CON.txt": "/CON.txt",
    "a.txt:evil": "/a.txt:evil",
    "d\\e": "/d/e",
    "cafe\u0301": "/caf%C3%A9",
    ".htaccess": "/.htaccess",
    ".well-known/x": "/.well-known/x",
    "comments.json": "/comments.json",
    "index.html/y": "/index.html/y",
  };
  let site: DeployResult;
  beforeAll(async () => {
    const members = Object.keys(urls).map((name): Member => ({ name, data: `content of ${name}` }));
    const hidden: Member[] = ["_svc/x", ".well-known/acme-challenge/x", ".env"].map((name) => ({
      name,
      data: "hidden",
    }));
    site = (await (await server.post(buildZip([...members, ...hidden]))).json()) as DeployResult;
  });
  test.each(Object.entries(urls).map(([name, url]) => [name, url] as const))(
    "Z55, Z59, Z61, Z64, Z65, Z75, Z76: %s at %s",
    async (name, url) => {
      const response = await server.site(site.slug, url);
      expect([response.status, await response.text()]).toEqual([200, `content of ${name}`]);
    },
  );
  test("the table has a row for __proto__, which a careless object would lose", () =>
    expect(Object.keys(urls)).toContain("__proto__"));
  test.each(["/_svc/x", "/.well-known/acme-challenge/x", "/.env"])("Z75, Z76: %s is never served", async (path) => {
    const response = await server.site(site.slug, path);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain("hidden");
  });
  test("their warnings are in the answer", () => {
    const codes = new Set(site.warnings.map(({ code }) => code));
    expect([...codes].sort()).toEqual([
      "case_collision",
      "reserved_path",
      "secret_file_dropped",
      "windows_unsafe_name",
    ]);
    expect(site.healed.map(({ code }) => code)).toContain("backslash_paths");
  });
});

describe("what answers / after clean-up", () => {
  test.each<[id: string, what: string, files: Record<string, string>, healed: string[], page: string]>([
    ["Z56", "index.html is a folder", { "index.html/a.txt": "a", "b.txt": "b" }, ["index_generated"], "b.txt"],
    ["Z73", "one folder around all", { "site/index.html": "the page" }, ["stripped_root_folder"], "the page"],
    [
      "Z73",
      "an index two levels down",
      { "a/b/index.html": "x", "a/b/y": "" },
      ["stripped_root_folder", "index_generated"],
      "b/index.html",
    ],
    ["Z74", "INDEX.HTML", { "INDEX.HTML": "the page" }, ["index_case_fixed"], "the page"],
    ["Z74", "index.htm", { "index.htm": "the page" }, ["index_case_fixed"], "the page"],
  ])("%s: %s", async (_id, _what, files, healed, page) => {
    const site = await server.deploy(files);
    expect(site.healed.map(({ code }) => code as string)).toEqual(healed);
    const response = await server.site(site.slug, "/", { headers: { accept: "text/html" } });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(page);
  });
  test("Z74: an index.html of 0 bytes is served as it is", async () => {
    const site = await server.deploy({ "index.html": "" });
    const response = await server.site(site.slug);
    expect([response.status, site.healed]).toEqual([200, []]);
  });
});
