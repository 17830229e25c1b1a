/** What a page calls itself. */
import { decodeEntities } from "./entities.ts";
import { withoutUnseen } from "../base/visible.ts";
import type { Page } from "./page.ts";

const MAX_CHARACTERS = 200;
/** Source text that is looked at: entities are longer than what they stand for. */
const MAX_SOURCE = 8192;

/** One line, for lists and terminals: controls (an escape sequence would act there) and line ends count as white space;
 *  what shows nothing, or turns the direction, is left out. */
function oneLine(source: string): string | null {
  const text = decodeEntities(source.slice(0, MAX_SOURCE)).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
  const words = withoutUnseen(text).replace(/\s+/g, " ");
  const characters = [...words.trim().toWellFormed()];
  if (characters.length <= MAX_CHARACTERS) return characters.join("") || null;
  return `${characters
    .slice(0, MAX_CHARACTERS - 1)
    .join("")
    .trimEnd()}…`;
}

/** The text of a page's first `<title>`; a drawing's title is none. Null where there is none, or nothing in it. */
export function titleOf(page: Page): string | null {
  for (const part of page.parts()) {
    if (part.kind === "open" && part.name === "title" && part.raw !== null) return oneLine(part.raw);
  }
  return null;
}
