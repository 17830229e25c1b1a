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

function cut(text: string, namespaces: Namespaces): Places {
  const places = new Places();
  const token = new Tokenizer(text, namespaces);
  while (token.next()) {
    const { kind, from, inside, to } = token;
    if (kind === "text") places.add(TEXT, from, 0, to, -1);
    else if (kind === "close") places.add(CLOSE, from + 2, inside, to, -1);
    else if (kind === "open") places.add(FIRST_OPEN + OPEN.indexOf(token.is), from + 1, inside, to, token.raw_end);
  }
  return places;
}

export class Page {
  /** Its tags did not nest, so that another reading may be the true one. */
  readonly doubtful: boolean;
  private readonly places: Places;

  constructor(
    readonly text: string,
    namespaces: Namespaces & { readonly doubtful?: boolean } = asBrowser(),
  ) {
    this.places = cut(text, namespaces);
    this.doubtful = namespaces.doubtful === true;
  }

  *parts(): Generator<Part> {
    const { text } = this;
    const { length, kinds, numbers } = this.places;
    for (let i = 0; i < length; i++) {
      const kind = kinds[i]!;
      const at = i * STRIDE;
      const from = numbers[at]!;
      const to = numbers[at + 2]!;
      if (kind === TEXT) yield { kind: "text", text: text.slice(from, to) };
      else {
        const inside = numbers[at + 1]!;
        const name = asciiLower(text.slice(from, inside));
        if (kind === CLOSE) yield { kind: "close", name };
        else {
          const raw_end = numbers[at + 3]!;
          const raw = raw_end < 0 ? null : text.slice(to, raw_end);
          yield { kind: "open", name, attributes: text.slice(inside, to - 1), raw, is: OPEN[kind - FIRST_OPEN]! };
        }
      }
    }
  }
}
