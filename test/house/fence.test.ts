/** The house keeps its shape: who imports whom (ARCHITECTURE), which built-ins belong where, how long and how tangled the
 *  source is, what never enters the repository. Each rule is shown to fail on a made-up breach. */
import { describe, expect, test } from "bun:test";
import packageJson from "../../package.json";
import { globalBreaches, importBreaches, roomOf, ROWS, startBreaches, threadsOf } from "./fence/rights.ts";
import { type Figures, figuresOf, riddles } from "./fence/figures.ts";
import { circles, emptyRooms, fullFolders, longFiles, longFunctions, unusedExports } from "./fence/shape.ts";
import { glob, PRODUCT, read, type Sources, sources } from "./fence/source.ts";

const PRODUCT_SOURCES = await sources(...PRODUCT);
/** The tests and tools. An import of theirs makes something of the product needed, but is no reason for a door of it. */
const AROUND = await sources("test/**/*.ts", "scripts/**/*.ts", "bench/**/*.ts", "types/**/*.ts");

const breaches = (rule: (path: string, text: string) => string[]): string[] =>
  [...PRODUCT_SOURCES].flatMap(([path, text]) => rule(path, text));
const made = (files: Record<string, string>): Sources => new Map(Object.entries(files));

test("the fence reads the whole product", () => {
  expect(PRODUCT_SOURCES.size).toBeGreaterThan(250);
});

describe("who imports whom (ARCHITECTURE's table), values and types alike", () => {
  test("every file stays within the rights of its room", () => {
    expect(breaches(importBreaches)).toEqual([]);
  });

  test("every room of src has a row, or joins the others", () => {
    const rooms = new Set([...PRODUCT_SOURCES.keys()].map((path) => roomOf(path).split("/")[0]!));
    expect([...rooms].filter((room) => !(room in ROWS) && !/^server(\.ts)?$/.test(room))).toEqual([]);
  });

  test.each([
    ["src/pipeline/x.ts", 'import { openStore } from "../store/index.ts";', 1],
    ["src/pipeline/x.ts", 'import type { Store } from "../store/index.ts";', 1],
    ["src/pipeline/x.ts", 'import { scan } from "./abuse/index.ts";', 0],
    ["src/pipeline/lint/x.ts", 'import { scan } from "../abuse/index.ts";', 1],
    ["src/pipeline/lint/x.ts", 'import { page } from "../references/page.ts";', 0],
    ["src/pipeline/markdown/x.ts", 'import { page } from "../docs/page.ts";', 1],
    ["src/pipeline/docs/x.ts", 'import { render } from "../markdown/render.ts";', 0],
    ["src/pipeline/x.ts", 'import { detectSpa } from "./spa.ts";', 0],
    ["src/pipeline/spa.ts", 'import { createBudget } from "./budget.ts";', 0],
    ["src/pipeline/spa.ts", 'import { scan } from "./abuse/index.ts";', 1],
    ["src/pipeline/lint/x.ts", 'import { detectSpa } from "../spa.ts";', 1],
    ["src/serve/x.ts", 'new Worker(new URL("../pipeline/index.ts", import.meta.url));', 1],
    ["src/serve/x.ts", 'new Worker(threadUrl("./src/pipeline/index.ts"));', 1],
    ["src/serve/x.ts", 'import { SITES } from "../store/sites.ts";', 1],
    ["src/serve/x.ts", 'import { driver } from "../store/sqlite/driver.ts";', 1],
    ["src/serve/x.ts", 'import type { Blobs } from "../store/serving.ts";', 0],
    ["src/serve/x.ts", 'import { SESSIONS } from "../store/people/sessions.ts";', 1],
    ["src/serve/x.ts", 'import type { Sessions } from "../store/people/sessions.ts";', 0],
    ["src/serve/x.ts", 'import { thread } from "../comments/threads.ts";', 1],
    ["src/comments/x.ts", 'import { site } from "../serve/site.ts";', 1],
    ["src/comments/widget/x.ts", 'import { anchor } from "../anchoring/anchor.ts";', 0],
    ["src/store/index.ts", 'import { driver } from "./sqlite/driver.ts";', 0],
    ["src/store/x.ts", 'import { driver } from "./sqlite/driver.ts";', 1],
    ["src/store/notes/x.ts", 'import type { DataDir } from "../sqlite/data-dir.ts";', 1],
    ["src/store/x.ts", 'import { postgresDb } from "./postgres/driver.ts";', 1],
    ["src/store/sqlite/x.ts", 'import { openStore } from "../index.ts";', 1],
    ["src/store/people/x.ts", 'import { openStore } from "../index.ts";', 1],
    ["src/store/disk/x.ts", 'import type { Blobs } from "../serving.ts";', 0],
    ["src/http/x.ts", 'import { ROUTES } from "../routes/table.ts";', 1],
    ["src/base/tokens.ts", 'import { app } from "../server/app.ts";', 1],
    ["src/base/tokens.ts", 'import { html } from "../html/template.ts";', 1],
    ["src/web/browser/x.ts", 'import { html } from "../../html/template.ts";', 0],
    ["src/web/browser/x.ts", 'import { document } from "../../html/document.ts";', 1],
    ["src/web/browser/x.ts", 'import { zone } from "../zone.ts";', 1],
    ["src/client/x.ts", 'import { api } from "../cli/service/api.ts";', 1],
    ["src/cli/service/x.ts", 'import { deploy } from "../commands/deploy.ts";', 1],
    ["src/cli/commands/x.ts", 'import { api } from "../service/api.ts";', 0],
    ["src/made-up/x.ts", 'import { Refusal } from "../errors.ts";', 1],
  ])("the fence itself: %s with %s is %i breach", (path, text, count) => {
    expect(importBreaches(path, text)).toHaveLength(count);
  });
});

describe("the built-ins that belong to some rooms", () => {
  test("no module of the runtime and no package is imported elsewhere, no global used", () => {
    expect(breaches(globalBreaches)).toEqual([]);
  });

  test.each([
    ["src/serve/x.ts", 'import { Database } from "bun:sqlite";', 1],
    ["src/store/x.ts", 'import { Database } from "bun:sqlite";', 1],
    ["src/store/sqlite/x.ts", 'import { Database } from "bun:sqlite";', 0],
    ["src/client/x.ts", 'import { serve } from "bun";', 1],
    ["src/client/zip.ts", 'import { join } from "node:path";', 1],
    ["src/comments/anchoring/anchor.ts", 'import { join } from "node:path";', 1],
    ["src/routes/x.ts", 'import express from "express";', 1],
    ["src/routes/x.ts", 'import { file, serve } from "bun";', 1],
    ["src/routes/x.ts", "const fs = await import('node:fs');", 1],
    ["src/routes/x.ts", 'const fs = require("node:fs");', 1],
    ["src/routes/x.ts", "import fs from 'node:fs';\nfs.statSync;", 1],
    ["src/routes/x.ts", 'import {\n  a, // what it\'s = for\n  b,\n} from "node:fs";\na(b);', 1],
    ["src/pipeline/x.ts", 'import { readFileSync } from "node:fs";', 1],
    ["src/routes/x.ts", 'import { readFile } from "node:fs/promises";', 1],
    ["src/store/disk/x.ts", 'import { statSync } from "node:fs";', 0],
    ["src/serve/x.ts", 'import { marked } from "marked";', 1],
    ["src/upkeep/x.ts", 'import { lookup } from "node:dns/promises";', 1],
    ["src/webhooks/post.ts", 'import { lookup } from "node:dns";', 1],
    ["src/operator/x.ts", 'import { lookup } from "node:dns/promises";', 1],
    ["src/operator/doctor.ts", 'import { lookup } from "node:dns/promises";', 0],
  ])("the fence itself: %s with %s is %i breach", (path, text, count) => {
    expect(importBreaches(path, text)).toHaveLength(count);
  });

  test.each([
    ["src/pipeline/x.ts", "const file = Bun.file(path);", 1],
    ["src/serve/x.ts", "const file = Bun.file(path);", 1],
    ["src/store/disk/x.ts", "const file = Bun.file(path);", 0],
    ["src/pipeline/x.ts", "const shout = (request: Request): string => request.url;", 1],
    ["src/store/x.ts", "const sql = new Bun.SQL(url);", 1],
    ["src/store/postgres/x.ts", "const sql = new Bun.SQL(url);", 0],
    ["src/store/x.ts", "const request = new Request(url);", 1],
    ["src/routes/x.ts", "const shout = (request: Request): string => request.url;", 0],
    ["src/serve/x.ts", "const home = process.env.HOME;", 1],
    ["src/upkeep/x.ts", "const found = await Bun.dns.lookup(name);", 1],
    ["src/webhooks/post.ts", 'const found = await Bun.dns.lookup(name, { backend: "c-ares" });', 0],
    ["src/serve/x.ts", "const at = Date.now();", 1],
    ["src/pipeline/x.ts", "const now = Date.now;", 1],
    ["src/server/x.ts", "const timer = setInterval(work, 1000);", 1],
    ["src/run/every.ts", "const timer = setInterval(turn, ms);", 0],
    ["src/base/tokens.ts", "const id = Math.random();", 1],
    ["src/cli/x.ts", 'import { randomBytes } from "node:crypto";', 1],
    ["src/store/x.ts", "crypto.getRandomValues(bytes);", 1],
    ["src/base/random.ts", 'import { randomBytes } from "node:crypto";', 0],
    ["src/http/x.ts", 'console.log("here");', 1],
    ["src/cli/x.ts", "await Bun.write(path, text);", 2],
    ["src/command/x.ts", "const at = Bun.nanoseconds();", 1],
    ["src/serve/x.ts", "const { file } = Bun;", 1],
    ["src/serve/x.ts", 'const file = Bun["file"];', 1],
    ["src/serve/x.ts", "const now = new Date();", 1],
    ["src/serve/x.ts", "const at = new Date(now()).toISOString();", 0],
    ["src/pipeline/x.ts", "const started = performance.now();", 1],
    ["src/serve/x.ts", 'const fs = process.getBuiltinModule("node:fs");', 1],
    ["src/serve/x.ts", "// Date.now() is not asked here", 0],
    ["src/serve/x.ts", 'const sentence = "Bun.file and Date.now()";', 0],
  ])("the fence itself: %s with %s is %i breach", (path, text, count) => {
    expect(globalBreaches(path, text)).toHaveLength(count);
  });

  test("every thread and spawned entry is an entry of the server's binary", async () => {
    const build = await read("scripts/build.ts");
    const threads = threadsOf(PRODUCT_SOURCES);
    expect(threads.length).toBeGreaterThan(0);
    expect(threads.filter((thread) => !build.includes(`"${thread}"`))).toEqual([]);
  });

  test("RELIABILITY A30: every look-up of the process that posts is c-ares', which takes no thread of the runtime's pool", () => {
    const calls = (text: string) => [...text.matchAll(/\bBun\.dns\.\w+\([^()]*\)/g)].map(([call]) => call);
    const made = calls(PRODUCT_SOURCES.get("src/webhooks/post.ts")!);
    expect(made.length).toBeGreaterThan(0);
    expect(made.filter((call) => !/^Bun\.dns\.lookup\(.*backend: "c-ares"/.test(call))).toEqual([]);
    expect(calls('Bun.dns.lookup(name, { backend: "libc" })')).toHaveLength(1);
  });

  test("threads and children are started in src/run alone", () => {
    expect(breaches(startBreaches)).toEqual([]);
  });

  test.each([
    ["src/serve/x.ts", 'new Worker(threadUrl("./src/pipeline/index.ts"));', 1],
    ["src/server/x.ts", "const child = Bun.spawn([ownProgram()]);", 1],
    ["src/run/x.ts", "new Worker(url); Bun.spawn(command);", 0],
    ["src/web/browser/x.ts", "const worker = new Worker(url);", 0],
    ["src/serve/x.ts", 'startThread(threadUrl("./src/pipeline/index.ts"), null, events);', 0],
  ])("the fence itself: %s with %s is %i breach", (path, text, count) => {
    expect(startBreaches(path, text)).toHaveLength(count);
  });
});

/** A function of `lines` lines as `bun fmt` lays it out, by its first line. */
const long = (first: string, lines: number, last = "}"): string =>
  [first, ...Array.from({ length: lines - 2 }, () => "  step();"), last, ""].join("\n");

describe("the shape of the source", () => {
  test("no file has more than 400 lines", () => {
    expect(longFiles(PRODUCT_SOURCES)).toEqual([]);
    expect(longFiles(made({ "src/a.ts": "x\n".repeat(400) }))).toEqual([]);
    expect(longFiles(made({ "src/a.ts": "x\n".repeat(401) }))).toHaveLength(1);
  });

  test("no function has more than 60 lines", () => {
    expect(longFunctions(PRODUCT_SOURCES)).toEqual([]);
  });
  test.each([
    ["export function f(a: string): string {"],
    ["async function f() {"],
    ["export const f = (a: string) => {"],
    ["export const f = async (a: string): Promise<void> => {"],
    ["export function f(\n  a: string,\n): { b: string } {"],
    ["  get size(): number {"],
    ["  async take(rule, subject) {"],
    ["  private take<T>(rule: T): T {"],
    ["  override async *each(rule: string) {"],
    ["  return async (request) => {"],
  ])("the fence itself: %j of 61 lines is a breach, of 60 is none", (first) => {
    const [head, indent] = [first.split("\n"), /^ */.exec(first)![0]];
    const body = (lines: number) =>
      long(first, lines - head.length + 1, `${indent}}`).replaceAll("  step", `${indent}  step`);
    expect(longFunctions(made({ "src/a.ts": body(61) }))).toHaveLength(1);
    expect(longFunctions(made({ "src/a.ts": body(60) }))).toEqual([]);
  });

  test("the fence itself: a table of functions is no function", () => {
    const table = long("const ROWS: Record<string, () => void> = {", 80, "};");
    expect(longFunctions(made({ "src/a.ts": table }))).toEqual([]);
  });

  test("no folder has more than 30 files", async () => {
    expect(fullFolders(PRODUCT_SOURCES.keys())).toEqual([]);
    const files = Array.from({ length: 31 }, (_, n) => `src/a/${n}.ts`);
    expect(fullFolders(files)).toEqual(["src/a: 31 files"]);
    expect(fullFolders(files.slice(1))).toEqual([]);
  });

  test("no room inside a room has fewer than five files", async () => {
    expect(emptyRooms(await glob("src/**/*"))).toEqual([]);
    const room = (files: number) => Array.from({ length: files }, (_, n) => `src/a/b/${n}.ts`);
    expect(emptyRooms([...room(4), "src/a/x.ts"])).toEqual(["src/a/b: 4 files"]);
    expect(emptyRooms([...room(5), "src/a/x.ts"])).toEqual([]);
  });

  test("no file reaches itself by its imports, of types too", () => {
    expect(circles(PRODUCT_SOURCES)).toEqual([]);
  });
  test.each([
    ["values", 'import { b } from "./b.ts";', 'import { a } from "./a.ts";', 2],
    ["types", 'import type { B } from "./b.ts";', 'import { type A, x } from "./a.ts";', 2],
    ["a re-export", 'export { b } from "./b.ts";', 'import { a } from "./a.ts";', 2],
    ["no way back", 'import { b } from "./b.ts";', 'import { c } from "./c.ts";', 0],
  ])("the fence itself: a circle of %s", (_, a, b, files) => {
    expect(circles(made({ "src/a.ts": a, "src/b.ts": b, "src/c.ts": "" }))).toHaveLength(files);
  });

  test("every import begins its line, where the fence reads it", () => {
    const hidden = (all: Sources): string[] =>
      [...all].flatMap(([path, text]) => (/^.*\*\/ *(?:import|export)\b/m.test(text) ? [path] : []));
    expect(hidden(PRODUCT_SOURCES)).toEqual([]);
    expect(hidden(made({ "src/a.ts": '/** A. */ import type { B } from "./b.ts";\n' }))).toEqual(["src/a.ts"]);
    expect(hidden(made({ "src/a.ts": '/** A. */\nimport type { B } from "./b.ts";\n' }))).toEqual([]);
  });

  test("nothing is exported that nobody imports", () => {
    expect(unusedExports(PRODUCT_SOURCES, AROUND, new Set(["lib.ts"]))).toEqual([]);
  });
  test.each([
    ["export const a = 1;", 'import { a } from "./a.ts";', 0],
    ["export const a = 1;", 'import * as all from "./a.ts";', 0],
    ["export const a = 1;", 'export { a } from "./a.ts";', 0],
    ["export const a = 1;", 'import("./a.ts").then(({ a }) => a());', 0],
    ["export const a = 1;", 'const { a } = await import("./a.ts");', 0],
    ["export const a = 1;", 'const { b } = await import("./a.ts");', 1],
    ["export interface A {}", 'import type { A } from "./a.ts";', 0],
    ["export interface A {}", 'import { b } from "./a.ts";', 1],
    ["export async function a() {}", "", 1],
    ['export { a } from "./c.ts";', "", 1],
  ])("the fence itself: %s with %s leaves %i unused", (a, b, count) => {
    expect(unusedExports(made({ "src/a.ts": a }), made({ "src/b.ts": b }), new Set())).toHaveLength(count);
  });
});

describe("one request context", () => {
  // `function f(` declares it; what else names it with a bracket calls it.
  const callers = (all: Sources, name: string): string[] =>
    [...all].flatMap(([path, text]) =>
      [...text.matchAll(new RegExp(`(?<!function )\\b${name}\\(`, "g"))].map(() => path),
    );

  test.each(["clientAddress", "askedOrigin"])("%s( is called in src/http/context.ts alone, once", (name) => {
    expect(callers(PRODUCT_SOURCES, name)).toEqual(["src/http/context.ts"]);
    const breach = made({
      "src/http/a.ts": `export function ${name}(x) {}`,
      "src/routes/b.ts": `const f = ${name}(x);`,
    });
    expect(callers(breach, name)).toEqual(["src/routes/b.ts"]);
  });
});

/** The ratchets: figures that may fall and never rise. One that fell is written down here, so that it stays. Files and folders
 *  grow with what the product does, up to what a stranger can keep in mind. */
const CEILINGS: Partial<Figures> = {
  files: 575,
  folders: 62,
  exports_per_1000_lines: 32,
  exports_used_by_one_file_per_1000_lines: 16.8,
  files_whose_only_importer_is_beside_them: 60,
  type_names_in_three_files: 5,
  comments_that_begin_like_riddles: 0,
};

/** Comments of tests and tools that were there before anybody counted: it falls, too. */
const MOST_RIDDLES_AROUND = 292;

describe("the ratchets", () => {
  test("comments_that_begin_like_riddles in tests and tools: no more than there were", () => {
    expect(riddles(AROUND).length).toBeLessThanOrEqual(MOST_RIDDLES_AROUND);
  });

  test.each(Object.entries(CEILINGS))("%s: at most %p", async (name, ceiling) => {
    const figures = figuresOf(PRODUCT_SOURCES, await glob("src/**/*"));
    expect(figures[name as keyof Figures]).toBeLessThanOrEqual(ceiling);
  });

  const row = (name: keyof Figures, files: Record<string, string>): [keyof Figures, number, Record<string, string>] => [
    name,
    figuresOf(made(files), Object.keys(files))[name],
    files,
  ];
  const a = 'import { b } from "./b.ts";\n';
  test.each([
    [...row("files", { "src/x/a.ts": a }), { "src/x/b.ts": "" }, 2],
    [...row("folders", { "src/x/a.ts": a }), { "src/y/b.ts": "" }, 2],
    [...row("exports_per_1000_lines", { "src/x/a.ts": a }), { "src/x/b.ts": "export const b = 1;\n" }, 500],
    [
      ...row("exports_used_by_one_file_per_1000_lines", { "src/x/b.ts": "export const b = 1;\n" }),
      { "src/x/c.ts": a },
      500,
    ],
    [...row("files_whose_only_importer_is_beside_them", { "src/x/a.ts": a }), { "src/x/b.ts": "" }, 1],
    [
      ...row("type_names_in_three_files", { "src/x/a.ts": "type A = 1;", "src/x/b.ts": "interface A {}" }),
      { "src/y/c.ts": "export type A = string;" },
      1,
    ],
    [
      ...row("comments_that_begin_like_riddles", { "src/x/a.ts": "/** A list of rows. */" }),
      { "src/x/b.ts": "  // Of rows." },
      1,
    ],
  ])("the ratchets themselves: %s rises from %i", (name, before, files, more, after) => {
    expect(before).toBeLessThan(after);
    const all = { ...files, ...more };
    expect(figuresOf(made(all), Object.keys(all))[name]).toBe(after);
  });
});

describe("what never enters the repository", () => {
  const TEXT = "**/*.{ts,tsx,js,jsx,mjs,json,lock,md,toml,html,css,vue,sql,svg}";
  const REGISTRY = /registry\.(npmjs|yarnpkg)\.|npm\.pkg\.github\.com/i;
  const MACHINE = /(?<![\w.])\/((home|Users)\/(?!me\b)|root\/|work\/)\w|\/tmp\/team/;
  const isForeign = (text: string): boolean => REGISTRY.test(text) || MACHINE.test(text);

  test("a package registry's host, or a path of somebody's machine", async () => {
    const all = await sources(TEXT, ".ci/run");
    expect(isForeign("see /home/ann/project")).toBeTrue();
    expect([...all].filter(([path, text]) => path !== "test/house/fence.test.ts" && isForeign(text))).toEqual([]);
  });

  test("a package beside the four that the design allows", () => {
    expect(Object.keys(packageJson.devDependencies).toSorted()).toEqual([
      "@types/bun",
      "bun-types",
      "fflate",
      "marked",
    ]);
    // What the package needs is bundled (CONTRACT 8).
    expect(packageJson).not.toHaveProperty("dependencies");
    expect(packageJson).not.toHaveProperty("peerDependencies");
    expect(packageJson).not.toHaveProperty("optionalDependencies");
  });

  test("a version that is not pinned", async () => {
    const tools = JSON.parse(await read("test/tools/package.json")) as { dependencies: Record<string, string> };
    const all = { ...packageJson.devDependencies, ...tools.dependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(packageJson.packageManager).toBe("bun@1.4.5");
  });
});
