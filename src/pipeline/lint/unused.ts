/** What a stylesheet names and no page makes a browser ask for: a picture of a rule that is for no element, a font that only
 *  such rules name. An element's classes and ids stand in a page or in a script; where neither has a word, or a beginning
 *  or an end to make it of, nobody has that class. */
import { decodeHtml } from "../../html/decode.ts";
import type { Files } from "../../types.ts";
import type { Budget } from "../budget.ts";
import { type Named, namesIn } from "./selectors.ts";
import type { Unanswered } from "./unanswered.ts";

/** Where classes may come from. */
const HOLDS_NAMES = /\.(?:x?html?|xht|shtml|svg|m?js|json|md|markdown|txt|php|wasm)$/i;
const WORD = /[\w\u0080-\uffff-]+/g;
/** Of more joined words than these, any class may be made. */
const MOST_PARTS = 20_000;
/** Far beyond any stylesheet: then they are told. */
const [MOST_ASKED, MOST_USES, RULE] = [5000, 200, 4000];

/** The words of a site's pages and scripts, as far as they are asked for. */
class Words {
  private readonly there = new Set<string>();
  /** `"icon-" + name`, `name + "-open"`. */
  private readonly parts = new Set<string>();

  constructor(
    private readonly texts: readonly string[],
    asked: ReadonlySet<string>,
    budget: Budget,
  ) {
    for (const text of texts) {
      for (const { 0: word } of text.matchAll(WORD)) {
        budget.step();
        if (asked.has(word)) this.there.add(word);
        if (/^[-_]|[-_]$/.test(word) && this.parts.size < MOST_PARTS) this.parts.add(word);
      }
    }
  }

  private isMade(name: string): boolean {
    if (this.parts.size === MOST_PARTS || this.there.has(withoutNumber(name))) return true;
    for (let at = 1; at < name.length; at++) {
      if (!/[-_]/.test(name[at]!)) continue;
      if (this.parts.has(name.slice(0, at + 1)) || this.parts.has(name.slice(at))) return true;
    }
    return false;
  }

  has = (name: string): boolean => this.there.has(name) || this.isMade(name);
  holds = (piece: string): boolean => this.texts.some((text) => text.includes(piece));
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
    if (family === null || this.texts.some((text) => text.includes(family))) return null;
    this.budget.check();
    const rules = this.sheets.map((sheet) => rulesFor(family, sheet));
    return rules.some((each) => each === null) ? null : rules.flatMap((each) => each!);
  }

  words(asked: ReadonlySet<string>): Words {
    return new Words(this.texts, asked, this.budget);
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
  const wanted = new Map<Unanswered, Named[]>();
  for (const item of asked) {
    const named = site.selectorsOf(item)?.map(namesIn);
    if (named?.every((each) => each !== null)) wanted.set(item, named.flat());
  }
  const names = [...wanted.values()].flat().flatMap((each) => each.names);
  const words = site.words(new Set(names.flatMap((name) => [name, withoutNumber(name)])));
  const isNobody = (one: Named): boolean =>
    one.names.some((name) => !words.has(name)) || one.pieces.some((piece) => !words.holds(piece));
  return new Set([...wanted].filter(([, all]) => all.every(isNobody)).map(([item]) => item));
}
