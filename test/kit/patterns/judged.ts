/** Everything that reads an upload, one after the other: also what comes behind a stage that refuses it. */
import { Refusal } from "../../../src/base/errors.ts";
import { closeHtml } from "../../../src/html/close-html.ts";
import { keepPages, titleOf } from "../../../src/html/page.ts";
import { scanAbuse } from "../../../src/pipeline/abuse/index.ts";
import { languageOf } from "../../../src/pipeline/docs/language.ts";
import { ensureIndex } from "../../../src/pipeline/ensure-index.ts";
import { lint } from "../../../src/pipeline/lint/index.ts";
import { describe } from "../../../src/pipeline/index.ts";
import { highlight } from "../../../src/pipeline/markdown/highlight.ts";
import { createLinker } from "../../../src/pipeline/markdown/links.ts";
import { readSource } from "../../../src/pipeline/markdown/source.ts";
import { detectSpa } from "../../../src/pipeline/spa.ts";
import type { Bytes, Draft } from "../../../src/base/types.ts";
import { NEW_SITE } from "../abuse-site.ts";
import type { Upload } from "./files.ts";

const bytes = (text: string): Bytes => new TextEncoder().encode(text);

export const draftOf = (files: Upload): Draft => ({
  files: new Map(Object.entries(files).map(([path, text]) => [path, bytes(text)])),
  made: new Set(),
  stripped_folder: null,
  healed: [],
  warnings: [],
});

function refusedOr(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

export function judgedInParts(files: Upload): void {
  const draft = ensureIndex(draftOf(files), () => {});
  const pages = keepPages();
  refusedOr(() => scanAbuse(draft, NEW_SITE, () => {}, pages));
  titleOf(pages(draft.files.get("index.html")!));
  const { spa } = detectSpa(draft.files, pages);
  describe(draft, new Map(), () => {});
  lint(draft, spa, () => {}, pages);
}

/** What is ours of rendering: `marked` has a limit of time of its own. Of languages in colour, one: their expressions are
 *  tried with all others. */
export function markdownReaders(text: string): void {
  const { text: body } = readSource("a.md", bytes(text));
  const { rewrite } = createLinker("a.md", "b/", {
    addresses: new Map([["c.md", "c.html"]]),
    files: new Set(["c.md"]),
  });
  rewrite("a", { name: "href", value: body }, []);
  closeHtml(body, rewrite);
  languageOf(`я${body}`);
  highlight(body, "js");
}
