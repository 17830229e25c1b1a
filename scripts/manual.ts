/** The manual as JSON on stdout: docs/*.md made into chapters by svc's own Markdown, with what a search needs to know of
 *  them. The build runs this (src/web/built.ts), so that no server has to render it. */
import { join } from "node:path";
import { attributesOf } from "../src/html/attributes.ts";
import { decodeEntities } from "../src/html/character-references.ts";
import { partsOf } from "../src/html/page.ts";
import type { LinkTargets } from "../src/pipeline/markdown/links.ts";
import { renderMarkdown } from "../src/pipeline/markdown/render.ts";
import { withoutExtension } from "../src/pipeline/markdown/text.ts";
import type { Chapter, Section } from "../src/web/manual-search.ts";
import { withTablesForPhones } from "../src/web/manual-tables.ts";
import { ROOT } from "./run.ts";

const DOCS = join(ROOT, "docs");
const files = async (pattern: string): Promise<string[]> =>
  (await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: DOCS }))).toSorted();

/** Elements that words do not run across. */
const BREAKS = /^(?:p|li|t[dhr]|pre|h[1-6]|dt|dd|div)$/;
const HEADING = /^h([1-6])$/;

/** The words below each heading. */
function sectionsOf(html: string, title: string): Section[] {
  const sections: Section[] = [{ id: "", depth: 1, title, text: "" }];
  let at: "title" | "heading" | "text" = "text";
  for (const part of partsOf(html)) {
    const now = sections.at(-1)!;
    if (part.kind === "text") {
      if (at === "heading") now.title += decodeEntities(part.text);
      else if (at === "text") now.text += decodeEntities(part.text);
      continue;
    }
    const depth = Number(HEADING.exec(part.name)?.[1] ?? 0);
    if (depth === 0) now.text += BREAKS.test(part.name) ? " " : "";
    else if (part.kind === "close") at = "text";
    else at = depth === 1 ? "title" : "heading";
    if (depth > 1 && part.kind === "open") {
      sections.push({ id: attributesOf(part.attributes).get("id")!, depth, title: "", text: "" });
    }
  }
  return sections.map((section) => ({ ...section, text: section.text.replace(/\s+/g, " ").trim() }));
}

/** Width and height of a lossy WebP, as Chromium's screenshots are: a page must leave the room before the picture comes. */
async function sizeOf(path: string): Promise<string> {
  const bytes = Buffer.from(await Bun.file(join(DOCS, path)).bytes());
  if (bytes.toString("latin1", 12, 16) !== "VP8 ") throw new Error(`docs/${path} is not a lossy WebP.`);
  return `width="${bytes.readUInt16LE(26) & 0x3fff}" height="${bytes.readUInt16LE(28) & 0x3fff}"`;
}

async function chapterOf(source: string, targets: LinkTargets): Promise<Chapter> {
  const text = await Bun.file(join(DOCS, source)).text();
  const { html, title } = renderMarkdown({ source, text, folder: "" }, targets);
  let sized = html;
  for (const path of targets.files) {
    const image = `<img src="${path}"`;
    if (html.includes(image)) sized = sized.replaceAll(image, `${image} ${await sizeOf(path)}`);
  }
  return {
    name: withoutExtension(source),
    title: title!,
    html: withTablesForPhones(sized),
    sections: sectionsOf(html, title!),
  };
}

const sources = await files("*.md");
const targets: LinkTargets = {
  addresses: new Map(sources.map((source) => [source, withoutExtension(source)])),
  files: new Set([...sources, ...(await files("images/*.webp"))]),
};
process.stdout.write(JSON.stringify(await Promise.all(sources.map((source) => chapterOf(source, targets)))));
