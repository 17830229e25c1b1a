/** Which way a text runs and, where its script tells, in which language it is. */

export interface Language {
  lang: string;
  dir: "ltr" | "rtl";
}

/** Letters that only these languages use come before the script that they share with others. */
const SCRIPTS: [lang: string, letters: RegExp][] = [
  ["he", /\p{Script=Hebrew}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["th", /\p{Script=Thai}/gu],
  ["hi", /\p{Script=Devanagari}/gu],
];
const RIGHT_TO_LEFT = new Set(["he", "ar", "fa"]);

/** Text that is looked at. */
const SAMPLE = 4000;
/** Most texts are in Latin letters alone, and known by that. */
const OTHER_LETTERS = /[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufefe]/;
/** Commands and names of products are in Latin letters in every language. */
const SHARE = 0.3;
const CODE = /^ {0,3}(```|~~~)[^]*?^ {0,3}\1|`[^`\n]*`|\]\([^()\n]*\)|<[^<>\n]*>|https?:\S*/gm;

const count = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0;

function refine(lang: string, text: string): string {
  if (lang === "ar" && count(text, /[پچژگ]/gu) > 2) return "fa";
  return lang === "ru" && count(text, /[іїєґ]/giu) > 2 ? "uk" : lang;
}

export function languageOf(markdown: string): Language {
  if (!OTHER_LETTERS.test(markdown.slice(0, SAMPLE))) return { lang: "en", dir: "ltr" };
  const text = markdown.slice(0, SAMPLE).replace(CODE, " ");
  const letters = count(text, /\p{L}/gu);
  const found = SCRIPTS.find(([, script]) => count(text, script) > letters * SHARE)?.[0];
  const lang = found === undefined ? "en" : refine(found, text);
  return { lang, dir: RIGHT_TO_LEFT.has(lang) ? "rtl" : "ltr" };
}
