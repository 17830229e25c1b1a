/** `/` must resolve: where no index was uploaded, the one page that can stand for it does, else a list of the files. */
import type { Bytes, Draft, Files, Healed, Progress, Warning } from "../base/types.ts";
import { listing } from "./listing.ts";

const INDEX = "index.html";

/** Pages at the root that could be the index. */
const rootPages = (files: Files): string[] =>
  [...files.keys()].filter((path) => /^[^/]+\.html?$/i.test(path) && !/^(?:404|200)\.html?$/i.test(path));

function indexPage(files: Files): string | null {
  if (files.has("200.html")) return "200.html";
  const [page, ...others] = rootPages(files);
  return page && others.length === 0 ? page : null;
}

const withIndex = (draft: Draft, content: Bytes, healed: Healed, warnings: Warning[] = []): Draft => ({
  ...draft,
  files: new Map([...draft.files, [INDEX, content]]),
  made: new Set([...draft.made, INDEX]),
  healed: [...draft.healed, healed],
  warnings: [...draft.warnings, ...warnings],
});

const depth = (path: string): number => path.split("/").length;

/** A site that lies deeper in the upload: the one nearest to the root. */
function indexElsewhere(files: Files): Warning[] {
  const found = [...files.keys()].filter((path) => path.endsWith(`/${INDEX}`));
  const [path] = found.toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  if (!path) return [];
  const folder = path.slice(0, -INDEX.length - 1);
  const message = `/ shows a list of files, for the site's ${INDEX} lies in the folder ${folder}.`;
  const fix_recipe = `Deploy the folder ${folder} itself instead of the folder around it.`;
  return [{ code: "index_elsewhere", message, path, fix_recipe }];
}

/** `name`: what a list of the files is headed with. */
export function ensureIndex(draft: Draft, progress: Progress, name?: string): Draft {
  if (draft.files.has(INDEX)) return draft;
  progress("making an index");
  const page = indexPage(draft.files);
  if (page) {
    const message = `${page} answers /, for there is no ${INDEX}.`;
    return withIndex(draft, draft.files.get(page)!, { code: "index_from_single_html", message, path: page });
  }
  const message = `A list of the files answers /, for there is no ${INDEX}.`;
  const healed: Healed = { code: "index_generated", message, path: INDEX };
  const made = withIndex(draft, listing(draft, name), healed, indexElsewhere(draft.files));
  return { ...made, written: new Map([...(draft.written ?? []), [INDEX, new Uint8Array()]]) };
}
