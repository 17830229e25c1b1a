/** WEB 6: what one version of a site has otherwise than another. */
import { describe, expect, test } from "bun:test";
import { type Contents, type DeployResult, startServer } from "../kit/server.ts";
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

interface Card {
  path: string;
  /** Where it is opened. */
  href: string;
  kind: "Added" | "Removed" | "changed";
  sizes: string;
  /** Signs and texts of its lines, without those that are the same. */
  lines: string[];
}

/** The files of the page, in its order. */
const cardsIn = (html: string): Card[] =>
  [...html.matchAll(/<section class="card diff" aria-label="([^"]*)">([\s\S]*?)<\/section>/g)].map(([, path, card]) => {
    const rows = card!.matchAll(/<td class="s">([^<]*)<\/td>\s*<td dir="auto">([^<]*)<\/td>/g);
    return {
      path: decoded(path!),
      href: decoded(/href="(http[^"]*)"/.exec(card!)?.[1] ?? ""),
      kind: (/>\s*(Added|Removed)\s*</.exec(card!)?.[1] ?? "changed") as Card["kind"],
      sizes: /<span class="size">\s*([^<]*?)\s*<\/span>/.exec(card!)![1]!,
      lines: [...rows].filter(([, sign]) => sign !== "").map(([, sign, text]) => decoded(`${sign}${text}`)),
    };
  });

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

  test("WEB 6: changed, added and removed files with sizes, each a link to the version that has it", async () => {
    const { site, ids, path } = await versionsOf(BEFORE, AFTER);
    const { status, title, text, html } = await ann.read(path);
    expect([status, title]).toEqual([200, `Changes in ${site.slug} · svc`]);
    expect(text).toContain("2 changed, 1 added, 1 removed, 2 the same");
    const [old, fresh] = [hostOf(ids[0]!, site), hostOf(ids[1]!, site)];
    const told = cardsIn(html);
    expect(told.map(({ path, kind, sizes, href }) => [path, kind, sizes, href])).toEqual([
      ["a.txt", "changed", "1.2 KB → 3.4 KB", `${fresh}/a.txt`],
      ["b.txt", "changed", "2 KB → 1 KB", `${fresh}/b.txt`],
      ["new file.txt", "Added", "20 B", `${fresh}/new%20file.txt`],
      ["gone.txt", "Removed", "10 B", `${old}/gone.txt`],
    ]);
    for (const { href } of told) {
      const { hostname, pathname } = new URL(href);
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
    expect(text).toContain("5 added, 0 the same");
  });

  test("WEB 6: a version with itself, and one that came back, hold the same files", async () => {
    const { ids, path } = await versionsOf(BEFORE, AFTER);
    const { text, html } = await ann.read(`${path}?from=${ids[0]}&to=${ids[0]}`);
    expect(text).toContain("The two versions hold the same files.");
    expect(cardsIn(html)).toEqual([]);
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
    expect(text).toContain("1 changed, 1 the same +1 line −1 line");
    expect(cardsIn(html).map(({ path }) => path)).toEqual(["README.md"]);
  });
});

const numbered = (n: number, change: (i: number) => string = (i) => `line ${i}`): string =>
  Array.from({ length: n }, (_, i) => change(i + 1)).join("\n") + "\n";

describe("WEB 6: what was written", () => {
  test("the lines that went and came, with three around them, and how many between are the same", async () => {
    const { path } = await versionsOf(
      { "index.html": INDEX, "a.md": numbered(100) },
      { "index.html": INDEX, "a.md": numbered(100, (i) => (i === 50 ? "fifty\nand a half" : `line ${i}`)) },
    );
    const { html, text } = await ann.read(path);
    expect(cardsIn(html)[0]!.lines).toEqual(["−line 50", "+fifty", "+and a half"]);
    expect(text).toContain("a.md +2 −1");
    expect(text).toContain("46 lines are the same 47 47 line 47 48 48 line 48 49 49 line 49 50 − line 50 50 + fifty");
    expect(text).toContain("47 lines are the same");
  });

  test("an added text is shown, a removed one is not; a long one is folded, and whole on a page of its own", async () => {
    const { path } = await versionsOf(
      { "index.html": INDEX, "old.txt": "old\n" },
      { "index.html": INDEX, "short.txt": "one\ntwo\n", "long.txt": numbered(300) },
    );
    const { html, text } = await ann.read(path);
    const [long, short, old] = cardsIn(html);
    expect([short!.lines, old!.lines, long!.lines.length]).toEqual([["+one", "+two"], [], 60]);
    expect(text).toContain("240 more lines · Show all of long.txt");
    const whole = decoded(/href="([^"]*file=long\.txt)"/.exec(html)![1]!);
    const alone = await ann.read(whole);
    expect(cardsIn(alone.html).map((card) => [card.path, card.lines.length])).toEqual([["long.txt", 300]]);
    expect(alone.text).toContain("All changes");
  });

  test.each<[what: string, content: string | Uint8Array, name?: string]>([
    ["one of 256 KB and a byte", "x\n".repeat(1000) + sized(256 * 1024 - 1999)],
    ["one of 2,001 lines", numbered(2001)],
    ["one with a NUL", "a\0b"],
    ["one that is no UTF-8", new Uint8Array([0x61, 0xff, 0x62])],
    ["a font", "text all the same", "a.woff2"],
  ])("%s has sizes alone", async (_what, content, name = "a.txt") => {
    const { path } = await versionsOf({ "index.html": INDEX, [name]: "x" }, { "index.html": INDEX, [name]: content });
    const { status, html } = await ann.read(path);
    expect([status, cardsIn(html)[0]!.lines]).toEqual([200, []]);
    expect(html).not.toContain("<table");
  });

  test("what is written is shown as it is: no markup, no line over its length, no order of letters for its neighbours", async () => {
    const hostile = `<script>alert(1)</script>\n\u202Eabc\n${"y".repeat(5000)}\n"&amp;'\n`;
    const { path } = await versionsOf({ "index.html": INDEX }, { "index.html": INDEX, "a.txt": hostile });
    const { html } = await ann.read(path);
    expect(html).not.toContain("<script>alert");
    const { lines } = cardsIn(html)[0]!;
    expect(lines).toEqual(["+<script>alert(1)</script>", "+\\u{202e}abc", `+${"y".repeat(1000)}…`, `+"&amp;'`]);
  });

  test("a change of line endings alone says so", async () => {
    const { path } = await versionsOf(
      { "index.html": INDEX, "a.txt": "a\nb\n" },
      { "index.html": INDEX, "a.txt": "a\r\nb" },
    );
    const { text, html } = await ann.read(path);
    expect(text).toContain("Only line endings differ, or the end of the last line.");
    expect(html).not.toContain("<table");
  });

  test("a file whose content is damaged has its size alone, and the others are shown", async () => {
    await using own = await startServer();
    const bob = await visitorOf(own);
    const site = await bob.deploy({ "index.html": INDEX, "a.txt": "old a\n", "b.txt": "old b\n" });
    await bob.redeploy(site, { "index.html": INDEX, "a.txt": "new a\n", "b.txt": "new b\n" });
    const files = (await own.running.store.versions.manifest(site.site_id, site.version_id))!;
    const { sha256 } = files.get("a.txt")!;
    await Bun.write(`${own.data_dir}/blobs/${sha256.slice(0, 2)}/${sha256}`, "other");
    const { status, html } = await bob.read(`/dashboard/sites/${site.site_id}/changes`);
    expect(status).toBe(200);
    expect(cardsIn(html).map((card) => [card.path, card.lines])).toEqual([
      ["a.txt", []],
      ["b.txt", ["−old b", "+new b"]],
    ]);
  });

  test("a site of the most files and bytes: one page of it is answered at once, and is bounded", async () => {
    const files = (salt: string) =>
      Object.fromEntries(
        Array.from({ length: 199 }, (_, n) => [`f${n}.txt`, numbered(1200, (i) => `${salt} ${n} ${i * 7}`)]),
      );
    const { path } = await versionsOf({ ...files("a"), "index.html": INDEX }, { ...files("b"), "index.html": INDEX });
    const began = performance.now();
    const { status, html, text } = await ann.read(path);
    expect([status, cardsIn(html).length]).toEqual([200, 199]);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(text).toContain("Show what changed in f198.txt");
    expect(html.length).toBeLessThan(1 << 20);
  }, 60_000);
});

test("WEB 6: characters that turn the direction of writing or hide are codes in lines; tabs and letters of all scripts stay", async () => {
  const { path } = await versionsOf(
    { "index.html": INDEX, "a.js": "x\n" },
    {
      "index.html": INDEX,
      "a.js": "if (user !== '\u202eadmin\u2066') {\n\tsalut('\u05e9\u05dc\u05d5\u05dd');\u200b\n",
    },
  );
  const { html } = await ann.read(path);
  expect(cardsIn(html)[0]!.lines).toEqual([
    "−x",
    "+if (user !== '\\u{202e}admin\\u{2066}') {",
    "+\tsalut('\u05e9\u05dc\u05d5\u05dd');\\u{200b}",
  ]);
});

test("WEB 6: two hundred files stand on a page, and its links lead to the rest", async () => {
  const many = await startServer({ SVC_MAX_FILES: "1000" });
  try {
    const bob = await visitorOf(many);
    const site = await bob.deploy({ "index.html": INDEX });
    const files = Object.fromEntries(
      Array.from({ length: 450 }, (_, i) => [`f${String(i).padStart(3, "0")}.txt`, `${i}`]),
    );
    await bob.redeploy(site, { "index.html": INDEX, ...files });
    const path = `/dashboard/sites/${site.site_id}/changes?from=${site.version_id}`;
    const found: string[] = [];
    for (let next: string | undefined = path, n = 1; next !== undefined; n++) {
      const { html, text } = await bob.read(next);
      expect(text).toContain(`Page ${n} of 3`);
      found.push(...cardsIn(html).map((card) => card.path));
      next = /href="([^"]*)" rel="next"/.exec(html)?.[1];
      next &&= decoded(next);
    }
    expect(found.sort()).toEqual(Object.keys(files).sort());
    expect((await bob.read(`${path}&page=99`)).text).toContain("Page 3 of 3");
  } finally {
    await many[Symbol.asyncDispose]();
  }
}, 30_000);

describe("WEB 6: pictures", () => {
  const PNG = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "base64",
  );
  const picture = (salt: number) => new Uint8Array([...PNG, salt]);
  const SVG = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";

  test("before and after stand side by side, from the site's own bytes, as nothing but a picture", async () => {
    const { path, ids, site } = await versionsOf(
      { "index.html": INDEX, "my map.png": picture(1) },
      { "index.html": INDEX, "my map.png": picture(2) },
    );
    const { html } = await ann.read(path);
    const shown = [...html.matchAll(/<img src="([^"]*)" alt="([^"]*)"/g)].map(([, src, alt]) => [decoded(src!), alt]);
    const at = (id: string) => `/dashboard/sites/${site.site_id}/versions/${id}/picture?path=my+map.png`;
    expect(shown).toEqual([
      [at(ids[0]!), "Before: my map.png"],
      [at(ids[1]!), "After: my map.png"],
    ]);
    const response = await server.api(at(ids[0]!), { headers: { cookie: ann.cookie } });
    expect([response.status, await response.bytes()]).toEqual([200, picture(1)]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    });
  });

  test("what has a picture's name and is none is shown by its lines or its sizes, never as a picture that is broken", async () => {
    const pointer = (n: number) => `version https://git-lfs.github.com/spec/v1\nsize ${n}\n`;
    const { path } = await versionsOf(
      { "index.html": INDEX, "lfs.png": pointer(1), "was.png": picture(1), "odd.webp": new Uint8Array([0, 1]) },
      { "index.html": INDEX, "lfs.png": pointer(2), "was.png": "no more", "odd.webp": new Uint8Array([0, 1, 2]) },
    );
    const { html } = await ann.read(path);
    const lines = Object.fromEntries(cardsIn(html).map((card) => [card.path, card.lines]));
    expect(lines).toEqual({ "lfs.png": ["−size 1", "+size 2"], "odd.webp": [], "was.png": [] });
    const shown = [...html.matchAll(/<img src="[^"]*" alt="([^"]*)"/g)].map(([, alt]) => alt);
    expect(shown).toEqual(["Before: was.png"]);
  });

  test("what is none by its bytes, is not uploaded, or is another's, is not given", async () => {
    const files = {
      "index.html": INDEX,
      "a.svg": SVG,
      "page.png": "<!doctype html><script>alert(1)</script>",
      "a.png": picture(3),
    };
    const { ids, site } = await versionsOf(files);
    const at = (path: string, id = ids[0]!) =>
      `/dashboard/sites/${site.site_id}/versions/${id}/picture?${new URLSearchParams({ path })}`;
    for (const path of ["a.svg", "page.png", "index.html", "none.png", "", "../a.png", "__proto__"]) {
      expect([path, (await ann.read(at(path))).status]).toEqual([path, 404]);
    }
    expect((await ann.read(at("a.png", "0".repeat(16)))).status).toBe(404);
    const bob = await visitorOf(server);
    expect((await bob.read(at("a.png"))).status).toBe(404);
    expect((await server.api(at("a.png"))).status).not.toBe(200);
    expect(
      (await server.api(at("a.png"), { headers: { authorization: `Bearer ${site.manage_token}` } })).status,
    ).not.toBe(200);
  });
});

describe("WEB 6: what can be done", () => {
  test("a version that is not live can be opened and made live here; the live one can be opened", async () => {
    const { path, ids } = await versionsOf({ "index.html": `${INDEX}1` }, { "index.html": `${INDEX}2` });
    const old = await ann.read(`${path}?to=${ids[0]}`);
    expect(old.text).toContain("Open this version Make this version live");
    expect(old.html).toMatch(new RegExp(`name="version_id"\\s+value="${ids[0]}"`));
    const live = await ann.read(path);
    expect(live.text).toContain("Open this version");
    expect(live.text).not.toContain("Make this version live");
  });

  test("Markdown leads to the page that it became", async () => {
    const { path, ids, site } = await versionsOf({ "README.md": "# A" }, { "README.md": "# A", "docs/b.md": "# B" });
    const { html, text } = await ann.read(path);
    expect(cardsIn(html)[0]!.href).toBe(`${hostOf(ids[1]!, site)}/docs/b`);
    expect(text).toContain("Open the page docs/b.md");
  });
});

describe("many, and odd ones", () => {
  test("WEB 6: 200 files with odd names are told as they are, and found where they lead", async () => {
    const names = ["100%.txt", "a b#c?d.txt", "é.txt", "שלום.txt", `${"n".repeat(200)}.txt`, "a&amp;b.txt", "it's.txt"];
    const odd = Object.fromEntries(names.map((name) => [name, name]));
    const many = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`folder/file-${i}.txt`, `${i}`]));
    const { path } = await versionsOf({ "index.html": INDEX }, { "index.html": INDEX, ...many, ...odd });
    const { text, html } = await ann.read(path);
    expect(text).toContain("197 added, 1 the same");
    const told = cardsIn(html);
    expect(told).toHaveLength(197);
    for (const name of names) {
      const { href } = told.find(({ path: shown }) => shown === name)!;
      const { hostname, pathname } = new URL(href);
      const response = await server.site(hostname.split(".")[0]!, pathname);
      expect([name, response.status, await response.text()]).toEqual([name, 200, name]);
    }
  });
});
