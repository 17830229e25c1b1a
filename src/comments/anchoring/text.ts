/** A page's text as anchors see it, the same on the server and in a browser (COMMENTS 3): text nodes in their order, one
 *  space at each edge of a block, runs of white space as one space, NFC, without invisible characters. `page-text.ts` walks a
 *  stored file and `widget/page-text.ts` the document; both write into a `TextWriter`.
 *  Offsets are UTF-16 units. Runs in browsers. */
import { normalForm } from "../../base/normal-form.ts";

/** Controls of the writing direction, the soft hyphen and characters without width: a reader neither sees nor selects them. */
const UNSEEN = /[\0\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** Characters that normalising may change. */
const OTHER = /[^ -~]| {2}/;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Elements whose text is not the page's, by name, anywhere in the page. */
export const SKIPPED = words(
  "head script style template noscript title iframe noembed noframes desc metadata svc-comments",
);

/** Elements before and after which a word ends. `html` and `body` are not among them: a parser drops their second tags. */
export const EDGES = words(
  `address article aside blockquote br button caption center col colgroup dd details dialog dir div dl dt fieldset
   figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup option p
   plaintext pre search section select summary table tbody td textarea tfoot th thead tr ul xmp`,
);

/** Normalises a text; white space at its ends stays, as one space. */
export function normalise(text: string): string {
  if (!OTHER.test(text)) return text;
  return normalForm(text.replace(UNSEEN, "")).replace(/\s+/g, " ");
}

/** Joins pieces of text. A space waits for the next piece, so that the text neither begins nor ends with one. */
export class TextWriter {
  private readonly pieces: string[] = [];
  private space = false;
  /** Length of the text so far, without a waiting space. */
  length = 0;

  /** Adds a piece and returns its offset in the whole text, without its first space; -1 if nothing of it was written. */
  add(raw: string): number {
    const piece = normalise(raw);
    if (piece === "") return -1;
    const [begins, ends] = [piece.startsWith(" "), piece.endsWith(" ")];
    const inner = begins || ends ? piece.trim() : piece;
    if (begins) this.edge();
    if (inner === "") return -1;
    if (this.space) this.write(" ");
    const at = this.length;
    this.write(inner);
    this.space = ends;
    return at;
  }

  /** A word ends here. */
  edge(): void {
    if (this.length > 0) this.space = true;
  }

  private write(text: string): void {
    this.pieces.push(text);
    this.length += text.length;
  }

  toString(): string {
    return this.pieces.join("");
  }
}

/** A character that no other one can change or swallow, and neither it any other. */
const isSimple = (code: number): boolean => code > 32 && code < 0x300 && !(code >= 0x7f && code <= 0xad);
const CLUSTER = /[\s\0\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+|[^][\p{M}\u1160-\u11ff]*/uy;

/** The offset in `raw` of each unit of the normalised, trimmed text, and after the last one the offset where `raw` goes on. */
export function placesIn(raw: string): Int32Array {
  const whole = normalise(raw).trim();
  const total = whole.length;
  const places = new Int32Array(total + 1);
  const first = raw.indexOf(whole); // most text is as it should be, but for white space at its ends
  if (first >= 0) return places.map((_, unit) => first + unit);
  let length = 0;
  for (let at = 0; at < raw.length && length < total;) {
    if (isSimple(raw.charCodeAt(at)) && !(raw.charCodeAt(at + 1) >= 0x300)) {
      places[length++] = at++;
      continue;
    }
    CLUSTER.lastIndex = at;
    const cluster = CLUSTER.exec(raw)?.[0] ?? raw[at]!;
    const units = length === 0 ? normalise(cluster).trimStart() : normalise(cluster);
    const end = Math.min(length + units.length, total);
    places.fill(at, length, end);
    length = end;
    at += cluster.length;
  }
  places.fill(raw.trimEnd().length, length);
  return places;
}
