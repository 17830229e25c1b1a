/** A page as a row of tags and texts, cut once for all who ask it: what it shows, loads and sends. */
import { asciiLower } from "./ascii.ts";
import { asBrowser, type Kind, type Namespaces } from "./foreign.ts";
import { Tokenizer } from "./tokenizer.ts";

export type Part =
  /** `attributes` as written. `raw` is the content of an element that holds no markup (script, style, title …), closed or
   *  not; else null. */
  | { kind: "open"; name: string; attributes: string; raw: string | null; is: Kind }
  | { kind: "close"; name: string }
  | { kind: "text"; text: string };

const [TEXT, CLOSE] = [0, 1];
/** What stands behind them. */
const OPEN: readonly Kind[] = ["html", "drawing", "plain"];
const FIRST_OPEN = 2;
/** Numbers a part: where it or its name begins, where its attributes begin, where it ends, where its raw text ends. */
const STRIDE = 4;

/** Places alone are kept: a page of 10 MB may have three million tags. */
class Places {
  length = 0;
  kinds = new Uint8Array(64);
  numbers = new Int32Array(64 * STRIDE);

  add(kind: number, from: number, inside: number, to: number, raw_end: number): void {
    if (this.length === this.kinds.length) this.grow();
    const at = this.length * STRIDE;
    this.kinds[this.length++] = kind;
    this.numbers[at] = from;
    this.numbers[at + 1] = inside;
    this.numbers[at + 2] = to;
    this.numbers[at + 3] = raw_end;
  }

  private grow(): void {
    const [kinds, numbers] = [this.kinds, this.numbers];
    this.kinds = new Uint8Array(kinds.length * 2);
    this.kinds.set(kinds);
    this.numbers = new Int32Array(numbers.length * 2);
    this.numbers.set(numbers);
  }
}

export class Page {
  private readonly places = new Places();
  private readonly token: Tokenizer;

  constructor(
    readonly text: string,
    private readonly namespaces: Namespaces & { readonly doubtful?: boolean } = asBrowser(),
  ) {
    this.token = new Tokenizer(text, namespaces);
  }

  /** Its tags did not nest, so that another reading may be the true one. */
  get doubtful(): boolean {
    while (this.cut());
    return this.namespaces.doubtful === true;
  }

  /** Each part is cut when somebody first comes to it: who stops early pays for no more. */
  *parts(): Generator<Part> {
    for (let i = 0; i < this.places.length || this.cut(); i++) yield this.part(i);
  }

  /** One part more; false at the page's end. */
  private cut(): boolean {
    const { places, token } = this;
    while (token.next()) {
      const { kind, from, inside, to } = token;
      if (kind === "text") places.add(TEXT, from, 0, to, -1);
      else if (kind === "close") places.add(CLOSE, from + 2, inside, to, -1);
      else if (kind === "open") places.add(FIRST_OPEN + OPEN.indexOf(token.is), from + 1, inside, to, token.raw_end);
      else continue;
      return true;
    }
    return false;
  }

  private part(index: number): Part {
    const { text } = this;
    const { kinds, numbers } = this.places;
    const at = index * STRIDE;
    const [kind, from, to] = [kinds[index]!, numbers[at]!, numbers[at + 2]!];
    if (kind === TEXT) return { kind: "text", text: text.slice(from, to) };
    const inside = numbers[at + 1]!;
    const name = asciiLower(text.slice(from, inside));
    if (kind === CLOSE) return { kind: "close", name };
    const raw_end = numbers[at + 3]!;
    const raw = raw_end < 0 ? null : text.slice(to, raw_end);
    return { kind: "open", name, attributes: text.slice(inside, to - 1), raw, is: OPEN[kind - FIRST_OPEN]! };
  }
}
