/** A page's text as anchors see it, the same on the server and in a browser (COMMENTS 3): text nodes in their order, one
 *  space at each edge of a block, runs of white space as one space, NFC, without what shows nothing. Who walks the page
 *  tells a writer of texts and edges: `page-text.ts` from a stored file, `widget/page-text.ts` from the document.
 *  Offsets are UTF-16 units. Runs in browsers: nothing imported. */

/** The writing direction's controls, the soft hyphen and what has no width: none is in what a reader sees or selects. */
const UNSEEN = /[\0\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** What normalising may change. */
const OTHER = /[^ -~]| {2}/;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Elements whose text is not the page's, by name, wherever they stand. */
export const SKIPPED = words(
  "head script style template noscript title iframe noembed noframes desc metadata svc-comments",
);

/** Elements before and behind which a word ends. `html` and `body` are none: a parser drops their second tags. */
export const EDGES = words(
  `address article aside blockquote br button caption center col colgroup dd details dialog dir div dl dt fieldset
   figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup option p
   plaintext pre search section select summary table tbody td textarea tfoot th thead tr ul xmp`,
);

/** The text's own form; white space at its ends stays, as one space. */
export function normalise(text: string): string {
  if (!OTHER.test(text)) return text;
  return text.replace(UNSEEN, "").normalize("NFC").replace(/\s+/g, " ");
}

/** Puts pieces together. A space is kept for what comes next, so that the text neither begins nor ends with one. */
export class TextWriter {
  private readonly pieces: string[] = [];
  private space = false;
  /** Of what was written; a space that is due is not. */
  length = 0;

  /** Where the piece begins in the whole text, its first space left out; -1 where nothing of it was written. */
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

/** For each unit of the normalised, trimmed text where in `raw` it comes from, and behind the last one where `raw` goes
 *  on. */
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
