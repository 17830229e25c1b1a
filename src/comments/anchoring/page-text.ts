/** The text of a stored page (`text.ts`), as a browser with scripts sees it before the first script runs. One pass over the
 *  tags, no tree: text that a table cannot hold stays where it was written. */
import { closesItself } from "../../html/attributes.ts";
import { decodeText } from "../../html/character-references.ts";
import { type Part, partsOf } from "../../html/page.ts";
import { EDGES, SKIPPED, TextWriter } from "./text.ts";

/** Elements that hold only text, with character references in it. */
const DECODED = new Set(["textarea", "title"]);
/** Their end tags make an element where none is open. */
const ALWAYS_EDGE = new Set(["p", "br"]);
const HEADING = /^h[1-6]$/;

/** An end tag of a heading ends any of them. */
const counted = (name: string): string => (HEADING.test(name) ? "h1" : name);

/** Skips the elements whose text is not the page's. */
class Skipping {
  private name = "";
  private depth = 0;

  /** Whether `part` belongs to such an element. */
  takes(part: Part): boolean {
    if (this.depth === 0) return this.begins(part);
    if (part.kind === "text" || part.name !== this.name) return true;
    if (part.kind === "close") this.depth--;
    else if (opens(part)) this.depth++;
    return true;
  }

  private begins(part: Part): boolean {
    if (part.kind !== "open" || part.name === "head" || !SKIPPED.has(part.name)) return false;
    if (opens(part)) [this.name, this.depth] = [part.name, 1];
    return true;
  }
}

/** Whether the tag opens an element with content. */
const opens = (part: Part & { kind: "open" }): boolean =>
  part.raw === null && !(part.is === "drawing" && closesItself(part.attributes));

/** `html` as text (`html/decode.ts`). Linear. */
export function pageText(html: string): string {
  const writer = new TextWriter();
  const skipping = new Skipping();
  const open = new Map<string, number>();
  for (const part of partsOf(html)) {
    if (skipping.takes(part)) continue;
    if (part.kind === "text") writer.add(decodeText(part.text));
    else if (part.kind === "close") closeElement(part.name, open, writer);
    else openElement(part, open, writer);
  }
  return writer.toString();
}

function openElement(part: Part & { kind: "open" }, open: Map<string, number>, writer: TextWriter): void {
  const { name, raw } = part;
  const edge = EDGES.has(name);
  if (edge) writer.edge();
  if (raw !== null) writer.add(DECODED.has(name) ? decodeText(raw) : raw);
  if (edge) open.set(counted(name), (open.get(counted(name)) ?? 0) + 1);
}

/** A browser drops an end tag of nothing. */
function closeElement(name: string, open: Map<string, number>, writer: TextWriter): void {
  if (!EDGES.has(name)) return;
  const count = open.get(counted(name)) ?? 0;
  if (count > 0) open.set(counted(name), count - 1);
  if (count > 0 || ALWAYS_EDGE.has(name)) writer.edge();
}
