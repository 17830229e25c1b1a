/** Reads the attributes of a tag as a browser does: the place of a quote decides whether it quotes. */
import { asciiLower } from "./character-references.ts";

const [SLASH, EQUALS, GREATER, QUOTE, APOSTROPHE] = [47, 61, 62, 34, 39];

export const isSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 9 || code === 13 || code === 12;

/** Goes from attribute to attribute. Its fields are places in `text`, so that a tag costs no memory. */
export class AttributeCursor {
  name_from = 0;
  name_to = 0;
  /** The place of the value, with its quotes. Without a value both are `name_to`. */
  from = 0;
  to = 0;

  constructor(
    private text: string,
    /** The place at which reading goes on. After the last attribute it is the place of the tag's `>`, or the text's end
     *  if there is no `>`. */
    public at = 0,
  ) {}

  restart(text: string, at: number): this {
    this.text = text;
    this.at = at;
    return this;
  }

  /** False: there are no more. */
  next(): boolean {
    const { text } = this;
    const { length } = text;
    let at = this.at;
    while (at < length && isBetween(text.charCodeAt(at))) at++;
    if (at >= length || text.charCodeAt(at) === GREATER) {
      this.at = at;
      return false;
    }
    this.name_from = at++; // the first character may be `=`
    while (at < length && !endsName(text.charCodeAt(at))) at++;
    this.name_to = this.from = this.to = this.at = at;
    while (at < length && isSpace(text.charCodeAt(at))) at++;
    return at < length && text.charCodeAt(at) === EQUALS ? this.readValue(at + 1) : true;
  }

  /** False: its quote is never closed, and then the tag never ends. */
  private readValue(from: number): boolean {
    const { text } = this;
    const { length } = text;
    let at = from;
    while (at < length && isSpace(text.charCodeAt(at))) at++;
    this.from = at;
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === APOSTROPHE) {
      const end = text.indexOf(code === QUOTE ? '"' : "'", at + 1);
      this.to = this.at = end < 0 ? length : end + 1;
      return end >= 0;
    }
    while (at < length && !endsValue(text.charCodeAt(at))) at++;
    this.to = this.at = at;
    return true;
  }

  /** The name, in lower case. */
  get name(): string {
    return asciiLower(this.text.slice(this.name_from, this.name_to));
  }

  /** The value as it was written: entities are not decoded. */
  get value(): string {
    const code = this.text.charCodeAt(this.from);
    const quoted = this.to > this.from && (code === QUOTE || code === APOSTROPHE);
    return quoted ? this.text.slice(this.from + 1, this.to - 1) : this.text.slice(this.from, this.to);
  }
}

const isBetween = (code: number): boolean => isSpace(code) || code === SLASH;
const endsName = (code: number): boolean => isSpace(code) || code === SLASH || code === EQUALS || code === GREATER;
const endsValue = (code: number): boolean => isSpace(code) || code === GREATER;

const shared = new AttributeCursor("");

/** The place of the `>` that ends the tag whose attributes begin at `from`; -1 if there is none, and then the page ends
 *  with the tag. */
export function tagEnd(html: string, from: number): number {
  const cursor = shared.restart(html, from);
  while (cursor.next());
  const { at } = cursor;
  cursor.restart("", 0);
  return at < html.length ? at : -1;
}

/** Whether the slash at the end of a tag's attributes ends its element: the last one of `href=a/` is a part of the value. */
export function closesItself(attributes: string): boolean {
  if (!attributes.endsWith("/")) return false;
  const cursor = new AttributeCursor(attributes);
  while (cursor.next());
  return cursor.to < attributes.length;
}

/** The attributes of a tag as written: names in lower case, the first of a name wins, entities not decoded. */
export function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  const cursor = new AttributeCursor(text);
  while (cursor.next()) {
    const { name } = cursor;
    if (!attributes.has(name)) attributes.set(name, cursor.value);
  }
  return attributes;
}
