/** Names as words, and texts cut to a length: what titles, navigation and the overview are written with. */

/** Longer titles would be repeated on every page. */
const LONGEST_TITLE = 150;
const LONGEST_EXCERPT = 220;

function cut(text: string, longest: number): string {
  const line = text
    .slice(0, longest * 8)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .toWellFormed();
  const characters = [...line];
  if (characters.length <= longest) return line;
  const kept = characters.slice(0, longest).join("");
  const word = kept.lastIndexOf(" ");
  return `${(word > longest * 0.6 ? kept.slice(0, word) : kept).trimEnd()}…`;
}

export const shortTitle = (text: string): string => cut(text, LONGEST_TITLE);
export const excerptOf = (text: string): string => cut(text, LONGEST_EXCERPT);

/** `02-getting_started` → `Getting started`; `README` stays as it is shouted. */
export function inWords(name: string): string {
  const words =
    name
      .replace(/^\d+[\s._-]+(?=\S)/, "")
      .replace(/[\s_-]+/g, " ")
      .trim() || name;
  const [first = ""] = words;
  return shortTitle(first.toLocaleUpperCase("en") + words.slice(first.length));
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** With its slash; empty for the root. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

export const withoutExtension = (path: string): string => path.slice(0, path.lastIndexOf("."));
