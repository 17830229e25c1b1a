/** The manual, as it was when the program was built. Loaded by the first who asks for it. */
import { MANUAL_PICTURES } from "./assets.ts";
import type { Chapter } from "./manual-search.ts";
import { manualAsJson } from "./built.ts" with { type: "macro" };

const withPictures = (html: string): string =>
  Object.entries(MANUAL_PICTURES).reduce((text, [name, path]) => text.replaceAll(`"${name}"`, `"${path}"`), html);

export const CHAPTERS: readonly Chapter[] = (JSON.parse(manualAsJson()) as Chapter[]).map((chapter) => ({
  ...chapter,
  html: withPictures(chapter.html),
}));
