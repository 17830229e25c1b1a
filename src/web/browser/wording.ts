/** Words that pages and their scripts say alike: counts, lengths of time, and the file that a sentence names. */
import { count, UNIT_MS } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";

/** Units with their length in minutes. */
const STEPS = [
  ["day", UNIT_MS.d / UNIT_MS.m],
  ["hour", UNIT_MS.h / UNIT_MS.m],
] as const;

/** `14 days`, `13 hours`, to the nearest unit: a time ahead, also if the clock has moved a second since it began. */
export function ahead(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / UNIT_MS.m));
  const [noun, step] = STEPS.find(([, length]) => minutes >= length) ?? (["minute", 1] as const);
  return count(Math.round(minutes / step), noun);
}

/** Characters that may be next to a file's name in a sentence: a file `a` is not every `a` in it. */
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

/** Cuts a text at the places that name a file. A folder is named with its slash, for its bare name may be a word of the
 *  sentence. A name that could do harm is written as by `visible`. One piece means that the text does not name it. */
export function mentions(text: string, name: string): string[] {
  const ways = [`${name}/`, name, visible(name)].map((written) => cut(text, written));
  return ways.find((pieces) => pieces.length > 1) ?? [text];
}
