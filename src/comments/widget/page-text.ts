/** The text of the document (`../text.ts`) with the way back: from a place in it to a node, and from a node to its place. */
import { EDGES, placesIn, SKIPPED, TextWriter } from "../anchoring/text.ts";

export interface DocumentText {
  readonly text: string;
  /** The range that shows `text.slice(start, end)`; null if there is none. */
  range(start: number, end: number): Range | null;
  /** The offset in `text` of a place in the document, such as one end of a selection. A place outside every text gets
   *  the offset of the next text. */
  offset(node: Node, offset: number): number;
}

const isText = (node: Node): node is Text => node.nodeType === 3 || node.nodeType === 4;

/** Visits each text below `root` and each edge, in the order of the document. */
function walk(root: Node, text: (node: Text) => void, edge: () => void): void {
  for (let node: Node | null = root.firstChild; node !== null;) {
    const name = isText(node) ? "" : (node as Element).localName;
    if (isText(node)) text(node);
    else if (EDGES.has(name)) edge();
    let next: Node | null = SKIPPED.has(name) ? null : node.firstChild;
    while (next === null && node !== null && node !== root) {
      if (!isText(node) && EDGES.has((node as Element).localName)) edge();
      next = node.nextSibling;
      if (next === null) node = node.parentNode;
    }
    node = next;
  }
}

class WalkedText implements DocumentText {
  readonly text: string;
  private readonly nodes: Text[] = [];
  /** The offset in the text at which each node's own text begins. */
  private readonly starts: number[] = [];
  private readonly places = new Map<Text, Int32Array>();

  constructor(private readonly root: Node) {
    const writer = new TextWriter();
    const add = (node: Text): void => {
      const at = writer.add(node.data);
      if (at < 0) return;
      this.nodes.push(node);
      this.starts.push(at);
    };
    walk(root, add, () => writer.edge());
    this.text = writer.toString();
  }

  range(start: number, end: number): Range | null {
    if (!(start >= 0 && start < end && end <= this.text.length)) return null;
    const [first, last] = [this.nodeAt(start), this.nodeAt(end - 1)];
    const range = this.root.ownerDocument!.createRange();
    range.setStart(this.nodes[first]!, this.placesOf(first)[start - this.starts[first]!] ?? 0);
    const places = this.placesOf(last);
    const behind = end - this.starts[last]!;
    range.setEnd(this.nodes[last]!, places[Math.min(behind, places.length - 1)]!);
    return range;
  }

  offset(node: Node, offset: number): number {
    const at = isText(node) ? this.nodes.indexOf(node) : -1;
    if (at < 0) return this.behind(node, offset);
    const places = this.placesOf(at);
    let unit = 0;
    while (unit < places.length - 1 && places[unit]! < offset) unit++;
    return this.starts[at]! + unit;
  }

  /** The offset of the first text behind a place that is not inside a text. */
  private behind(node: Node, offset: number): number {
    const range = this.root.ownerDocument!.createRange();
    range.setStart(node, offset);
    let [low, high] = [0, this.nodes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (range.comparePoint(this.nodes[middle]!, 0) < 0) low = middle + 1;
      else high = middle;
    }
    return this.starts[low] ?? this.text.length;
  }

  /** The last node that begins at `offset` or before it. */
  private nodeAt(offset: number): number {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private placesOf(index: number): Int32Array {
    const node = this.nodes[index]!;
    let places = this.places.get(node);
    if (!places) this.places.set(node, (places = placesIn(node.data)));
    return places;
  }
}

export const documentText = (root: Node = document.body): DocumentText => new WalkedText(root);
