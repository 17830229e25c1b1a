/** The library: what a folder holds, and which folder is built. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import * as library from "../../lib.ts";
import { BUILD_DIR_CANDIDATES, collectDist, resolveDeployDir } from "../../lib.ts";
import { sharedHome } from "../kit/shared.ts";

setDefaultTimeout(60_000);

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (files: Map<string, Uint8Array>) =>
  Object.fromEntries([...files].map(([path, content]) => [path, new TextDecoder().decode(content)]));

const { server, home } = await sharedHome();

describe("collectDist", () => {
  test("reads a folder into relative paths with forward slashes and plain bytes", async () => {
    const dist = await home.write("tree", {
      "index.html": "i",
      "a/b/c.txt": "c",
      ".well-known/x": "w",
      "empty.txt": "",
    });
    const files = await collectDist(dist);
    expect(texts(files)).toEqual({ "index.html": "i", "a/b/c.txt": "c", ".well-known/x": "w", "empty.txt": "" });
    expect(files.get("a/b/c.txt")).toEqual(bytes("c"));
    expect(texts(await collectDist(`${dist}/`))).toEqual(texts(files));
  });

  test("reads a single file as one entry, also behind a link", async () => {
    await home.write("single", { "page.html": "p", "alias.html": { link: "page.html" } });
    expect(texts(await collectDist(home.path("single/page.html")))).toEqual({ "page.html": "p" });
    expect(texts(await collectDist(home.path("single/alias.html")))).toEqual({ "alias.html": "p" });
  });

  test("leaves out what never belongs on a site, at any depth", async () => {
    const dist = await home.write("secrets", {
      "index.html": "i",
      ".env": "s",
      ".env.local": "s",
      "sub/.git/config": "s",
      "node_modules/x/y.js": "s",
      ".DS_Store": "s",
      "sub/._x": "s",
      "__MACOSX/x": "s",
      "sub/Thumbs.db": "s",
      ".htaccess": "kept",
    });
    expect(Object.keys(texts(await collectDist(dist)))).toEqual([".htaccess", "index.html"]);
    await expect(collectDist(home.path("secrets/.env"))).rejects.toThrow("never deployed");
    expect(Object.keys(texts(await collectDist(home.path("secrets/node_modules"))))).toEqual(["x/y.js"]);
  });

  test("a .svcignore in the root leaves files out and is left out itself", async () => {
    const dist = await home.write("ignored", {
      ".svcignore": "*.map\n!keep.map\n/drafts/\n",
      "index.html": "i",
      "a.js.map": "m",
      "sub/keep.map": "k",
      "drafts/x.html": "x",
      "sub/drafts/y.html": "y",
    });
    expect(Object.keys(texts(await collectDist(dist)))).toEqual(["index.html", "sub/drafts/y.html", "sub/keep.map"]);
  });

  test("a link inside the folder is followed, to a file and to a folder", async () => {
    const dist = await home.write("links", {
      "real/a.txt": "a",
      "file.txt": { link: "real/a.txt" },
      folder: { link: "real" },
    });
    expect(texts(await collectDist(dist))).toEqual({ "real/a.txt": "a", "file.txt": "a", "folder/a.txt": "a" });
    await home.write("", { "to-links": { link: "links" } });
    expect(Object.keys(texts(await collectDist(home.path("to-links"))))).toHaveLength(3);
  });

  test.each([
    ["leaves the folder", "../outside.txt", "outside of the folder"],
    ["leaves it by an absolute path", "/etc/passwd", "outside of the folder"],
    ["leaves it to a folder whose name begins like it", "../linked-too/x", "outside of the folder"],
    ["points to nothing", "missing.txt", "points to nothing"],
    ["points to itself", "it", "points to itself"],
    ["points to the folder it is in", ".", "that it is in"],
    ["points to a secret beside it", ".env", "never deployed"],
  ])("a link that %s is an error that names it", async (_, target, reason) => {
    const name = `linked-${Bun.hash(target).toString(36)}`;
    await home.write("linked-too", { x: "x" });
    await home.write("", { "outside.txt": "o" }).catch(() => {});
    const dist = await home.write(name, { "index.html": "i", ".env": "s", it: { link: target } });
    const collecting = collectDist(dist);
    await expect(collecting).rejects.toThrow(reason);
    await expect(collectDist(dist)).rejects.toThrow(/^it /);
  });

  test("a link that is ignored is not looked at", async () => {
    const dist = await home.write("unlooked", { ".svcignore": "it", "index.html": "i", it: { link: "/etc/passwd" } });
    expect(Object.keys(texts(await collectDist(dist)))).toEqual(["index.html"]);
  });

  test("links in a ring between folders end", async () => {
    const dist = await home.write("ring", { "a/x": "x", "a/b": { link: "../c" }, "c/a": { link: "../a" } });
    await expect(collectDist(dist)).rejects.toThrow("that it is in");
  });

  test("names are NFC, and two spellings of one name are refused", async () => {
    const dist = await home.write("nfd", { "cafe\u0301.txt": "c" });
    expect([...(await collectDist(dist)).keys()]).toEqual(["caf\u00e9.txt"]);
    await home.write("nfd", { "caf\u00e9.txt": "d" });
    await expect(collectDist(dist)).rejects.toThrow("two Unicode spellings");
  });

  test("what is not there rejects", async () => {
    await expect(collectDist(home.path("nowhere"))).rejects.toThrow("ENOENT");
  });
});

describe("resolveDeployDir", () => {
  test("returns explicit as it is, there or not", async () => {
    expect(await resolveDeployDir({ explicit: "no/such/./folder" })).toBe("no/such/./folder");
  });

  test("the candidates are tried in their order, and only those with an index count", async () => {
    expect([...BUILD_DIR_CANDIDATES]).toEqual([
      "dist",
      "build",
      "out",
      ".output/public",
      ".vercel/output/static",
      "public",
      "_site",
    ]);
    const files = Object.fromEntries(BUILD_DIR_CANDIDATES.map((folder) => [`${folder}/index.html`, "i"]));
    const cwd = await home.write("candidates", files);
    const { rm } = await import("node:fs/promises");
    for (const candidate of BUILD_DIR_CANDIDATES) {
      expect(await resolveDeployDir({ cwd })).toBe(join(cwd, candidate));
      await rm(join(cwd, candidate, "index.html"));
    }
    await expect(resolveDeployDir({ cwd })).rejects.toThrow("No build directory found");
  });

  test.each([
    ["Angular", { "dist/shop/browser/index.html": "i" }, "svc dist/shop/browser"],
    ["React Router", { "build/client/index.html": "i" }, "svc build/client"],
    ["Flutter", { "build/web/index.html": "i" }, "svc build/web"],
    ["MkDocs", { "site/index.html": "i" }, "svc site"],
    ["Sphinx", { "_build/html/index.html": "i" }, "svc _build/html"],
    [
      "a monorepo, the build before its source",
      { "apps/web/index.html": "s", "apps/web/dist/index.html": "i" },
      "svc apps/web/dist",
    ],
    ["a folder with a space", { "my site/index.html": "i" }, "svc 'my site'"],
    ["an index right here", { "index.html": "i" }, "svc ."],
    [
      "a project that was not built",
      { "index.html": "i", "package.json": '{"scripts":{"build":"vite build"}}' },
      "npm run build && svc",
    ],
    ["a coverage report alone", { "coverage/index.html": "i" }, "svc <path>"],
    ["four levels down", { "a/b/c/d/index.html": "i" }, "svc <path>"],
    ["nothing at all", { "x.txt": "x" }, "svc <path>"],
  ])("names the command to run instead: %s", async (name, files, command) => {
    const cwd = await home.write(`hint ${name}`, files as Record<string, string>);
    await expect(resolveDeployDir({ cwd })).rejects.toThrow(new RegExp(`Run: ${command.replaceAll(".", "\\.")}$`));
  });
});
