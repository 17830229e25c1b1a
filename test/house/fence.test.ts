/** The house keeps its shape: who imports whom (ARCHITECTURE.md), how long a file is, what never enters the repository. */
import { describe, expect, test } from "bun:test";
import { dirname, join, posix } from "node:path";
import packageJson from "../../package.json";

const ROOT = join(import.meta.dir, "..", "..");
const SKIPPED = /(^|\/)(node_modules|dist|svc-data|\.git)\//;

const glob = async (pattern: string): Promise<string[]> =>
  (await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT, dot: true })))
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !SKIPPED.test(path))
    .toSorted();

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const CODE = [...(await glob("src/**/*.ts")), "server.ts", "cli.ts", "lib.ts"];

/** The station that a file belongs to: a folder of src, a door, or `vocabulary`. */
function stationOf(path: string): string {
  const [top, folder, file] = path.split("/");
  if (top !== "src") return path;
  if (file) return folder!;
  return "vocabulary";
}

/** Station → the stations and single files that it may import beside itself. Not listed: whatever it joins. */
const MAY: Record<string, readonly string[]> = {
  vocabulary: [],
  html: ["vocabulary"],
  store: ["vocabulary"],
  pipeline: ["vocabulary", "html"],
  serve: ["vocabulary", "html", "http", "store"],
  comments: ["vocabulary", "store"],
  deploy: ["vocabulary", "store", "pipeline"],
  routes: ["vocabulary", "config", "http", "store", "deploy", "comments"],
  web: ["vocabulary", "html", "http", "store", "routes", "src/client/zip.ts", "src/client/challenge.ts"],
  client: ["src/version-id.ts"],
  cli: ["client", "src/version-id.ts"],
  "cli.ts": ["cli", "client", "src/version-id.ts"],
  "lib.ts": ["client"],
};

/** Packages and built-ins that belong to one station. No other package may be imported at all. */
const OWNER: Record<string, string> = { "bun:sqlite": "store", marked: "pipeline", fflate: "client" };
/** These run on Node 18 too. */
const PORTABLE = new Set(["client", "cli", "cli.ts", "lib.ts"]);
/** These run in a browser too. */
const BROWSER = new Set(["src/client/zip.ts", "src/client/challenge.ts"]);

/** Values alone: `import type` is free, and the transpiler leaves it out. It does not see threads: they are found by text. */
function importsOf(path: string, text: string): string[] {
  const scanned = new Bun.Transpiler({ loader: "ts" }).scanImports(text.replace(/^#!.*/, "")).map((one) => one.path);
  const urls = [...text.matchAll(/new URL\(\s*"(\.{1,2}\/[^"]+\.ts)"/g)].map((match) => match[1]!);
  const threads = [...text.matchAll(/threadUrl\(\s*"\.\/([^"]+\.ts)"/g)].map((match) => match[1]!);
  const named = [...scanned, ...urls].map((name) => (name.startsWith(".") ? posix.join(dirname(path), name) : name));
  return [...named, ...threads];
}

function mayImport(path: string, name: string): boolean {
  const from = stationOf(path);
  if (name.startsWith("node:")) return !BROWSER.has(path);
  if (name in OWNER) return OWNER[name] === from;
  if (/^bun(:|$)/.test(name)) return !PORTABLE.has(from);
  if (name === "package.json") return true;
  if (!name.startsWith("src/")) return false;
  const rights = MAY[from];
  return !rights || stationOf(name) === from || rights.includes(stationOf(name)) || rights.includes(name);
}

const breaches = (path: string, text: string): string[] =>
  importsOf(path, text)
    .filter((name) => !mayImport(path, name))
    .map((name) => `${path} imports ${name}`);

describe("who imports whom", () => {
  test("every file stays within its station's rights", async () => {
    expect(CODE.length).toBeGreaterThan(100);
    const found = await Promise.all(CODE.map(async (path) => breaches(path, await read(path))));
    expect(found.flat()).toEqual([]);
  });

  test.each([
    ["src/pipeline/x.ts", 'import { openStore } from "../store/index.ts";\nopenStore();', 1],
    ["src/pipeline/x.ts", 'import type { Store } from "../store/index.ts";', 0],
    ["src/serve/x.ts", 'new Worker(new URL("../pipeline/index.ts", import.meta.url));', 1],
    ["src/serve/x.ts", 'new Worker(threadUrl("./src/pipeline/index.ts"));', 1],
    ["src/serve/x.ts", 'import { Database } from "bun:sqlite";\nnew Database();', 1],
    ["src/store/x.ts", 'import { Database } from "bun:sqlite";\nnew Database();', 0],
    ["src/tokens.ts", 'import { app } from "./server/app.ts";\napp();', 1],
    ["src/client/x.ts", 'import { serve } from "bun";\nserve();', 1],
    ["src/client/zip.ts", 'import { join } from "node:path";\njoin();', 1],
    ["src/routes/x.ts", 'import express from "express";\nexpress();', 1],
  ])("the fence itself: %s with %j is %i breach", (path, text, count) => {
    expect(breaches(path, text)).toHaveLength(count);
  });

  test("what runs on Node never calls Bun", async () => {
    const calls: string[] = [];
    for (const path of CODE.filter((one) => PORTABLE.has(stationOf(one)))) {
      const code = new Bun.Transpiler({ loader: "ts" }).transformSync(await read(path)); // comments are gone
      if (/(?<![\w.$"'`@])Bun\.\w/.test(code)) calls.push(path);
    }
    expect(calls).toEqual([]);
  });

  test("every thread is an entry of the server's binary", async () => {
    const build = await read("scripts/build.ts");
    const texts = (await Promise.all(CODE.map(read))).filter((text) => text.includes("new Worker("));
    const threads = texts.flatMap((text) => [...text.matchAll(/"\.\/(src\/[^"]+\.ts)"/g)].map((match) => match[1]!));
    expect(threads.length).toBe(texts.length);
    expect(threads.filter((thread) => !build.includes(`"${thread}"`))).toEqual([]);
  });
});

test("no source file has more than 250 lines", async () => {
  const lengths = await Promise.all(
    CODE.map(async (path) => [path, (await read(path)).split("\n").length - 1] as const),
  );
  expect(lengths.filter(([, lines]) => lines > 250)).toEqual([]);
});

describe("what never enters the repository", () => {
  const TEXT = "**/*.{ts,tsx,js,jsx,mjs,json,lock,md,toml,html,css,vue,sql,svg}";
  const REGISTRY = /registry\.(npmjs|yarnpkg)\.|npm\.pkg\.github\.com/i;
  const MACHINE = /(?<![\w.])\/((home|Users)\/(?!me\b)|root\/|work\/)\w|\/tmp\/team/;

  test("a package registry's host, or a path of somebody's machine", async () => {
    const paths = [...(await glob(TEXT)), ".ci/run"].filter((path) => path !== "test/house/fence.test.ts");
    const texts = await Promise.all(paths.map(async (path) => [path, await read(path)] as const));
    expect(texts.filter(([, text]) => REGISTRY.test(text) || MACHINE.test(text)).map(([path]) => path)).toEqual([]);
  });

  test("a package beside the four that the design allows", () => {
    const { dependencies, devDependencies } = packageJson;
    expect(Object.keys({ ...dependencies, ...devDependencies }).toSorted()).toEqual([
      "@types/bun",
      "bun-types",
      "fflate",
      "marked",
    ]);
    expect(packageJson).not.toHaveProperty("peerDependencies");
    expect(packageJson).not.toHaveProperty("optionalDependencies");
  });

  test("a version that is not pinned", async () => {
    const tools = JSON.parse(await read("test/tools/package.json")) as { dependencies: Record<string, string> };
    const all = { ...packageJson.dependencies, ...packageJson.devDependencies, ...tools.dependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(packageJson.packageManager).toBe("bun@1.4.5");
  });
});
