/** The manual, as it was when the program was built. Loaded by the first who asks for it. */
import { MARKDOWN_SITE_PATH } from "../assets.ts";
import type { Chapter } from "./chapter.ts";
import { manualAsJson } from "./macro.ts" with { type: "macro" };

const withPictures = (html: string): string => html.replaceAll('"images/markdown.webp"', `"${MARKDOWN_SITE_PATH}"`);

export const CHAPTERS: readonly Chapter[] = (JSON.parse(manualAsJson()) as Chapter[]).map((chapter) => ({
  ...chapter,
  html: withPictures(chapter.html),
}));
