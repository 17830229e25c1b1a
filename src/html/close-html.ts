/** The author's HTML made safe to stand inside a page: what it leaves open is closed, what it did not open it does not
 *  close, so that the page around it stays whole. URLs are rewritten on the way. */
import { type Attribute, type Part, tagsOf } from "./html-tags.ts";

const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen".split(" "),
);
/** They end by themselves where something else begins or ends: an end tag too many would be an error. */
const ENDS_ITSELF = new Set("li dt dd p rt rp optgroup option colgroup caption thead tbody tfoot tr td th".split(" "));
/** The page has its own; and after `<plaintext>` nothing is a tag any more. */
const PAGE_ONLY = new Set("html head body frameset plaintext".split(" "));

/** The new value of an attribute, as it is to be written between double quotes; null: as it is. */
export type Rewrite = (
  element: string,
  attribute: Pick<Attribute, "name" | "value">,
  all: readonly Attribute[],
) => string | null;

type Element = Extract<Part, { kind: "open" | "close" }>;

/** The elements that are open, and how many of each name: a search for one that is not there would be quadratic. */
class Open {
  private readonly stack: string[] = [];
  private readonly counts = new Map<string, number>();
  foreign = 0;

  push(name: string): void {
    this.stack.push(name);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    if (name === "svg" || name === "math") this.foreign++;
  }
  private pop(): string {
    const name = this.stack.pop()!;
    this.counts.set(name, this.counts.get(name)! - 1);
    if (name === "svg" || name === "math") this.foreign--;
    return name;
  }
  /** The end tags that have to come before that of `name`; null where `name` is not open. */
  close(name: string): string | null {
    if (!this.counts.get(name)) return null;
    let tags = "";
    for (let top = this.pop(); top !== name; top = this.pop()) tags += endTag(top);
    return tags;
  }
  closeAll(): string {
    let tags = "";
    while (this.stack.length > 0) tags += endTag(this.pop());
    return tags;
  }
}

const endTag = (name: string): string => (ENDS_ITSELF.has(name) ? "" : `</${name}>`);

function rewritten(html: string, tag: Element, rewrite: Rewrite): string {
  let [text, at] = ["", tag.from];
  for (const attribute of tag.attributes) {
    const value = rewrite(tag.name, attribute, tag.attributes);
    if (value === null) continue;
    text += `${html.slice(at, attribute.from)}"${value}"`;
    at = attribute.to;
  }
  return text + html.slice(at, tag.to);
}

/** A tag as it may stand in the page. */
function written(html: string, tag: Element, open: Open, rewrite: Rewrite): string {
  if (PAGE_ONLY.has(tag.name)) return "";
  if (tag.kind === "close") {
    const before = open.close(tag.name);
    return before === null ? "" : before + html.slice(tag.from, tag.to);
  }
  const ended = open.foreign > 0 && html[tag.to - 2] === "/";
  if (!ended && !VOID.has(tag.name)) open.push(tag.name);
  return rewritten(html, tag, rewrite);
}

export function closeHtml(html: string, rewrite: Rewrite): string {
  const open = new Open();
  let [text, at, closer] = ["", 0, ""];
  for (const part of tagsOf(html)) {
    if (part.kind === "endless") closer = part.closer;
    else if (part.kind === "broken") {
      text += `${html.slice(at, part.from)}&lt;`;
      at = part.from + 1;
    } else {
      text += html.slice(at, part.from) + written(html, part, open, rewrite);
      at = part.to;
    }
  }
  return text + html.slice(at) + closer + open.closeAll();
}
