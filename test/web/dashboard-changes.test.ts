/** WEB 6: what one version of a site has otherwise than another. */
import { describe, expect, test } from "bun:test";
import { type Contents, type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { decoded, visitorOf } from "../kit/visitor.ts";

const server = await sharedServer();
const ann = await visitorOf(server);

const INDEX = "<!doctype html><title>x</title>";
/** As many bytes. */
const sized = (bytes: number): string => "x".repeat(bytes);

async function versionsOf(...all: Contents[]): Promise<{ site: DeployResult; ids: string[]; path: string }> {
  const site = await ann.deploy(all[0]!);
  const ids = [site.version_id];
  for (const files of all.slice(1)) ids.push((await ann.redeploy(site, files)).version_id);
  return { site, ids, path: `/dashboard/sites/${site.site_id}/changes` };
}
const hostOf = (version_id: string, { url }: DeployResult): string => url.replace("://", `://${version_id}--`);

/** What stands under a heading: [path, address, sizes]. */
function under(html: string, heading: string): string[][] {
  const section = html.split(new RegExp(`<h2>\\s*${heading} \\(\\d+\\)\\s*</h2>`))[1]?.split("</section>")[0] ?? "";
  const items = section.matchAll(/href="([^"]*)"[^>]*>\s*([^<]*?)\s*<\/a\s*>\s*<span class="size">\s*([^<]*?)\s*</g);
  return [...items].map(([, href, path, size]) => [path!, href!, size!].map(decoded));
}

describe("two versions", () => {
  const BEFORE = {
    "index.html": INDEX,
    "a.txt": sized(1229),
    "gone.txt": sized(10),
    "same.txt": "same",
    "b.txt": sized(2048),
  };
  const AFTER = {
    "index.html": INDEX,
    "a.txt": sized(3482),
    "same.txt": "same",
    "b.txt": sized(1024),
    "new file.txt": sized(20),
  };

  test("WEB 6: added, changed and removed files with sizes, each a link to the version that has it", async () => {
    const { site, ids, path } = await versionsOf(BEFORE, AFTER);
    const { status, title, text, html } = await ann.read(path);
    expect([status, title]).toEqual([200, `Changes in ${site.slug} · svc`]);
    expect(text).toContain("1 added, 2 changed, 1 removed, 2 unchanged");
    const [old, fresh] = [hostOf(ids[0]!, site), hostOf(ids[1]!, site)];
    expect(text).toContain("Added (1)");
    expect(under(html, "Added")).toEqual([["new file.txt", `${fresh}/new%20file.txt`, "20 B"]]);
    expect(under(html, "Changed")).toEqual([
      ["a.txt", `${fresh}/a.txt`, "1.2 KB → 3.4 KB (+2.2 KB)"],
      ["b.txt", `${fresh}/b.txt`, "2 KB → 1 KB (−1 KB)"],
    ]);
    expect(under(html, "Removed")).toEqual([["gone.txt", `${old}/gone.txt`, "10 B"]]);
    for (const [, href] of [...under(html, "Added"), ...under(html, "Removed")]) {
      const { hostname, pathname } = new URL(href!);
      expect((await server.site(hostname.split(".")[0]!, pathname)).status).toBe(200);
    }
  });

  test("WEB 6: without `to` the live one, without `from` the one made before `to`", async () => {
    const { ids, path, site } = await versionsOf(BEFORE, AFTER, { "index.html": INDEX });
    const chosen = (html: string) => [...html.matchAll(/value="([0-9a-f]{16})"\s+selected/g)].map(([, id]) => id!);
    expect(chosen((await ann.read(path)).html)).toEqual([ids[1]!, ids[2]!]);
    expect(chosen((await ann.read(`${path}?to=${ids[1]}`)).html)).toEqual([ids[0]!, ids[1]!]);
    expect(chosen((await ann.read(`${path}?from=${ids[2]}&to=${ids[0]}`)).html)).toEqual([ids[2]!, ids[0]!]);
    expect(chosen((await ann.read(`${path}?from=&to=${ids[2]}`)).html)).toEqual([ids[1]!, ids[2]!]);
    await ann.send(`/dashboard/sites/${site.site_id}/rollback`, { version_id: ids[1]! });
    expect(chosen((await ann.read(`${path}?from=${ids[2]}`)).html)).toEqual([ids[2]!, ids[1]!]);
  });

  test("WEB 6: of the first one everything is added", async () => {
    const { ids, path } = await versionsOf(BEFORE, AFTER);
    const { text } = await ann.read(`${path}?to=${ids[0]}`);
    expect(text).toContain("5 added, 0 changed, 0 removed, 0 unchanged");
  });

  test("WEB 6: a version with itself, and one that came back, hold the same files", async () => {
    const { ids, path } = await versionsOf(BEFORE, AFTER);
    const { text, html } = await ann.read(`${path}?from=${ids[0]}&to=${ids[0]}`);
    expect(text).toContain("The two versions hold the same files.");
    expect(html).not.toContain("<h2>");
  });

  test.each(["from", "to"])("WEB 6: an unknown version in `%s` is 404", async (name) => {
    const { path } = await versionsOf(BEFORE);
    const other = await versionsOf(AFTER);
    for (const id of ["0123456789abcdef", "<b>", other.ids[0]!]) {
      const { status, text } = await ann.read(`${path}?${new URLSearchParams({ [name]: id })}`);
      expect(status).toBe(404);
      expect(text).toContain("Unknown version");
    }
  });

  test("WEB 6: files that the service made are none of it: those of the dry run alone", async () => {
    const { path } = await versionsOf(
      { "README.md": "# One", "docs/a.md": "# A" },
      { "README.md": "# Two", "docs/a.md": "# A" },
    );
    const { text, html } = await ann.read(path);
    expect(text).toContain("0 added, 1 changed, 0 removed, 1 unchanged");
    expect(under(html, "Changed").map(([name]) => name)).toEqual(["README.md"]);
  });
});

describe("many, and odd ones", () => {
  test("WEB 6: 200 files with odd names are told as they are, and found where they lead", async () => {
    const names = ["100%.txt", "a b#c?d.txt", "é.txt", "שלום.txt", `${"n".repeat(200)}.txt`, "a&amp;b.txt", "it's.txt"];
    const odd = Object.fromEntries(names.map((name) => [name, name]));
    const many = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`folder/file-${i}.txt`, `${i}`]));
    const { path } = await versionsOf({ "index.html": INDEX }, { "index.html": INDEX, ...many, ...odd });
    const { text, html } = await ann.read(path);
    expect(text).toContain("197 added, 0 changed, 0 removed, 1 unchanged");
    const told = under(html, "Added");
    expect(told).toHaveLength(197);
    for (const name of names) {
      const [, href] = told.find(([shown]) => shown === name)!;
      const { hostname, pathname } = new URL(href!);
      const response = await server.site(hostname.split(".")[0]!, pathname);
      expect([name, response.status, await response.text()]).toEqual([name, 200, name]);
    }
  });
});
