/** `bun scripts/tree.ts`: writes the tree of docs/design/architecture.md anew, from the first sentence of each folder's
 *  entry file. */
import { join } from "node:path";
import { ROOT } from "./run.ts";

const PAGE = join(ROOT, "docs", "design", "architecture.md");
const HEADING = "## The tree";

/** The entry file of a folder that has no index.ts. */
const ENTRIES: Readonly<Record<string, string>> = {
  "src/api/shapes": "builder.ts",
  "src/base": "types.ts",
  "src/cli": "call.ts",
  "src/cli/saved": "links.ts",
  "src/cli/service": "api.ts",
  "src/client": "deploy-site.ts",
  "src/coding": "coders.ts",
  "src/comments/anchoring": "anchor.ts",
  "src/comments/site": "read.ts",
  "src/comments/widget": "widget.ts",
  "src/comments/widget/page": "pins.ts",
  "src/comments/widget/panel": "panel.ts",
  "src/deploy": "pool.ts",
  "src/html": "tokenizer.ts",
  "src/http": "context.ts",
  "src/operator": "commands.ts",
  "src/pipeline/markdown": "render.ts",
  "src/pipeline/references": "page.ts",
  "src/render": "engine.ts",
  "src/routes/deploys": "deploy.ts",
  "src/run": "child.ts",
  "src/serve": "site.ts",
  "src/server": "app.ts",
  "src/statistics": "counts.ts",
  "src/store/disk": "blobs.ts",
  "src/store/people": "accounts.ts",
  "src/store/postgres": "driver.ts",
  "src/store/bucket": "objects.ts",
  "src/store/sqlite": "driver.ts",
  "src/web/browser": "zone.ts",
  "src/web/browser/zone": "machine.ts",
  "src/webhooks": "delivery.ts",
};
/** Lines for what is no folder of src. */
const AROUND: readonly (readonly [path: string, what: string])[] = [
  ["types/lib.d.ts", "The library's declarations, copied to dist/ by the build."],
  ["examples/", "Small real sites to deploy."],
  ["bench/", "Benchmarks, and README.md with the last figures."],
  ["docs/", "The manual; design/ has the rules that code and tests cite, decisions/ the reasons that still surprise."],
  ["scripts/", "The commands of `bun run`."],
  [
    "test/",
    "A folder for each chapter, black box over HTTP or the compiled programs; kit/ has helpers, house/ the fence.",
  ],
];
const DOORS = ["server.ts", "cli.ts", "lib.ts"];
const COLUMN = 26;
const WIDTH = 120;

/** The first sentence of the comment that opens a file. */
export function firstSentence(text: string): string | null {
  const comment = /^(?:#!.*\n)?\s*\/\*\*([^]*?)\*\//.exec(text)?.[1];
  if (comment === undefined) return null;
  const words = comment
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^.*?[.:](?= [A-Z1`]|$)/.exec(words)?.[0] ?? words;
}

/** A row of the tree, over as many lines as it takes. */
function row(name: string, what: string): string {
  const lines: string[] = [""];
  for (const word of what.split(" ")) {
    if (lines.at(-1)!.length + word.length > WIDTH - COLUMN - 5) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trimStart());
  }
  return lines.map((line, n) => `    ${(n === 0 ? name : "").padEnd(COLUMN)} ${line}`).join("\n");
}

/** The tree of the checkout. Throws if a folder has no entry file, or its entry file no opening sentence. */
export async function tree(): Promise<string> {
  const files = (await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan({ cwd: ROOT }))).toSorted();
  const folders = [...new Set(files.map((file) => file.slice(0, file.lastIndexOf("/"))))].toSorted();
  const rows = await Promise.all([
    ...DOORS.map(async (door) => row(door, (await opening(door)) ?? "")),
    ...folders.map(async (folder) => {
      const entry = `${folder}/${ENTRIES[folder] ?? "index.ts"}`;
      const depth = folder.split("/").length - 2;
      const name = depth === 0 ? `${folder}/` : `${"  ".repeat(depth)}${folder.split("/").at(-1)}/`;
      const sentence = await opening(entry);
      if (sentence === null) throw new Error(`${entry} must open with a sentence that says what ${folder} is.`);
      return row(name, sentence);
    }),
  ]);
  return [...rows, ...AROUND.map(([path, what]) => row(path, what))].join("\n");
}

async function opening(path: string): Promise<string | null> {
  const file = Bun.file(join(ROOT, path));
  return (await file.exists()) ? firstSentence(await file.text()) : null;
}

/** The page with `printed` as its tree. */
export function withTree(page: string, printed: string): string {
  const begin = page.indexOf(HEADING);
  const end = page.indexOf("\n## ", begin + 1);
  return `${page.slice(0, begin)}${HEADING}\n\n${printed}\n${page.slice(end)}`;
}

if (import.meta.main) await Bun.write(PAGE, withTree(await Bun.file(PAGE).text(), await tree()));
