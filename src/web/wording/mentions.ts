/** Where a sentence of the receipt names its file. */
import { visible } from "../../base/visible.ts";

/** What may stand beside a file's name in a sentence: a file `a` is not every `a` in it. */
const BESIDE = /^[\s"'(),.:;]?$/;

/** The text cut at each mention of `name`: every second piece is one. */
function cut(text: string, name: string): string[] {
  const pieces: string[] = [];
  let [done, from] = [0, 0];
  for (let at; name !== "" && (at = text.indexOf(name, from)) !== -1; from = at + name.length) {
    const end = at + name.length;
    if (!BESIDE.test(text.charAt(at - 1)) || !BESIDE.test(text.charAt(end))) continue;
    pieces.push(text.slice(done, at), name);
    done = end;
  }
  return [...pieces, text.slice(done)];
}

/** A folder is named with its slash; its bare name may be a word of the sentence. A name that could do harm stands there as
 *  `visible` writes it. One piece: it is not named at all. */
export function mentions(text: string, name: string): string[] {
  const ways = [`${name}/`, name, visible(name)].map((written) => cut(text, written));
  return ways.find((pieces) => pieces.length > 1) ?? [text];
}
