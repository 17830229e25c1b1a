/** Makes an author's HTML safe inside a page: elements that it leaves open are closed, and it cannot close elements
 *  that it did not open, so the page around it stays whole. URLs are rewritten on the way. */
import { AttributeCursor, closesItself } from "./attributes.ts";
import { asBrowser, breaksOut, type Namespaces, VOID } from "./foreign.ts";
import { Tokenizer } from "./tokenizer.ts";

/** Elements that end by themselves when something else begins or ends: an end tag too many would be an error. */
const ENDS_ITSELF = new Set("li dt dd p rt rp optgroup option colgroup caption thead tbody tfoot tr td th".split(" "));
/** The page has its own; and after `<plaintext>` nothing is a tag any more. */
const PAGE_ONLY = new Set("html head body frameset plaintext".split(" "));
/** The most tags without an end, for each may cost a look to the end of the text; after them every `<` is text. */
const MOST_CUT = 5;

interface Attribute {
  name: string;
  /** The value as it was written: entities are not decoded. */
  value: string;
}

/** The new value of an attribute, as it is to be written between double quotes; null: as it is. */
export type Rewrite = (element: string, attribute: Attribute, all: readonly Attribute[]) => string | null;

/** The elements that are open, and how many of each name: a search for one that is not there would be quadratic. */
class Open {
  private readonly stack: { name: string; drawn: boolean }[] = [];
  private readonly counts = new Map<string, number>();
  /** The number of open elements that are not HTML. */
  private drawn = 0;
  /** Sees what is written, not what is left out. */
  private readonly browser = asBrowser();
  /** The end tags of the drawing that the current start tag ends. */
  before = "";

  /** The namespaces for the tokenizer: it reads on as the browser will that gets the written text. */
  readonly namespaces: Namespaces = {
    open: (name, attributes) => {
      this.before = "";
      if (PAGE_ONLY.has(name)) return "plain";
      if (this.drawn > 0 && breaksOut(name, attributes)) this.leaveDrawing();
      const is = this.browser.open(name, attributes);
      // Readers with scripts off see the elements inside, so they are read as markup.
      return name === "noscript" && is === "html" ? "plain" : is;
    },
    close: () => false,
    inside: () => this.browser.inside(),
  };

  push(name: string, drawn: boolean): void {
    this.stack.push({ name, drawn });
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    if (drawn) this.drawn++;
  }
  private pop(): string {
    const { name, drawn } = this.stack.pop()!;
    this.counts.set(name, this.counts.get(name)! - 1);
    if (drawn) this.drawn--;
    return name;
  }
  private endTag(name: string): string {
    // HTML in a drawing that is left open would keep the drawing's own end tag from counting.
    if (ENDS_ITSELF.has(name) && this.drawn === 0) return "";
    this.browser.close(name);
    return `</${name}>`;
  }
  private leaveDrawing(): void {
    while (this.stack.length > 0 && this.browser.inside().foreign) this.before += this.endTag(this.pop());
  }
  /** The end tags that have to come before that of `name`; null if `name` is not open. */
  close(name: string): string | null {
    if (!this.counts.get(name)) return null;
    let tags = "";
    for (let top = this.pop(); top !== name; top = this.pop()) tags += this.endTag(top);
    this.browser.close(name);
    return tags;
  }
  closeAll(): string {
    let tags = "";
    while (this.stack.length > 0) tags += this.endTag(this.pop());
    return tags;
  }
}

interface Placed extends Attribute {
  /** The place of the value, with its quotes. */
  from: number;
  to: number;
}

/** A browser takes the first of a name. */
function attributesAt(html: string, inside: number): Placed[] {
  const attributes = new Map<string, Placed>();
  const cursor = new AttributeCursor(html, inside);
  while (cursor.next()) {
    const { name, value, from, to } = cursor;
    if (!attributes.has(name)) attributes.set(name, { name, value, from, to });
  }
  return [...attributes.values()];
}

function rewritten(html: string, { name, from, to, inside }: Tokenizer, rewrite: Rewrite): string {
  const attributes = attributesAt(html, inside);
  let [text, at] = ["", from];
  for (const attribute of attributes) {
    const value = rewrite(name, attribute, attributes);
    if (value === null) continue;
    text += `${html.slice(at, attribute.from)}"${value}"`;
    at = attribute.to;
  }
  return text + html.slice(at, to);
}

/** A tag in the form in which the page may have it. */
function written(html: string, tag: Tokenizer, open: Open, rewrite: Rewrite): string {
  const { kind, name, from, to, inside, is } = tag;
  if (PAGE_ONLY.has(name)) return "";
  if (kind === "close") {
    const before = open.close(name);
    return before === null ? "" : before + html.slice(from, to);
  }
  const drawn = is === "drawing";
  const ended = drawn ? closesItself(html.slice(inside, to - 1)) : VOID.has(name);
  const { before } = open;
  if (!ended) open.push(name, drawn);
  return before + rewritten(html, tag, rewrite);
}

const asText = (html: string): string => html.replaceAll("<", "&lt;");

/** Ends a comment of the script itself, so that the script's end tag counts as one. */
const SCRIPT_CLOSER = "\n-->";

export function closeHtml(html: string, rewrite: Rewrite): string {
  const open = new Open();
  const token = new Tokenizer(html, open.namespaces);
  let [text, at, closer] = ["", 0, ""];
  let [cuts, raw_end] = [0, -1];
  while (token.next()) {
    const { kind, from, to } = token;
    if (kind === "comment") closer = token.closer;
    else if (kind === "cut") {
      // The end tag of a text area that never ends: all behind it is still in the text area.
      if (from === raw_end || ++cuts > MOST_CUT) return text + asText(html.slice(at)) + open.closeAll();
      text += html.slice(at, from) + asText("<");
      at = from + 1;
      token.goOnAt(at);
    } else if (kind !== "text") {
      text += html.slice(at, from) + written(html, token, open, rewrite);
      at = to;
      raw_end = token.raw_end;
      if (raw_end === html.length && token.name === "script") closer = SCRIPT_CLOSER;
    }
  }
  return text + html.slice(at) + closer + open.closeAll();
}
