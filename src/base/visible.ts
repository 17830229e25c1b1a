/** A stranger's text made harmless, in one way for a terminal, a log and a message. What would move the cursor, break
 *  the line, turn the writing round or hide is shown as its code, `\u{202e}`. All other text stays as it is: letters of
 *  every script, also those from right to left, and emoji. A joiner is always escaped, so an emoji that is
 *  joined of several is shown as those; between letters it would make two names look alike.
 *  Runs in browsers and on Node 18: no look-behind, nothing imported. */

/** Characters that no reader sees: line ends without a glyph, what turns the direction, and what shows nothing at all. */
const UNSEEN_CLASS = String.raw`\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb`;

/** Unseen characters, controls, and lone halves of surrogate pairs. */
const ACTIVE = String.raw`\p{Cc}\p{Cs}${UNSEEN_CLASS}`;

/** A selector behind an emoji says in which of two forms it is drawn; anywhere else it hides. */
const EMOJI = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]|[0-9#*]\ufe0f\u20e3`;

/** How many marks one letter may have: no writing needs more, and a flood of them covers the lines around. */
const MOST_MARKS = 8;
const FLOOD = String.raw`[\p{Mn}\p{Me}]{${MOST_MARKS + 1},}`;

const PATTERN = new RegExp(`(${EMOJI})|[${ACTIVE}]|${FLOOD}`, "gu");
const KEPT_OR_UNSEEN = new RegExp(`(${EMOJI}|[\u200c\u200d])|[${UNSEEN_CLASS}]`, "gu");
const IS_ACTIVE = new RegExp(`[${ACTIVE}]`, "u");
const PLAIN = /^[\x20-\x7e]*$/;

const code = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;

/** The character as JSON writes it: one beyond the first 65,536 is two codes. */
const jsonCode = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** Replaces what `PATTERN` found; an emoji is kept, and so are the first marks of a flood. */
const harmless =
  (escape: (char: string) => string) =>
  (found: string, emoji: string | undefined): string => {
    if (emoji !== undefined) return emoji;
    return Array.from(found, (char, i) => (IS_ACTIVE.test(char) || i >= MOST_MARKS ? escape(char) : char)).join("");
  };

const asText = harmless(code);
const asJson = harmless(jsonCode);

/** Matches each unseen character, an emoji's selector too: to compare words as a reader sees them. */
export const UNSEEN = new RegExp(`[${UNSEEN_CLASS}]`, "gu");

/** The text as a reader sees it, to be stored. Selectors of emoji and joiners (of Persian, Indian scripts, emoji) stay: they
 *  shape what is seen. */
export const withoutUnseen = (text: string): string =>
  PLAIN.test(text) ? text : text.replace(KEPT_OR_UNSEEN, (_, kept: string | undefined) => kept ?? "");

/** The text on one line, with everything harmful shown as its code. */
export const visible = (text: string): string => (PLAIN.test(text) ? text : text.replace(PATTERN, asText));

/** The same for prose: line ends become spaces. */
export const visibleLine = (text: string): string =>
  visible(text.replace(/\s+/g, (space) => (/[\r\n]/.test(space) ? " " : space)));

/** JSON in which harmful characters are escaped: the value stays the same. */
export function visibleJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent);
  if (PLAIN.test(json)) return json;
  return json.replace(PATTERN, (found, emoji: string | undefined) => (found === "\n" ? found : asJson(found, emoji)));
}
