/** Where a script's code has one of the few words at which every search begins: patterns that may begin anywhere cost a
 *  hundred times as much. */
import { type ScriptCode, scriptCode } from "./script-code.ts";

export interface Indexed extends ScriptCode {
  words: ReadonlyMap<string, number[]>;
}

/** `LITERAL` stands for a literal, whose number it captures; a space for white space. */
export const sticky = (pattern: string): RegExp =>
  new RegExp(pattern.replaceAll(" ", "\\s{0,99}").replaceAll("LITERAL", '"(\\d+)"'), "y");

const WORDS =
  /\b(?:import|from|export|require|fetch|getJSON|getScript|open|WebSocket|EventSource|axios|baseURL|Worker|SharedWorker|register|importScripts|document\.title|pushState)\b/g;

/** One pass for all words: a search for each costs ten times as much. */
export function indexed(source: string): Indexed {
  const read = scriptCode(source);
  const words = new Map<string, number[]>();
  for (const { 0: word, index } of read.code.matchAll(WORDS)) {
    const known = words.get(word);
    if (known) known.push(index);
    else words.set(word, [index]);
  }
  return { ...read, words };
}

/** Each place where `word` stands with `after` right behind it, and no dollar or (unless `member`) dot before it. */
export function* uses(
  { code, words }: Indexed,
  word: string,
  after: RegExp,
  member = false,
): Generator<RegExpExecArray> {
  for (const at of words.get(word) ?? []) {
    if (code[at - 1] === "$" || (!member && code[at - 1] === ".")) continue;
    after.lastIndex = at + word.length;
    const match = after.exec(code);
    if (match) yield match;
  }
}

export const literalOf = ({ literals }: Indexed, match: RegExpExecArray, group = 1): string =>
  literals[Number(match[group])]!;
