/** `:rocket:` is 🚀: the names that GitHub has, a list of facts that `emoji.txt` holds as `🚀 rocket, 👍 +1 thumbsup, …`
 *  (scripts/emoji.ts writes it). */
import list from "./emoji.txt" with { type: "text" };

let known: ReadonlyMap<string, string> | undefined;

function read(): ReadonlyMap<string, string> {
  const emoji = new Map<string, string>();
  for (const entry of list.split(/, |\n/)) {
    const [character, ...names] = entry.trim().split(" ");
    for (const name of names) emoji.set(name, character!);
  }
  return emoji;
}

/** Between letters or digits a colon is a colon: `10:100:20`. */
const SHORTCODE = /(?<![\p{L}\p{N}]):([a-z\d_+-]{1,50}):(?![\p{L}\p{N}])/gu;

/** Whether a text may have any. */
export const hasEmoji = (text: string): boolean => /:[a-z\d_+-]+:/.test(text);

export function withEmoji(text: string): string {
  if (!text.includes(":") || text.indexOf(":") === text.lastIndexOf(":")) return text;
  return text.replace(SHORTCODE, (written, name: string) => (known ??= read()).get(name) ?? written);
}
