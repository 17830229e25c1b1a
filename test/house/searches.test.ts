/** RELIABILITY A24: a search for a text that is not written in the source has a row with its bound in the table there, in all
 *  code that reads what strangers send. JavaScriptCore's searches take the product of both lengths where somebody chooses
 *  both, and `normalize` the square. Expressions are tried one by one in test/html/long-patterns.test.ts. */
import { expect, test } from "bun:test";
import { codeAlone, readers } from "../kit/patterns/source.ts";
import { read } from "./fence/source.ts";

const SEARCH =
  /([\w\])}"])(?:\?|!)?\s*\.\s*(indexOf|lastIndexOf|includes|split|replace|replaceAll|search|match|matchAll|normalize)\(\s*/g;
const MADE = /\bnew RegExp\(\s*/g;
/** Written in the source: a string, an expression, a template without a gap, a number, or a constant. */
const WRITTEN = /^(?:""|\/x\/|`(?:[^`$]|\$(?!\{)|\$\{[A-Z\d_+ ]+\})*`|\d+|[A-Z][A-Z\d_]*(?![\w.]))/;
/** `NAMES.includes(name)`, `["a", "b"].includes(name)`: a list of words in the source. */
const LIST = /(?:\b[A-Z][A-Z\d_]*|\])$/;

/** The first argument of a call, whose brackets `rest` begins behind. */
function firstArgument(rest: string): string {
  let depth = 0;
  for (let at = 0; at < rest.length; at++) {
    const sign = rest[at]!;
    if ("([{".includes(sign)) depth++;
    else if (")]}".includes(sign) && depth-- === 0) return rest.slice(0, at).trim();
    else if (sign === "," && depth === 0) return rest.slice(0, at).trim();
  }
  return rest;
}

const brief = (argument: string): string => (argument.includes("`") ? "…" : argument);

/** Searches in a source, as `indexOf(end)`; an argument with a template is `…`. */
function searchesIn(text: string): string[] {
  const code = codeAlone(text).replace(/\s+/g, " ");
  const calls = [...code.matchAll(SEARCH)].flatMap(({ 0: whole, 2: name, index }) => {
    const rest = code.slice(index + whole.length);
    const before = code.slice(0, index + 1);
    // No text is looked for: `crew.replaceAll()`, `queue.search({ file })`, `this.match(a, b)`.
    if (/^[{)]/.test(rest) ? name !== "normalize" : WRITTEN.test(rest) && name !== "normalize") return [];
    if (/\bthis$/.test(before)) return [];
    if (name === "includes" && LIST.test(before) && !/\)\]$|\w\[\w+\]$/.test(before)) return [];
    return [`${name}(${name === "normalize" ? "" : brief(firstArgument(rest))})`];
  });
  const made = [...code.matchAll(MADE)].flatMap(({ 0: whole, index }) => {
    const rest = code.slice(index + whole.length);
    return WRITTEN.test(rest) ? [] : [`RegExp(${brief(firstArgument(rest))})`];
  });
  return [...calls, ...made];
}

/** Path → calls, in the rows of the table. */
async function listed(): Promise<Map<string, string[]>> {
  const text = await read("docs/design/reliability.md");
  const rows = text.split("\n").filter((line) => line.startsWith("| `src/"));
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const [, places = "", chooses = "", bound = ""] = row.split(/(?<!\\)\|/);
    expect([row, chooses.trim() !== "", bound.trim() !== ""]).toEqual([row, true, true]);
    let path = "";
    for (const [, part] of places.matchAll(/`([^`]+)`/g)) {
      if (part!.startsWith("src/")) path = part!;
      else found.set(path, [...(found.get(path) ?? []), part!]);
    }
  }
  return found;
}

test("A24 each search for what is not written in the source has a row with its bound, and each row a search", async () => {
  const rows = await listed();
  const all = await Promise.all((await readers()).map(async (path) => [path, searchesIn(await read(path))] as const));
  const flat = (calls: Iterable<readonly [string, readonly string[]]>): string[] =>
    [...calls].flatMap(([path, list]) => list.map((call) => `${path} ${call}`)).toSorted();
  const found = [...new Set(flat(all.filter(([path]) => !path.startsWith("src/pipeline/"))))];
  expect(found).toEqual(flat(rows));
});

test.each([
  ['const at = text.indexOf("<!--", from);', []],
  ["const at = text.lastIndexOf(literal, to);", ["lastIndexOf(literal)"]],
  ["const at = text\n    .indexOf(\n      before + behind,\n      from);", ["indexOf(before + behind)"]],
  ["if (page?.text.includes(wordsOf(a, b))) return;", ["includes(wordsOf(a, b))"]],
  ["const parts = text.split(/\\s+/);", []],
  ["const parts = text.split(delimiter);", ["split(delimiter)"]],
  ["const known = SCOPES.includes(scope);", []],
  ['const known = ["a", "b"].includes(scope);', []],
  ["const known = words[0].includes(scope);", ["includes(scope)"]],
  ["const name = sent.normalize();", ["normalize()"]],
  ['const name = sent.normalize("NFC");', ["normalize()"]],
  ["const found = new RegExp(`^${word}$`);", ["RegExp(…)"]],
  ["const found = new RegExp(`^[${UNSEEN}]$`);", []],
  ["// text.indexOf(literal)", []],
  ['const told = "text.indexOf(literal)";', []],
])("the fence itself: %s is %j", (source, calls) => {
  expect(searchesIn(source)).toEqual(calls);
});
