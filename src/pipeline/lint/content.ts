/** What files tell by themselves: code that nothing runs here, secrets, a page without a name, a load too heavy. */
import type { Draft, Files, Finding, Progress } from "../../base/types.ts";
import { humanSize } from "../../base/units.ts";
import type { PageFile } from "./origins.ts";
import type { Walk } from "./walk.ts";
import { findSecrets } from "./secrets.ts";
import { show } from "../show.ts";
import type { Pages } from "../../html/kept-pages.ts";
import { titleOf } from "../../html/title.ts";

/** Pages, and what was meant as the site's first one. */
const PAGE = /\.x?html?$|^(?:index|default)\.(?:php|phtml|aspx?|jsp|cfm)$/i;
const HUGE = 4 << 20;
const SERVER_CODE = /\.(?:php\d?|phtml|aspx?|ashx|jspx?|cfm)$/i;
/** No token of ours is found in these, and many are large. */
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|flac|mov|zip|gz|br|7z|pdf|wasm|glb)$/i;

function serverCode(uploaded: readonly string[], { actions }: Walk): Finding[] {
  const beside_pages = uploaded.some((path) => PAGE.test(path));
  const run = uploaded.filter(
    (path) => (beside_pages && SERVER_CODE.test(path)) || (/\.py$/i.test(path) && actions.has(path)),
  );
  return run.map((path) => ({
    code: "server_code",
    path,
    target: path,
    message: `${show(path)} is code for a server; here it is only a text to download, and its source is public.`,
    fix_recipe: `Remove ${show(path)}, and replace what it did by a static page or by a service of another host (for a form, one that takes forms).`,
  }));
}

const uploadedOf = ({ files, made }: Draft): string[] => [...files.keys()].filter((path) => !made.has(path));

export const lintSecrets = (draft: Draft, progress: Progress): Finding[] =>
  uploadedOf(draft)
    .filter((path) => !BINARY.test(path))
    .flatMap((path) => {
      progress("looking for secrets in", path);
      return findSecrets(draft.files.get(path)!).map(({ kind, hint }): Finding => ({
        code: "possible_secret",
        path,
        target: hint,
        cause: `${path}: ${hint}`, // the same beginning in another file is another secret
        message: `${show(path)} holds what looks like ${kind} (${hint}…), and everybody can read it there.`,
        fix_recipe: `Take ${kind} (${hint}…) out of ${show(path)}, and revoke it where it was issued if it was ever online.`,
      }));
    });

const hugeAssets = (files: Files, { loaded }: Walk): Finding[] =>
  [...loaded]
    .filter(([path]) => files.get(path)!.length > HUGE)
    .map(([path, by]) => ({
      code: "huge_asset",
      path,
      target: path,
      message: `${show(path)} has ${humanSize(files.get(path)!.length)}, and ${show(by)} makes every visitor load it.`,
      fix_recipe: `Shrink ${show(path)} below 4 MB, or have ${show(by)} load it only when a visitor asks for it.`,
    }));

function missingTitle(files: Files, pages: readonly PageFile[], read: Pages, { sets_title }: Walk): Finding[] {
  const index = pages.find(({ path }) => path === "index.html");
  if (!index || sets_title || titleOf(read(files.get("index.html")!)) !== null) return [];
  return [
    {
      code: "missing_title",
      path: index.source,
      target: "title",
      message: `${show(index.source)} has no title, so tabs, search engines and link previews have no name for the site.`,
      fix_recipe: `Add a <title> element with the site's name to the head of ${show(index.source)}.`,
    },
  ];
}

export function lintContent(draft: Draft, pages: readonly PageFile[], read: Pages, walked: Walk): Finding[] {
  const { files } = draft;
  return [
    ...serverCode(uploadedOf(draft), walked),
    ...hugeAssets(files, walked),
    ...missingTitle(files, pages, read, walked),
  ];
}
