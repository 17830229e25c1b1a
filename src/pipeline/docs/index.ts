/** A folder of Markdown becomes a small docs site if the upload has no index. 1 read the
 *  files, 2 plan the address of each page, 3 render within a time limit, 4 put the pages into their frame. Uploaded
 *  files stay as they are, and win. */

import type { Bytes, Draft, Finding, Healed, Progress, Warning } from "../../base/types.ts";
import { compactCss, themed } from "../../html/compact-css.ts";
import ground from "../../html/ground.css" with { type: "text" };
import tokens from "../../html/tokens.css" with { type: "text" };
import turn from "../../html/turn.css" with { type: "text" };
import { renderWithin, type TimeLimits } from "../markdown/limits.ts";
import type { BrokenLink } from "../markdown/links.ts";
import type { Rendered } from "../markdown/render.ts";
import { readSource, type Source } from "../markdown/source.ts";
import { folderOf, inWords, nameOf, shortTitle, withoutExtension } from "../markdown/text.ts";
import type { Drawing } from "../markdown/undrawn.ts";
import { show } from "../show.ts";
import { languageOf } from "./language.ts";
import { docsPage, docsText, overview } from "./page.ts";
import { type DocsPage, firstMdx, isIndexName, type Plan, planDocs, type PlannedPage } from "./plan.ts";
import script from "./script.js.txt" with { type: "text" };
import { docsSite, type DocsSite, type PageFolder, placeAnywhere, placeAt } from "./site.ts";
import looks from "./style.css" with { type: "text" };

/** As readers get it: without indents, line ends (each statement ends with its own mark) and comments. */
const SCRIPT = script.replace(/^ *(?:\/\/.*)?|\n/gm, "").replaceAll(" => ", "=>");

/** The styles of every page of svc come first, those of docs sites after them. */
const STYLE = compactCss(themed(tokens + ground + turn + looks));

/** One Markdown file with all that is made of it. */
interface Work {
  planned: PlannedPage;
  source: Source;
  /** Folder of a page → the page's body for that folder. */
  bodies: ReadonlyMap<string, Rendered | null>;
  /** The outcome of rendering it, for each of its folders. */
  outcomes: ReturnType<typeof renderWithin>;
  page: DocsPage;
}

/** Shows the source of a text that took too long or could not be read. */
const asSource = (text: string): string => `<pre class="plain" tabindex="0">${Bun.escapeHTML(text)}</pre>\n`;

const fileInWords = (path: string): string => inWords(nameOf(withoutExtension(path)));

/** The first line that is a main heading, found without parsing. */
const headingLine = (text: string): string | undefined => /^# +(\S.*)$/m.exec(text)?.[1];

const isIndex = ({ address }: PlannedPage): boolean => address === "" || address.endsWith("/");

/** The name of a page without a title of its own. A folder's index is called by its folder. */
function nameFor({ address, source }: PlannedPage, { front }: Source, stripped: string | null): string {
  if (!isIndexName(source) || !(address === "" || address.endsWith("/"))) return fileInWords(source);
  return (address === "" && shortTitle(front.hero ?? "")) || folderInWords(address, stripped);
}

const folderInWords = (folder: string, stripped: string | null): string =>
  inWords(folder === "" ? (stripped ?? "Documentation") : nameOf(folder.slice(0, -1)));

function titleOf(planned: PlannedPage, source: Source, rendered: Rendered | null, stripped: string | null): string {
  const heading = rendered ? rendered.title : headingLine(source.text);
  return shortTitle(source.front.title ?? "") || shortTitle(heading ?? "") || nameFor(planned, source, stripped);
}

function pageOf(planned: PlannedPage, source: Source, rendered: Rendered | null, stripped: string | null): DocsPage {
  return {
    source: source.path,
    address: planned.address,
    title: titleOf(planned, source, rendered, stripped),
    order: source.front.order,
    excerpt: rendered?.excerpt ?? "",
    headings: rendered?.headings ?? [],
    sections: rendered?.sections ?? [],
    language: languageOf(source.text),
  };
}

function renderAll(plan: Plan, draft: Draft, progress: Progress, limits: TimeLimits | undefined): Work[] {
  const read = plan.pages.map((planned) => ({
    planned,
    source: readSource(planned.source, draft.files.get(planned.source)!),
    folders: [...new Set(planned.paths.map(folderOf))],
  }));
  const jobs = read.flatMap(({ source, folders }) =>
    folders.map((folder) => ({ source: source.path, text: source.text, folder })),
  );
  const targets = { addresses: plan.addresses, files: new Set(draft.files.keys()) };
  const rendered = renderWithin(jobs, targets, progress, limits).values();
  const works = read.map(({ planned, source, folders }) => {
    const outcomes = folders.map(() => rendered.next().value!);
    const bodies = new Map(folders.map((folder, i) => [folder, outcomes[i]!.rendered]));
    const page = pageOf(planned, source, outcomes[0]!.rendered, draft.stripped_folder);
    return { planned, source, bodies, outcomes, page };
  });
  return withoutBanners(works);
}

const bannerOf = ({ source, bodies }: Work): string | null => {
  const [rendered] = bodies.values();
  return rendered?.banner && !source.front.title ? rendered.title : null;
};

/** A raw `<h1>` that more than one page has names the project: only a folder's index is called by it. */
function withoutBanners(works: readonly Work[]): Work[] {
  const counts = new Map<string, number>();
  for (const banner of works.map(bannerOf)) if (banner !== null) counts.set(banner, (counts.get(banner) ?? 0) + 1);
  return works.map((work) => {
    if (isIndex(work.planned) || (counts.get(bannerOf(work) ?? "") ?? 0) < 2) return work;
    return { ...work, page: { ...work.page, title: fileInWords(work.source.path) } };
  });
}

/** A page without a source. */
const NOBODYS = {
  source: null,
  order: null,
  excerpt: "",
  headings: [],
  sections: [],
  language: { lang: "en", dir: "ltr" },
} as const;

const MISSING: DocsPage = { ...NOBODYS, address: "404.html", title: "Page not found" };

/** The search is there where scripts are. */
const missingText = ({ name, pages }: DocsSite): string =>
  `<p>There is no page at this address. Check the spelling: letter case counts.</p>
<p>Go to <a href="/"><bdi>${Bun.escapeHTML(name)}</bdi></a>${pages.length > 1 ? ", look through the list of pages" : ""}<span class="searched">, or search</span>.</p>\n`;

function overviewPage(folder: string, stripped: string | null): DocsPage {
  const title = folderInWords(folder, stripped);
  return { ...NOBODYS, address: folder, title };
}

const titled = ({ title }: DocsPage, html: string): string => `<h1 dir="auto">${Bun.escapeHTML(title)}</h1>\n${html}`;

function bodyOf({ page, source, bodies, planned }: Work, site: DocsSite, { folder, url }: PageFolder): string {
  const rendered = bodies.get(folder);
  if (!rendered) return asSource(source.text);
  if (rendered.empty && isIndex(planned)) return titled(page, overview(site, page, url));
  return rendered.titled ? rendered.html : titled(page, rendered.html);
}

interface Made {
  path: string;
  page: string;
  /** The part of it that its author wrote. */
  written: string;
}

/** For every address of a page. */
function* pagesOf(site: DocsSite, works: readonly Work[], overviews: readonly DocsPage[]): Generator<Made> {
  const places = new Map<string, PageFolder>();
  const at = (folder: string): PageFolder => places.getOrInsertComputed(folder, () => placeAt(folder));
  for (const work of works) {
    // An index and its page of the same name are the same bytes, made once.
    const made = new Map<string, Omit<Made, "path">>();
    for (const path of work.planned.paths) {
      const folder = folderOf(path);
      const both = made.getOrInsertComputed(folder, () => {
        const body = bodyOf(work, site, at(folder));
        return { page: docsPage(site, work.page, body, at(folder)), written: docsText(site, work.page, body) };
      });
      yield { path, ...both };
    }
  }
  for (const page of overviews) {
    const place = at(page.address);
    const body = titled(page, overview(site, page, place.url));
    yield {
      path: `${page.address}index.html`,
      page: docsPage(site, page, body, place),
      written: docsText(site, page, ""),
    };
  }
}

function healedBy(works: readonly Work[]): Healed[] {
  const root = works.find(({ planned }) => planned.address === "");
  const count = works.length === 1 ? "One Markdown file became a page" : `${works.length} Markdown files became pages`;
  const message = `${count}; ${root ? root.source.path : "an overview of them"} answers /.`;
  const recoded = works.filter(({ source }) => source.recoded).map(({ source }) => source.path);
  return [
    { code: "markdown_rendered", message, ...(root ? { path: root.source.path } : {}) },
    ...recoded.map((path): Healed => {
      return {
        code: "encoding_fixed",
        message: `${path} is not UTF-8; its page is, and the file stays as it is.`,
        path,
      };
    }),
  ];
}

/** At one of the page's addresses: the others show the same text. */
const renderedOf = ({ bodies }: Work): Rendered | null => [...bodies.values()][0] ?? null;

const spentOn = ({ outcomes }: Work): number => outcomes.reduce((sum, { spent }) => sum + spent, 0);

function tooComplexOf(works: readonly Work[]): Warning[] {
  const [costliest] = works.toSorted((a, b) => spentOn(b) - spentOn(a));
  return works
    .filter((work) => renderedOf(work) === null)
    .map((work) => {
      const by_others = work !== costliest && work.outcomes[0]!.crowded_out;
      return tooComplex(work.source.path, by_others ? costliest!.source.path : null);
    });
}

const brokenLinksOf = (works: readonly Work[]): Finding[] =>
  works.flatMap((work) => (renderedOf(work)?.broken ?? []).map((link) => brokenLink(work.source.path, link)));

const undrawnOf = (works: readonly Work[]): Finding[] =>
  (["math", "mermaid"] as const).flatMap((drawing) => {
    const [first, ...others] = works.filter((work) => renderedOf(work)?.undrawn.includes(drawing));
    return first ? [shownAsCode(drawing, [first.source.path, ...others.map(({ source }) => source.path)])] : [];
  });

const encode = (text: string): Bytes => new TextEncoder().encode(text);

function withMdxWarning(draft: Draft): Draft {
  const path = firstMdx(draft.files);
  return path === null ? draft : { ...draft, warnings: [...draft.warnings, unbuiltMdx(path)] };
}

export function renderMarkdownSite(draft: Draft, progress: Progress, limits?: TimeLimits): Draft {
  if (draft.files.has("index.html")) return draft;
  const plan = planDocs(draft.files);
  if (!plan) return withMdxWarning(draft);
  progress("rendering Markdown");
  const works = renderAll(plan, draft, progress, limits);
  progress("making pages of Markdown");
  const overviews = plan.overviews.map((folder) => overviewPage(folder, draft.stripped_folder));
  const pages = [...works.map(({ page }) => page), ...overviews];
  const root = pages.find(({ address }) => address === "")!;
  const site = docsSite(root.title, pages, draft.files);
  const made = new Map<string, Bytes>();
  if (!draft.files.has(MISSING.address)) {
    made.set(MISSING.address, encode(docsPage(site, MISSING, titled(MISSING, missingText(site)), placeAnywhere())));
  }
  const written = new Map<string, Bytes>();
  for (const { path, page, written: text } of pagesOf(site, works, overviews)) {
    made.set(path, encode(page));
    written.set(path, encode(text));
  }
  made.set(`${site.assets}style.css`, encode(STYLE));
  made.set(`${site.assets}script.js`, encode(SCRIPT));
  made.set(`${site.assets}search.json`, encode(site.search.json));
  site.search.parts.forEach((part, n) => made.set(`${site.assets}search-${n + 1}.json`, encode(part)));
  return {
    ...draft,
    files: new Map([...draft.files, ...made]),
    made: new Set([...draft.made, ...made.keys()]),
    healed: [...draft.healed, ...healedBy(works)],
    warnings: [...draft.warnings, ...tooComplexOf(works)],
    findings: [...brokenLinksOf(works), ...undrawnOf(works)],
    written: new Map([...written, [MISSING.address, new Uint8Array()]]),
  };
}

// Warnings about mistakes that a Markdown site cannot mend: links to missing files, texts that take too long.

/** `costliest` is the file that most of the deploy's time was spent on. Null if the text itself took too long. */
function tooComplex(path: string, costliest: string | null): Warning {
  const of = costliest === null ? show(path) : "that file";
  const split = `plit ${of} into shorter files, or take out its long runs of brackets, asterisks, underscores or nested quotations.`;
  return {
    code: "markdown_too_complex",
    message: `${show(path)} could not be rendered in time, so its page shows its source.`,
    path,
    fix_recipe:
      costliest === null
        ? `S${split}`
        : `Other files took the time that a deploy has for Markdown, and ${show(costliest)} took most: s${split}`,
  };
}

const DRAWINGS: Record<Drawing, { what: string; fix: string }> = {
  math: {
    what: "formulas",
    fix: "Build the pages with a tool that sets formulas and deploy what it builds, or show each formula as a picture.",
  },
  mermaid: {
    what: "Mermaid diagrams",
    fix: "Draw each diagram once (npx -p @mermaid-js/mermaid-cli mmdc -i diagram.mmd -o diagram.svg), add the picture to the upload, and show it where the code is: ![what it shows](diagram.svg).",
  },
};

/** One cause is reported once: `paths` are all files that have it. */
function shownAsCode(drawing: Drawing, paths: readonly [string, ...string[]]): Finding {
  const { what, fix } = DRAWINGS[drawing];
  const [path, ...more] = paths;
  const others = `${more.length} more ${more.length === 1 ? "file" : "files"}`;
  const message =
    more.length === 0
      ? `${show(path)} has ${what}, which stand on its page as code.`
      : `${show(path)} and ${others} have ${what}, which stand on their pages as code.`;
  return { code: "shown_as_code", path, target: drawing, message, fix_recipe: fix };
}

function unbuiltMdx(path: string): Warning {
  return {
    code: "unbuilt_source",
    message: `${show(path)} is MDX, which no browser can show: only a build makes pages of it.`,
    path,
    fix_recipe: `Build the project (npm run build) and deploy the folder that the build makes, or rename ${show(path)} and its like to .md if they are plain Markdown.`,
  };
}

/** Worded when it is shown. */
const brokenLink = (path: string, { target, found }: BrokenLink): Finding => ({
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
