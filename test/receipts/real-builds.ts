/** Sites that others made, as they are and as people break them: the part of the test set that nobody wrote for it. */
import { join } from "node:path";
import { collectDist } from "../../lib.ts";
import { BUILDS, builtByVite, fromPackage } from "../browser/builds.ts";
import { type Contents, drop, PNG, put, type Sample, swap } from "./parts.ts";
import { TOOLS } from "../kit/paths.ts";

const APPS = join(TOOLS, "apps");

/** Texts as texts, so that a recipe can be followed in them. */
function contents(files: ReadonlyMap<string, Uint8Array>): Contents {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const text = (bytes: Uint8Array): string | Uint8Array => {
    try {
      return decoder.decode(bytes);
    } catch {
      return bytes;
    }
  };
  return Object.fromEntries([...files].map(([path, bytes]) => [path, text(bytes)]));
}

const renamed =
  (from: string, to: string) =>
  (files: Contents): Contents =>
    Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(from, to), content]));

const template = async (): Promise<Contents> =>
  contents(await BUILDS.find(({ name }) => name === "startbootstrap-modern-business")!.files());
const withoutChunk = (files: Contents): Contents =>
  drop(Object.keys(files).find((path) => /^assets\/.*\.js$/.test(path))!)(files);

/** What is wrong with two of them as their makers ship them: no title, and tests that want packages beside them. */
const WRONG: Record<string, Sample["wrong"]> = {
  "html5-boilerplate": {
    codes: ["missing_title"],
    seen: "hand",
    fix: swap("<title></title>", "<title>Kites</title>", "index.html"),
  },
  "impress.js": {
    codes: ["missing_asset"],
    seen: "browser",
    fix: (files) =>
      drop(
        ...Object.keys(files).filter(
          (path) => /^(?:qunit_test_runner\.html|test\/)/.test(path) || /\.test\.js$|_tests/.test(path),
        ),
      )(files),
  },
};

export const REAL: Sample[] = [
  ...BUILDS.map(({ name, files }): Sample => ({
    name,
    files: async () => contents(await files()),
    wrong: WRONG[name] ?? null,
  })),
  {
    name: "the React app, built by Vite for another folder",
    files: async () => contents(await builtByVite("react", "--base=/kites/")),
    wrong: { codes: ["wrong_base_path"], seen: "browser", fix: swap("/kites/", "/", "index.html") },
  },
  {
    name: "the Vue app, built by Vite for another folder",
    files: async () => contents(await builtByVite("vue", "--base=/port/")),
    wrong: { codes: ["wrong_base_path"], seen: "browser", fix: swap("/port/", "/", "index.html") },
  },
  {
    name: "the React app's source",
    files: async () => contents(await collectDist(join(APPS, "react"))),
    wrong: { codes: ["unbuilt_source"], seen: "browser", fix: swap("/src/main.jsx", "/main.js") },
  },
  {
    name: "the two pages of Vite, one chunk lost",
    files: async () => withoutChunk(contents(await builtByVite("pages"))),
    wrong: { codes: ["missing_asset"], seen: "browser", fix: (files) => files },
  },
  {
    name: "reveal.js without its theme",
    files: async () => drop("dist/theme/black.css")(contents(await fromPackage("reveal.js"))),
    wrong: { codes: ["missing_asset"], seen: "browser", fix: put({ "dist/theme/black.css": "body{color:#fff}" }) },
  },
  {
    name: "a Bootstrap template whose folders were renamed",
    files: async () => renamed("css/", "CSS/")(await template()),
    wrong: { codes: ["case_mismatch"], seen: "browser", fix: renamed("CSS/", "css/") },
  },
  {
    name: "a Bootstrap template whose contact page was left out",
    files: async () => drop("contact.html")(await template()),
    wrong: { codes: ["broken_link"], seen: "browser", fix: put({ "contact.html": "<title>Contact</title>Contact" }) },
  },
  {
    name: "swagger-ui without its icons",
    files: async () =>
      drop("favicon-32x32.png")(contents(await BUILDS.find(({ name }) => name === "swagger-ui-dist")!.files())),
    wrong: { codes: ["missing_asset"], seen: "hand", fix: put({ "favicon-32x32.png": PNG }) }, // no icons in a headless shell
  },
];
