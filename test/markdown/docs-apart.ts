/** A Markdown site made in a process of its own, which is ended once it has answered, as a deploy's is: what it gave up may
 *  be in a regular expression for minutes more, and would take the time of every test after it. */
import { docs } from "../kit/markdown-site.ts";
import type { TimeLimits } from "../../src/pipeline/markdown/limits.ts";

interface Asked {
  files: Record<string, string>;
  limits: TimeLimits;
}

interface Made {
  /** The recipe of each warning, in their order. */
  recipes: string[];
  article(path?: string): string;
  page(path?: string): string;
  warnings: string[];
}

type Told = Pick<Made, "warnings" | "recipes"> & { html: Record<string, { page: string; article: string }> };

export async function docsApart(files: Record<string, string>, limits: TimeLimits): Promise<Made> {
  const { promise, resolve, reject } = Promise.withResolvers<Told>();
  const child = Bun.spawn([process.execPath, import.meta.path], {
    ipc: (told) => resolve(told as Told),
    onExit: (_, code) => reject(new Error(`the process ended with ${code} before it answered`)),
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.send({ files, limits } satisfies Asked);
  const { html, warnings, recipes } = await promise.finally(() => child.kill("SIGKILL"));
  const at = (path: string) => html[path]!;
  const [article, page] = [(path = "index.html") => at(path).article, (path = "index.html") => at(path).page];
  return { article, page, warnings, recipes };
}

if (import.meta.main) {
  process.once("message", ({ files, limits }: Asked) => {
    const { draft, page, article, warnings } = docs(files, { limits });
    const pages = [...draft.files.keys()].filter((path) => /<article>/.test(page(path)));
    const html = Object.fromEntries(pages.map((path) => [path, { page: page(path), article: article(path) }]));
    const recipes = draft.warnings.map(({ fix_recipe }) => fix_recipe);
    process.send!({ html, warnings, recipes } satisfies Told);
  });
}
