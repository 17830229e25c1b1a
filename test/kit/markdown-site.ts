/** A Markdown site straight out of the pipeline, for the many small rules. */
import { renderMarkdownSite } from "../../src/pipeline/docs/index.ts";
import type { TimeLimits } from "../../src/pipeline/markdown/limits.ts";
import type { Bytes, Draft, Progress } from "../../src/base/types.ts";

export interface DocsSite {
  draft: Draft;
  made: string[];
  /** The file that is stored under a path, as text. */
  page(path?: string): string;
  /** The page's own text: the inside of its `<article>`. */
  article(path?: string): string;
  warnings: string[];
}

const bytes = (content: string | Uint8Array): Bytes =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);

export function docs(
  files: Record<string, string | Uint8Array>,
  options: { stripped?: string; limits?: TimeLimits; progress?: Progress } = {},
): DocsSite {
  const upload: Draft = {
    files: new Map(Object.entries(files).map(([path, content]) => [path, bytes(content)])),
    made: new Set(),
    stripped_folder: options.stripped ?? null,
    healed: [],
    warnings: [],
  };
  const draft = renderMarkdownSite(upload, options.progress ?? (() => {}), options.limits);
  const page = (path = "index.html") => {
    const content = draft.files.get(path);
    if (!content) throw new Error(`there is no ${path} among ${[...draft.files.keys()].join(" ")}`);
    return new TextDecoder().decode(content);
  };
  return {
    draft,
    made: [...draft.made].toSorted(),
    page,
    article: (path) => /<article>\n([^]*)<\/article>/.exec(page(path))![1]!.trim(),
    warnings: [...draft.warnings, ...(draft.findings ?? [])].map(
      ({ code, path, message }) => `${code} ${path}: ${message}`,
    ),
  };
}

/** One page's body. */
export const rendered = (markdown: string): string =>
  docs({ "README.md": `# T\n\n${markdown}` })
    .article()
    .replace(/^<h1 id="t">T<\/h1>\n/, "")
    .trim();
