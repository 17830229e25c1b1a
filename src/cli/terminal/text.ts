/** What the terminal shows. Every value that enters a text is made inert first: a server's sentence or a file's name
 *  must not move the cursor, change the title or look like something else. */

/** Control characters, and the marks that reorder or hide text. */
const ACTIVE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text of others, on one line and harmless; what was active is shown as its code. */
export const inert = (value: string): string => value.replace(/\s*[\r\n]+\s*/g, " ").replace(ACTIVE, escaped);

/** JSON escapes only half of the control characters; the rest are as harmful on a terminal. */
export const inertJson = (value: unknown): string => JSON.stringify(value).replace(ACTIVE, escaped);

export class Text {
  constructor(readonly render: (colors: boolean) => string) {}
}

type Value = Text | string | number;

const asText = (value: Value): Text => (value instanceof Text ? value : new Text(() => inert(String(value))));

/** A line. Values are made inert unless they are texts themselves. */
export const text = (parts: TemplateStringsArray, ...values: Value[]): Text => {
  const texts = values.map(asText);
  return new Text((colors) => parts.reduce((line, part, i) => line + texts[i - 1]!.render(colors) + part));
};

const style =
  (on: string, off: number) =>
  (value: Value): Text =>
    new Text((colors) => {
      const inner = asText(value).render(colors);
      return colors ? `\x1b[${on}m${inner}\x1b[${off}m` : inner;
    });

export const bold = style("1", 22);
export const dim = style("2", 22);
export const red = style("31", 39);
export const green = style("32", 39);
export const yellow = style("33", 39);
export const cyan = style("36", 39);

/** Words on lines of at most `width` characters. A word that is longer (a URL) stays whole. */
export function wrapped(words: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of inert(words).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
