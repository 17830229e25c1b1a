/** What the terminal shows. Every value that enters a text is made harmless first: a server's sentence or a file's name
 *  must not move the cursor, change the title or look like something else. */
import { visibleLine } from "../../base/visible.ts";

export class Text {
  constructor(readonly render: (colors: boolean) => string) {}
}

type Value = Text | string | number;

const asText = (value: Value): Text => (value instanceof Text ? value : new Text(() => visibleLine(String(value))));

/** A line. Values are made harmless unless they are texts themselves. */
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

/** Parts words into lines of at most `width` characters. A longer word (a URL) gets a line of its own, uncut. */
export function wrapped(words: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of visibleLine(words).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
