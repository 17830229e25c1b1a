/** `.svcignore` means what a `.gitignore` means: each row was compared with `git check-ignore --no-index` of Git 2.39. */
import { expect, test } from "bun:test";
import { parseIgnore } from "../../src/client/ignore.ts";
import { expectLinear } from "../kit/cpu.ts";

type Row = [rules: string, ignored: string[], kept: string[]];

/** A path that ends in a slash is a folder. */
const ROWS: Row[] = [
  // names and folders
  ["draft.html", ["draft.html", "a/draft.html", "draft.html/x"], ["draft.htm", "xdraft.html", "draft.html.bak"]],
  ["cache/", ["cache/", "cache/x", "a/cache/", "a/cache/b/c"], ["cache", "a/cache", "cached/"]],
  ["a/b", ["a/b", "a/b/", "a/b/c"], ["x/a/b", "a/bc", "b"]],
  ["/top.txt", ["top.txt"], ["a/top.txt"]],
  ["/src/", ["src/", "src/a.ts"], ["src", "x/src/", "x/src/a.ts"]],
  ["a/b/", ["a/b/", "a/b/c"], ["a/b", "x/a/b/"]],
  ["docs/*", ["docs/a", "docs/a/b", "docs/x/"], ["docs/", "docs", "x/docs/a"]],
  // stars and question marks
  ["*.map", ["a.map", "a/b.map", ".map", "x.map/y"], ["a.map.js", "map"]],
  ["*", ["a", "a/b", ".x", "a/"], []],
  ["/*.js", ["a.js", ".js"], ["lib/a.js"]],
  ["a*c", ["ac", "abc", "x/abbc"], ["acd", "a/c"]],
  ["a/*/c", ["a/b/c", "a/x/c/d"], ["a/c", "a/b/b/c"]],
  ["a?c", ["abc", "a.c", "x/a-c"], ["ac", "abbc", "a/c"]],
  ["/a?c", ["abc"], ["a/c", "x/abc"]],
  ["*.*.js", ["a.min.js"], ["a.js"]],
  ["*a*b*", ["ab", "xaybz", "a/xab"], ["ba", "a"]],
  // two stars
  ["**/foo", ["foo", "a/foo", "a/b/foo", "foo/x"], ["xfoo", "foox"]],
  ["**/a/b", ["a/b", "x/a/b", "x/y/a/b"], ["a/x/b", "xa/b"]],
  ["a/**", ["a/b", "a/b/c", "a/b/"], ["a", "a/", "x/a/b"]],
  ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "x/a/b"]],
  ["a/**/", ["a/b/", "a/b/c"], ["a/", "a/b", "a/"]],
  ["**", ["a", "a/b"], []],
  ["/**", ["a", "a/b"], []],
  ["**/", ["a/", "a/b"], ["a"]],
  ["**/*.map", ["x.map", "a/x.map"], ["x.js"]],
  ["a**b", ["ab", "axb"], ["a/b", "a/x/b"]],
  ["***/a", ["a", "x/y/a"], ["xa"]],
  ["a/***/b", ["a/b", "a/x/y/b"], ["ab"]],
  // the last rule that matches decides
  ["*.txt\n!keep.txt", ["a.txt", "x/a.txt"], ["keep.txt", "x/keep.txt"]],
  ["!a\na", ["a"], []],
  ["a\n!a", [], ["a"]],
  ["a\n!a\na", ["a"], []],
  ["*.txt\n!/keep.txt", ["x/keep.txt"], ["keep.txt"]],
  ["/*\n!/docs/", ["a", "x/a", "docs"], ["docs/", "docs/a"]],
  ["/*\n!/docs/\n/docs/*\n!/docs/api/", ["a", "docs/x"], ["docs/", "docs/api/", "docs/api/y"]],
  // nothing below an ignored folder comes back
  ["build/\n!build/keep.txt", ["build/keep.txt", "build/"], []],
  ["build/*\n!build/keep.txt", ["build/a"], ["build/keep.txt"]],
  ["a\n!a/b/c", ["a/b/c"], []],
  // character classes
  ["[ab].js", ["a.js", "x/b.js"], ["c.js", "ab.js"]],
  ["[a-c]", ["a", "b", "c"], ["d", "-"]],
  ["[!a-c]", ["d", "-"], ["a", "b"]],
  ["[^a]", ["b"], ["a"]],
  ["[]a]", ["]", "a"], ["b"]],
  ["[!]a]", ["b"], ["]", "a"]],
  ["[a-]", ["a", "-"], ["b"]],
  ["[-a]", ["a", "-"], ["b"]],
  ["[a-c-e]", ["b", "-", "e"], ["d"]],
  ["[c-a]", ["c"], ["a", "b"]],
  ["[\\]]", ["]"], ["\\"]],
  ["[\\a]", ["a"], ["\\"]],
  ["[a\\-c]", ["a", "-", "c"], ["b"]],
  ["[*]", ["*"], ["a"]],
  ["[[:digit:]]", ["1", "x/9"], ["a", ":"]],
  ["[[:alpha:][:digit:]_]", ["a", "Z", "7", "_"], ["-"]],
  ["[![:space:]]", ["a"], [" "]],
  ["[[:upper:]].md", ["A.md"], ["a.md"]],
  ["[[:nonsense:]]", [], ["n", ":"]],
  ["x/[a/]y", ["x/ay"], ["x/by", "xay"]],
  ["a[!x]b", ["ayb"], ["axb", "a/b"]],
  ["/a[!x]b", ["ayb"], ["a/b"]],
  ["[ab", [], ["[ab", "a", "b"]],
  ["[", [], ["["]],
  // escapes, spaces, comments, line ends
  ["# a comment\nb", ["b"], ["# a comment"]],
  ["\\#a", ["#a"], ["a"]],
  ["a#b", ["a#b"], ["a"]],
  ["\\!a", ["!a"], ["a"]],
  ["\\*", ["*", "x/*"], ["a", "\\*"]],
  ["a\\?", ["a?"], ["ab"]],
  ["\\a", ["a"], ["\\a"]],
  ["a\\", [], ["a", "a\\"]],
  ["\\\\a", ["\\a"], ["a"]],
  ["a  ", ["a"], ["a  "]],
  ["a\\ ", ["a "], ["a"]],
  ["a\\  ", ["a "], ["a", "a  "]],
  ["a b", ["a b"], ["a", "b"]],
  [" a", [" a"], ["a"]],
  ["a\t", ["a\t"], ["a"]],
  ["\n\n  \na", ["a"], ["b"]],
  ["a\r\nb\r\n", ["a", "b"], ["a\r"]],
  ["\uFEFFa\nb", ["a", "b"], []],
  ["/", [], ["a", "a/"]],
  ["!", [], ["a", "!"]],
  ["", [], ["a"]],
  // what a regular expression would read otherwise
  ["a.b", ["a.b"], ["axb"]],
  ["(a)|{b}+$^", ["(a)|{b}+$^"], ["a"]],
  ["*.(js)", ["x.(js)"], ["x.js"]],
  ["naïve-😀.*", ["naïve-😀.txt"], ["naive-😀.txt"]],
  ["__proto__", ["__proto__", "a/__proto__"], ["proto"]],
  // letters count as they are
  ["README", ["README"], ["readme"]],
];

test.each(ROWS.map((row) => [JSON.stringify(row[0]), row] as const))("%s leaves out what Git would", (_, row) => {
  const [rules, ignored, kept] = row;
  const isIgnored = parseIgnore(rules);
  const ask = (path: string) => isIgnored(path.replace(/\/$/, ""), path.endsWith("/"));
  expect(ignored.filter((path) => !ask(path))).toEqual([]);
  expect(kept.filter(ask)).toEqual([]);
});

test("many stars against a long name take no time", () => {
  const isIgnored = parseIgnore(`${"*a".repeat(12)}*b\n`);
  const name = (length: number) => "a".repeat(length);
  expect(isIgnored(name(60), false)).toBe(false);
  expectLinear(60, name, (path) => isIgnored(path, false));
});
