/** What an element must be called for the rule of a stylesheet to be for it. Where that is not certain, every element will do. */

/** One of the selectors of a list. */
export interface Named {
  /** Classes and ids, all of which it must have. */
  names: readonly string[];
  /** What must be in a class or id. */
  pieces: readonly string[];
}

/** Beyond any selector that somebody wrote. */
const LONGEST = 2000;
const DEEPEST = 5;
const NAME = /[.#]([\w\u0080-\uffff-]{1,200})/g;
const PIECE = /\[\s{0,9}(?:class|id)\s{0,9}[~|^$*]?=\s{0,9}["']?([^"'\]]{0,60})/gi;

/** `:not(.a)` asks for nothing; what `:is(.a)` asks for is left out. */
function withoutFunctions(selector: string): string {
  let left = selector;
  for (let depth = 0; depth < DEEPEST && left.includes("("); depth++)
    left = left.replace(/:[\w-]{1,40}\([^()]*\)/g, "");
  return left;
}

function namedBy(selector: string): Named {
  const pieces = [...selector.matchAll(PIECE)].map((match) => match[1]!.trim()).filter((piece) => piece !== "");
  const names = [...selector.replace(/\[[^[\]]*\]/g, "").matchAll(NAME)].map((match) => match[1]!);
  return { names, pieces };
}

/** Null: not known. */
export function namesIn(list: string): Named[] | null {
  if (list.length > LONGEST) return null;
  const bare = withoutFunctions(list.replace(/\/\*[^]*?(?:\*\/|$)/g, "")).trim();
  if (bare === "" || /^@|[\\()&]|\[[^[\],]*,/.test(bare)) return null;
  return bare.split(",").map(namedBy);
}
