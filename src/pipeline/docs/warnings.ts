/** What a Markdown site cannot put right by itself: links to files that are not there, texts that take too long. */
import type { Warning } from "../../types.ts";
import type { BrokenLink } from "../markdown/links.ts";
import type { Rendered } from "../markdown/render.ts";
import { show } from "../show.ts";

/** More than anyone reads; the last entry says how many there are besides. */
const MOST_LINKS = 100;

function tooComplex(path: string): Warning {
  return {
    code: "markdown_too_complex",
    message: `${show(path)} could not be rendered in time, so its page shows its source.`,
    path,
    fix_recipe: `Split ${show(path)} into shorter files, or take out its long runs of brackets, asterisks, underscores or nested quotations.`,
  };
}

function brokenLink(path: string, { target, found }: BrokenLink): Warning {
  const [file, missing] = [show(path), show(target)];
  if (found === null) {
    const fix_recipe = `Add ${missing} to the upload, or change the link in ${file}.`;
    return { code: "broken_link", message: `${file} links to ${missing}, which is not there.`, path, fix_recipe };
  }
  const message = `${file} links to ${missing}, but the file is called ${show(found)}.`;
  return { code: "case_mismatch", message, path, fix_recipe: `Write ${show(found)} in the link in ${file}.` };
}

export function markdownWarnings(pages: readonly { path: string; rendered: Rendered | null }[]): Warning[] {
  const complex = pages.filter(({ rendered }) => !rendered).map(({ path }) => tooComplex(path));
  const links = pages.flatMap(({ path, rendered }) => (rendered?.broken ?? []).map((link) => brokenLink(path, link)));
  const more = links.length - MOST_LINKS;
  if (more <= 0) return [...complex, ...links];
  const last = links[MOST_LINKS - 1]!;
  const message = `${last.message} ${more} more links lead nowhere.`;
  return [...complex, ...links.slice(0, MOST_LINKS - 1), { ...last, message }];
}
