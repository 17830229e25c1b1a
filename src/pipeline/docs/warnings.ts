/** What a Markdown site cannot put right by itself: links to files that are not there, texts that take too long. */
import type { Finding, Warning } from "../../base/types.ts";
import type { BrokenLink } from "../markdown/links.ts";
import type { Drawing } from "../markdown/undrawn.ts";
import { show } from "../show.ts";

export function tooComplex(path: string): Warning {
  return {
    code: "markdown_too_complex",
    message: `${show(path)} could not be rendered in time, so its page shows its source.`,
    path,
    fix_recipe: `Split ${show(path)} into shorter files, or take out its long runs of brackets, asterisks, underscores or nested quotations.`,
  };
}

const DRAWINGS: Record<Drawing, { what: string; fix: string }> = {
  math: {
    what: "formulas",
    fix: "Build the pages with a tool that sets formulas and deploy what it builds, or show each formula as a picture.",
  },
  mermaid: {
    what: "Mermaid diagrams",
    fix: "Draw each diagram once (npx -p @mermaid-js/mermaid-cli mmdc -i diagram.mmd -o diagram.svg), add the picture to the upload, and show it where the code stands: ![what it shows](diagram.svg).",
  },
};

/** One cause is told once: `paths` are all files that have some. */
export function shownAsCode(drawing: Drawing, paths: readonly [string, ...string[]]): Finding {
  const { what, fix } = DRAWINGS[drawing];
  const [path, ...more] = paths;
  const others = `${more.length} more ${more.length === 1 ? "file" : "files"}`;
  const message =
    more.length === 0
      ? `${show(path)} has ${what}, which stand on its page as code.`
      : `${show(path)} and ${others} have ${what}, which stand on their pages as code.`;
  return { code: "shown_as_code", path, target: drawing, message, fix_recipe: fix };
}

export function unbuiltMdx(path: string): Warning {
  return {
    code: "unbuilt_source",
    message: `${show(path)} is MDX, which no browser can show: only a build makes pages of it.`,
    path,
    fix_recipe: `Build the project (npm run build) and deploy the folder that the build makes, or rename ${show(path)} and its like to .md if they are plain Markdown.`,
  };
}

/** Worded when it is shown. */
export const brokenLink = (path: string, { target, found }: BrokenLink): Finding => ({
  code: found === null ? "broken_link" : "case_mismatch",
  path,
  target,
  get message() {
    const link = `${show(path)} links to ${show(target)}`;
    return found === null ? `${link}, which is not there.` : `${link}, but the file is called ${show(found)}.`;
  },
  get fix_recipe() {
    if (found === null) return `Add ${show(target)} to the upload, or change the link in ${show(path)}.`;
    return `Write ${show(found)} in the link in ${show(path)}.`;
  },
});
