/** Real sites out of npm packages (test/tools), and what a visitor must see on each. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectDist } from "../../lib.ts";
import { EXAMPLES, TOOLS } from "../kit/paths.ts";
import { run } from "../kit/process.ts";

type Files = Map<string, Uint8Array>;

export interface Build {
  name: string;
  files: () => Promise<Files>;
  spa: boolean;
  /** Path on the site → what the page shows there. */
  pages: Record<string, string>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A package's folder without what its maker ships beside the site (source maps, other bundles, notes). */
export async function fromPackage(folder: string, leave_out = /\.map$/): Promise<Files> {
  const files = await collectDist(join(TOOLS, "node_modules", folder));
  return new Map([...files].filter(([path]) => !leave_out.test(path)));
}

/** The package's own page, but for the elements that load from other hosts: no test leaves this machine. */
function withoutOtherHosts(files: Files): Files {
  const foreign =
    /<link[^>]+href="(https?:)?\/\/[^>]*>|<img[^>]+src="(https?:)?\/\/[^>]*>|<script[^>]+src="(https?:)?\/\/[^>]*><\/script>/g;
  const local = (text: string) => text.replaceAll(foreign, "");
  return new Map(
    [...files].map(([path, content]) => [
      path,
      path.endsWith(".html") ? bytes(local(new TextDecoder().decode(content))) : content,
    ]),
  );
}

/** What `vite build` makes of an app, as a person runs it. */
export async function builtByVite(app: string, ...more: string[]): Promise<Files> {
  const outdir = await mkdtemp(join(tmpdir(), "svc-vite-"));
  try {
    const vite = join(TOOLS, "node_modules", "vite", "bin", "vite.js");
    const command = [process.execPath, "--bun", vite, "build", "--outDir", outdir, "--emptyOutDir", ...more];
    const { code, stderr } = await run(command, { cwd: join(TOOLS, "apps", app) });
    if (code !== 0) throw new Error(`vite build of ${app} failed: ${stderr}`);
    return await collectDist(outdir);
  } finally {
    await rm(outdir, { recursive: true });
  }
}

/** Nine pages; the Bootstrap that they load from elsewhere lies beside them. */
async function modernBusiness(): Promise<Files> {
  const cdn = /https:\/\/cdn\.jsdelivr\.net\/npm\/bootstrap@[\d.]+\/dist\/js\/(?=bootstrap\.bundle\.min\.js)/g;
  const files = await fromPackage("startbootstrap-modern-business/dist");
  for (const [path, content] of files) {
    if (path.endsWith(".html")) files.set(path, bytes(new TextDecoder().decode(content).replaceAll(cdn, "js/")));
  }
  const bootstrap = await fromPackage("bootstrap/dist/js");
  return withoutOtherHosts(files.set("js/bootstrap.bundle.min.js", bootstrap.get("bootstrap.bundle.min.js")!));
}

const API = {
  openapi: "3.0.0",
  info: { title: "Lighthouse keeper", version: "1" },
  paths: { "/lamp": { get: { summary: "Whether the lamp burns", responses: { 200: { description: "Yes or no" } } } } },
};

async function swagger(): Promise<Files> {
  const files = await fromPackage("swagger-ui-dist", /\.map$|es-bundle|\.txt$/);
  const initializer = new TextDecoder().decode(files.get("swagger-initializer.js"));
  files.set("swagger-initializer.js", bytes(initializer.replace(/url: "[^"]+"/, 'url: "api.json"')));
  return files.set("api.json", bytes(JSON.stringify(API)));
}

/** As docsify's quick start has it: one page, the scripts, and the Markdown beside it. */
async function docsify(router: "hash" | "history"): Promise<Files> {
  const dist = await fromPackage("docsify/dist");
  const index = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Field guide</title>
    <link rel="stylesheet" href="/themes/core.min.css"></head><body><div id="app"></div>
    <script>window.$docsify = { name: "Field guide", routerMode: "${router}", loadSidebar: true };</script>
    <script src="/docsify.min.js"></script></body></html>`;
  return new Map([
    ["index.html", bytes(index)],
    ["README.md", bytes("# Birds of the marsh\n\nSee [the bittern](bittern.md).\n")],
    ["bittern.md", bytes("# Bittern\n\nIt booms before dawn.\n")],
    ["_sidebar.md", bytes("- [Marsh](/)\n- [Bittern](bittern.md)\n")],
    ["docsify.min.js", dist.get("docsify.min.js")!],
    ["themes/core.min.css", dist.get("themes/core.min.css")!],
  ]);
}

const example = (name: string) => () => collectDist(join(EXAMPLES, name));

export const BUILDS: Build[] = [
  {
    name: "html5-boilerplate",
    files: () => fromPackage("html5-boilerplate/dist"),
    spa: false,
    pages: { "/": "This is HTML5 Boilerplate" },
  },
  { name: "swagger-ui-dist", files: swagger, spa: false, pages: { "/": "Whether the lamp burns" } },
  { name: "reveal.js", files: () => fromPackage("reveal.js"), spa: false, pages: { "/": "Slide 1" } },
  {
    name: "impress.js",
    files: async () => withoutOtherHosts(await fromPackage("impress.js")),
    spa: false,
    pages: { "/": "Aren’t you just bored with all those slides-based presentations?" },
  },
  {
    name: "docsify, by hash",
    files: () => docsify("hash"),
    spa: false,
    pages: { "/": "Birds of the marsh", "/#/bittern": "It booms before dawn" },
  },
  {
    name: "docsify, by history",
    files: () => docsify("history"),
    spa: true,
    pages: { "/": "Birds of the marsh", "/bittern": "It booms before dawn" },
  },
  { name: "jquery-ui-dist", files: () => fromPackage("jquery-ui-dist"), spa: false, pages: { "/": "Accordion" } },
  {
    name: "particles.js",
    files: () => fromPackage("particles.js"),
    spa: false,
    pages: { "/": "A lightweight JavaScript library for creating particles", "/demo/": "particles" },
  },
  {
    name: "startbootstrap-modern-business",
    files: modernBusiness,
    spa: false,
    pages: {
      "/": "A Bootstrap 5 template for modern businesses",
      "/about": "Our mission is to make building websites easier",
      "/blog-post.html": "Welcome to Blog Post!",
      "/pricing.html": "Pay as you grow",
    },
  },
  {
    name: "a React app, built by Vite",
    files: () => builtByVite("react"),
    spa: true,
    pages: { "/": "Kites", "/notes/kites": "They rise against the wind", "/attic": "No such page in this notebook" },
  },
  {
    name: "a Vue app, built by Vite",
    files: () => builtByVite("vue"),
    spa: true,
    pages: { "/": "Gull Point", "/ports/Old%20Quay": "05:27 and 17:58", "/a/b/c": "No such page in this table" },
  },
  {
    name: "two pages, built by Vite",
    files: () => builtByVite("pages"),
    spa: false,
    pages: { "/": "words", "/about/": "The other page", "/about": "The other page" },
  },
  { name: "examples/hello", files: example("hello"), spa: false, pages: { "/": "It is live." } },
  {
    name: "examples/garden",
    files: example("garden"),
    spa: false,
    pages: { "/": "Forty beds", "/visit": "until the kettle is empty", "/guides/wühlmäuse": "They were here first" },
  },
  {
    name: "examples/tide-table",
    files: example("tide-table"),
    spa: true,
    pages: { "/": "Low Harbour", "/ports/Gull%20Point": "04:05 and 16:31" },
  },
];
