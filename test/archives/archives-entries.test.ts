/** RELIABILITY 3: what entries are and mean, and how an upload is cleaned up. */
import { describe, expect, test } from "bun:test";
import { accept } from "../kit/ingesting.ts";
import { buildZip, type Member, zipOf } from "../kit/zip.ts";
import { INDEX, keeps, named, raw, refuses } from "./entry-rows.ts";

describe("kinds of entries", () => {
  const entry = (over: Partial<Member>): Uint8Array => buildZip([INDEX, { name: "x", data: "/etc/passwd", ...over }]);
  refuses("unsafe_path", [
    ["Z68", "a symlink to /etc/passwd", () => entry({ mode: 0o120777 }), /"x" is a symbolic link/],
    [
      "Z68",
      "a symlink as a folder and a file through it",
      () => buildZip([INDEX, { name: "x", data: "/etc", mode: 0o120777 }, { name: "x/passwd" }]),
      /"x" is a symbolic link/,
    ],
    ["Z68", "a pipe", () => entry({ mode: 0o010644 }), /is a device or pipe/],
    ["Z68", "a device", () => entry({ mode: 0o020644 }), /is a device or pipe/],
    ["Z68", "a socket", () => entry({ mode: 0o140644 }), /is a device or pipe/],
  ]);
  refuses("invalid_zip", [
    ["Z69", "a folder that holds data", () => entry({ name: "x/" }), /"x\/" is a folder, but holds data/],
    [
      "Z69",
      "a folder with data that it does not declare",
      () => entry({ name: "x/", data: "", method: 8, stream: new Uint8Array(900) }),
      /is a folder, but holds data/,
    ],
    [
      "Z69",
      "a folder attribute on a file with data",
      () => entry({ central: { external: 0x10 } }),
      /marked as a folder, but holds data/,
    ],
    [
      "Z69",
      "a folder's mode on a file with data",
      () => entry({ mode: 0o040755 }),
      /marked as a folder, but holds data/,
    ],
  ]);
  test.each([
    ["Z69", "a set-uid mode counts for nothing", entry({ mode: 0o104755 })],
    ["Z69", "a mode of no kind counts for nothing", entry({ mode: 0 })],
    [
      "Z69",
      "an empty file is a file, even with a folder's attribute",
      entry({ data: "", central: { external: 0x10 } }),
    ],
  ])("%s: %s", (_id, _what, zip) => expect(accept(zip).paths).toEqual(["index.html", "x"]));
  test("Z69: 300 folder entries count for nothing", () => {
    const folders = Array.from({ length: 300 }, (_, at): Member => ({
      name: `d${at}/`,
      mode: 0o040755,
      central: { external: 0x10 },
    }));
    expect(accept(buildZip([INDEX, ...folders])).paths).toEqual(["index.html"]);
  });
  test.each([
    ["a symlink in node_modules/.bin", { name: "node_modules/.bin/x", mode: 0o120777 }],
    ["an encrypted .env", { name: ".env", flags: 1 }],
    ["junk with an unknown method", { name: "__MACOSX/._x", method: 99 }],
    ["a folder whose mode is a symlink's", { name: "d/", data: "", mode: 0o120777 }],
  ])("%s is dropped before its kind is judged", (_what, member) =>
    expect(accept(entry(member)).paths).toEqual(["index.html"]),
  );
});

describe("the folder around everything", () => {
  test("Z73: one top folder is stripped, and the version is that of its content", () => {
    const wrapped = accept(zipOf({ "site/": "", "site/index.html": "x", "site/css/a.css": "y" }));
    expect(wrapped.paths).toEqual(["css/a.css", "index.html"]);
    expect(wrapped.healed).toEqual(["stripped_root_folder"]);
    expect(wrapped.draft.stripped_folder).toBe("site");
    expect(wrapped.version_id).toBe(accept(zipOf({ "index.html": "x", "css/a.css": "y" })).version_id);
  });
  test.each([
    ["two top folders", { "a/x": "", "b/x": "" }, ["a/x", "b/x"]],
    ["a folder and a root file", { "a/index.html": "", "x.txt": "" }, ["a/index.html", "x.txt"]],
    ["two folders of which one name begins the other", { "a/x": "", "ab/x": "" }, ["a/x", "ab/x"]],
    ["a .well-known alone", { ".well-known/security.txt": "" }, [".well-known/security.txt"]],
  ])("Z73: %s: nothing is stripped", (_what, files, paths) => {
    const { draft, healed, ...result } = accept(zipOf(files));
    expect([result.paths, healed, draft.stripped_folder]).toEqual([paths, [], null]);
  });
  test("Z73: an index two levels down is stripped by one", () => {
    expect(accept(zipOf({ "a/b/index.html": "x" })).paths).toEqual(["b/index.html"]);
  });
  test("Z73: junk and empty folders beside the one folder do not count", () => {
    expect(
      accept(zipOf({ "site/index.html": "x", "__MACOSX/._site": "x", ".DS_Store": "x", "empty/": "" })).paths,
    ).toEqual(["index.html"]);
  });
});

describe("the index under another name", () => {
  test.each([
    ["INDEX.HTML", { "INDEX.HTML": "x" }, ["index.html"]],
    ["index.htm", { "index.htm": "x" }, ["index.html"]],
    ["Index.HTM in a folder", { "index.html": "x", "d/Index.HTM": "x" }, ["d/index.html"]],
    ["index.htm beside index.html", { "index.html": "x", "index.htm": "y" }, []],
    ["another name that ends so", { "a.txt": "x", "myindex.html": "x", "index.html.txt": "y" }, []],
    ["README.md", { "README.md": "x" }, []],
    ["a/README.md", { "a/README.md": "x", "b/x": "" }, []],
    ["an index.html of 0 bytes", { "index.html": "" }, []],
  ])("Z74: %s", (_what, files, made) => {
    const result = accept(zipOf(files));
    expect(result.made).toEqual(made);
    expect(result.paths).toEqual(Object.keys(files).sort());
    expect(result.healed).toEqual(made.map(() => "index_case_fixed"));
  });
  test("Z74: Index.html goes before index.htm, and its bytes are the index", () => {
    const result = accept(zipOf({ "index.htm": "second", "Index.html": "first" }));
    expect(result.text("index.html")).toBe("first");
    expect(result.draft.healed[0]).toMatchObject({ code: "index_case_fixed", path: "Index.html" });
  });
  test("Z74: the copy is no part of the version id", () => {
    const files = { "INDEX.HTML": "x", "a.txt": "y" };
    expect(accept(zipOf(files)).version_id).not.toBe(accept(zipOf({ ...files, "index.html": "x" })).version_id);
  });
});

describe("names that mean something", () => {
  test("Z75: secrets are dropped with a warning, .well-known and .htaccess stay", () => {
    const { paths, warnings } = accept(
      zipOf({
        "index.html": "x",
        ".git/config": "x",
        ".env": "x",
        "node_modules/x": "x",
        ".well-known/x": "x",
        ".htaccess": "x",
      }),
    );
    expect(paths).toEqual([".htaccess", ".well-known/x", "index.html"]);
    expect(warnings).toEqual([".git/config", ".env", "node_modules/x"].map((path) => `secret_file_dropped ${path}`));
  });
  test.each([
    ...[".ssh/id_ed25519", ".aws/credentials", ".gnupg/secring.gpg", ".kube/config", ".docker/config.json"],
    ...[".npmrc", ".netrc", ".pypirc", ".git-credentials", ".htpasswd"],
    ...[".bash_history", ".zsh_history", ".python_history", ".env.production"],
  ])("Z75: %s is dropped in any folder, and nothing that is only called alike", (secret) => {
    const alike = `${secret.replace(/^\./, "")}.html`;
    const { paths, warnings } = accept(
      zipOf({ "index.html": "x", [secret]: "x", [`a/b/${secret}`]: "x", [alike]: "x" }),
    );
    expect(paths).toEqual([alike, "index.html"].toSorted());
    expect(warnings).toEqual([`secret_file_dropped ${secret}`, `secret_file_dropped a/b/${secret}`]);
  });

  test("Z75: a folder of many secrets has one warning", () => {
    const { warnings, draft } = accept(named("app/node_modules/a.js", "app/node_modules/b/c.js", "app/.env.local"));
    expect(warnings).toEqual(["secret_file_dropped app/node_modules/", "secret_file_dropped app/.env.local"]);
    expect(draft.warnings[0]!.message).toContain("2 files");
  });
  keeps([
    ["Z76", "comments.json", ["comments.json"], ["comments.json"], ["reserved_path comments.json"]],
    [
      "Z76",
      "a page's comments.json",
      ["a.html.comments.json"],
      ["a.html.comments.json"],
      ["reserved_path a.html.comments.json"],
    ],
    ["Z76", "a file under _svc/", ["_svc/x"], ["_svc/x"], ["reserved_path _svc/x"]],
    [
      "Z76",
      "an ACME challenge",
      [".well-known/acme-challenge/x"],
      [".well-known/acme-challenge/x"],
      ["reserved_path .well-known/acme-challenge/x"],
    ],
    ["Z76", "a file called _svc", ["_svc"], ["_svc"], ["reserved_path _svc"]],
    [
      "Z76",
      "what only looks reserved",
      ["my_svc/x", "mycomments.json", "_svcx", "docs/comments.json", "docs/.comments.json", "docs/_svc/x"],
      ["my_svc/x", "mycomments.json", "_svcx", "docs/comments.json", "docs/.comments.json", "docs/_svc/x"],
    ],
  ]);
  test("every warning has a recipe of one imperative sentence", () => {
    const { draft } = accept(named("A.txt", "a.txt", ".env", "_svc/x", "CON", raw("caf", 0x82)));
    expect(draft.warnings).toHaveLength(5);
    for (const { fix_recipe, message } of draft.warnings) {
      expect(fix_recipe).toMatch(/^(Rename|Leave|Make) [^.]*.*\.$/);
      expect(message).toEndWith(".");
    }
  });
});
