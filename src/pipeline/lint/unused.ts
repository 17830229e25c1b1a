/** Files that a stylesheet names but no page makes a browser ask for: a picture of a rule that matches no element, a
 *  font that only such rules name. An element's classes and ids come from a page or a script. If neither has the
 *  word, nor a beginning or an end to build it from, no element has that class. */

import type { Files } from "../../base/types.ts";
import { decodeHtml } from "../../html/decode.ts";
import type { Budget } from "../budget.ts";
import type { Unanswered } from "./unanswered.ts";

/** Files that may hold the names of classes. */
const HOLDS_NAMES = /\.(?:x?html?|xht|shtml|svg|m?js|json|md|markdown|txt|php|wasm)$/i;
/** With more joined words than these, a script may build any class. */
const MOST_PARTS = 20_000;
const LONGEST_PART = 100;
/** Far beyond any stylesheet. Beyond it, the files are reported. */
const [MOST_ASKED, MOST_USES, RULE] = [500, 200, 4000];
/** Each is looked for in all texts. */
const MOST_SEARCHES = 50;

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 48 && code <= 57) ||
  (code >= 65 && code <= 90) ||
  isJoint(code) ||
  code > 127;
/** A dash, a low line. */
const isJoint = (code: number): boolean => code === 45 || code === 95;
const hashOf = (word: string): number => [...word].reduce((hash, _, at) => mix(hash, word.charCodeAt(at)), 0);
const mix = (hash: number, code: number): number => (Math.imul(hash, 31) + code) | 0;

/** The words of a site's pages and scripts, as far as they are asked for: one pass, for there are millions. */
class Words {
  private readonly there = new Set<string>();
  /** `"icon-" + name`, `name + "-open"`. */
  private readonly parts = new Set<string>();
  private readonly hashes: ReadonlySet<number>;
  private readonly held = new Map<string, boolean>();

  constructor(
    private readonly texts: readonly string[],
    asked: readonly string[],
    private readonly budget: Budget,
  ) {
    this.hashes = new Set(asked.map(hashOf));
    for (const text of asked.length > 0 ? texts : []) {
      budget.check();
      this.read(text);
    }
  }

  private read(text: string): void {
    let [begin, hash] = [-1, 0];
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : 0;
      if (isWord(code)) {
        if (begin < 0) [begin, hash] = [at, 0];
        hash = mix(hash, code);
      } else if (begin >= 0) {
        this.keep(text, begin, at, hash);
        begin = -1;
      }
    }
  }

  private keep(text: string, begin: number, end: number, hash: number): void {
    if (this.hashes.has(hash)) this.there.add(text.slice(begin, end));
    const is_part = isJoint(text.charCodeAt(begin)) || isJoint(text.charCodeAt(end - 1));
    if (is_part && end - begin < LONGEST_PART && this.parts.size < MOST_PARTS) this.parts.add(text.slice(begin, end));
  }

  private isMade(name: string): boolean {
    if (this.parts.size === MOST_PARTS || this.there.has(withoutNumber(name))) return true;
    for (let at = 1; at < name.length; at++) {
      if (!isJoint(name.charCodeAt(at))) continue;
      if (this.parts.has(name.slice(0, at + 1)) || this.parts.has(name.slice(at))) return true;
    }
    return false;
  }

  has(name: string): boolean {
    return this.there.has(name) || this.isMade(name);
  }
  holds(piece: string): boolean {
    this.budget.check();
    if (this.held.size === MOST_SEARCHES) return true;
    return this.held.getOrInsertComputed(piece, () => this.texts.some((text) => text.includes(piece)));
  }
}

const withoutNumber = (name: string): string => name.replace(/\d{1,9}$/, "");

/** The family that a font's rule declares; null: not known. */
function familyOf(face: string | undefined): string | null {
  const [, family] = /font-family\s{0,9}:\s{0,9}["']?([^"';}]{1,200})/i.exec(face?.replace(/\}[^]*/, "") ?? "") ?? [];
  return family?.trim() || null;
}

/** The selectors of the rules that name the family; null: not known. */
function rulesFor(family: string, sheet: string): string[] | null {
  const found: string[] = [];
  for (let at = sheet.indexOf(family); at >= 0; at = sheet.indexOf(family, at + 1)) {
    const before = sheet.slice(Math.max(0, at - RULE), at);
    const block = before.lastIndexOf("{");
    if (block < 0 || block < before.lastIndexOf("}") || found.length === MOST_USES) return null;
    const prelude = before.slice(0, block);
    const begin = Math.max(prelude.lastIndexOf("}"), prelude.lastIndexOf("{"), prelude.lastIndexOf(";"));
    if (begin < 0 && at > RULE) return null;
    found.push(prelude.slice(begin + 1));
  }
  return found.filter((selector) => !/@font-face\s*$/i.test(selector));
}

class Site {
  private readonly sheets: readonly string[];
  private readonly texts: readonly string[];
  private searches = 0;

  constructor(
    files: Files,
    styles: Iterable<string>,
    private readonly budget: Budget,
  ) {
    this.texts = [...files].filter(([path]) => HOLDS_NAMES.test(path)).map(([, bytes]) => decodeHtml(bytes));
    this.sheets = [...styles].map((path) => decodeHtml(files.get(path)!));
  }

  /** Null: not known, or whatever the pages hold. */
  selectorsOf({ use, selectors, face }: Unanswered): readonly string[] | null {
    if (use !== "font") return selectors ?? null;
    const family = familyOf(face);
    if (family === null || ++this.searches > MOST_SEARCHES || this.texts.some((text) => text.includes(family)))
      return null;
    this.budget.check();
    const rules = this.sheets.map((sheet) => rulesFor(family, sheet));
    return rules.some((each) => each === null) ? null : rules.flatMap((each) => each!);
  }

  words(asked: ReadonlySet<string>): Words {
    return new Words(this.texts, [...asked], this.budget);
  }
}

/** `styles`: the stylesheets that pages load. */
export function unusedOf(
  items: readonly Unanswered[],
  files: Files,
  styles: Iterable<string>,
  budget: Budget,
): ReadonlySet<Unanswered> {
  const asked = items.filter(({ use, selectors }) => use === "font" || selectors);
  if (asked.length === 0 || asked.length > MOST_ASKED) return new Set();
  const site = new Site(files, styles, budget);
  const wanted = new Map<Unanswered, NeededNames[]>();
  for (const item of asked) {
    budget.check();
    const named = site.selectorsOf(item)?.map(namesIn);
    if (named?.every((each) => each !== null)) wanted.set(item, named.flat());
  }
  const names = [...wanted.values()].flat().flatMap((each) => each.names);
  const words = site.words(new Set(names.flatMap((name) => [name, withoutNumber(name)])));
  const isNobody = (one: NeededNames): boolean =>
    one.names.some((name) => !words.has(name)) || one.pieces.some((piece) => !words.holds(piece));
  return new Set([...wanted].filter(([, all]) => all.every(isNobody)).map(([item]) => item));
}

// The names that an element needs for a rule of a stylesheet to match it. If they are not certain, every element
// matches.

/** One of the selectors of a list. */
interface NeededNames {
  /** Classes and ids, all of which it must have. */
  names: readonly string[];
  /** The texts that a class or id must contain. */
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

function namedBy(selector: string): NeededNames {
  const pieces = [...selector.matchAll(PIECE)].map((match) => match[1]!.trim()).filter((piece) => piece !== "");
  const names = [...selector.replace(/\[[^[\]]*\]/g, "").matchAll(NAME)].map((match) => match[1]!);
  return { names, pieces };
}

/** Null: not known. */
function namesIn(list: string): NeededNames[] | null {
  if (list.length > LONGEST) return null;
  const bare = withoutFunctions(list.replace(/\/\*[^]*?(?:\*\/|$)/g, "")).trim();
  if (bare === "" || /^@|[\\()&]|\[[^[\],]*,/.test(bare)) return null;
  return bare.split(",").map(namedBy);
}
