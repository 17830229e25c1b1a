/** Code in a few colours: comments, strings, numbers, keywords, names. One pass of one expression a language family; a
 *  language that it does not know stays plain, and what it gets wrong costs a colour. */

/** Class names, as the stylesheet has them: what comes and what goes of a comparison are the last two. */
const KINDS = ["c", "s", "n", "k", "f", "i", "d"] as const;
type Kind = (typeof KINDS)[number];

interface Family {
  /** Named groups are kinds; `w` is a word, to be looked up. */
  tokens: RegExp;
  keywords: ReadonlySet<string>;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const LITERALS = words("true false null undefined nil None True False NULL NaN self this super");

const SLASHES = String.raw`(?<c>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))`;
const HASH = String.raw`(?<c>(?<![^\s;])#[^\n]*)`;
const DASHES = String.raw`(?<c>--[^\n]*|\/\*[^]*?(?:\*\/|$))`;
const QUOTED = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`;
/** Rust's lifetimes and C++'s digit marks open no string. */
const CHARACTERS = String.raw`"(?:[^"\\]|\\[^])*"?|'(?:[^'\\\n]|\\[^\n'][^'\n]{0,9}|\\')'`;
const NUMBER = String.raw`(?<n>(?<![\w$])(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)[a-z%]*)`;
const WORD = String.raw`(?<w>[a-z_$][\w$]*)`;
const CALL = String.raw`(?<f>[a-z_$][\w$]*(?=\())`;

/** `first` goes before what every family has. */
const family = (keywords: string, comment: string, strings: string, ...first: string[]): Family => ({
  keywords: words(keywords),
  tokens: new RegExp([comment, ...first, `(?<s>${strings})`, NUMBER, CALL, WORD].join("|"), "gi"),
});

const JS =
  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface is keyof let namespace new of private protected public readonly return satisfies set static switch throw try type typeof var void while with yield";
const C =
  "abstract and as async auto await bool boolean break byte case catch chan char class const constexpr continue crate data def default defer delete do double dyn else enum explicit export extends extern final finally float fn for foreach func fun go goto guard if impl implements import in inline int interface internal is let lock long loop map match mod move mut namespace new object operator out override package private protected pub public range readonly ref register return sealed select short signed sizeof static string struct switch template throw throws trait try type typedef typename union unsafe unsigned use using val var virtual void volatile when where while yield";
const PYTHON =
  "and as assert async await begin break case class continue def del do elif else elsif end ensure except finally for from global if import in is lambda match module nonlocal not or pass raise require rescue return then try unless until when while with yield";
const SHELL =
  "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local read return set shift source sudo then trap unset until while";
const SQL =
  "add all alter and as asc begin between by cascade case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with";

const FAMILIES: [names: string, family: Family][] = [
  ["js javascript jsx mjs cjs ts typescript tsx", family(JS, SLASHES, `${QUOTED}|\`(?:[^\`\\\\]|\\\\[^])*\`?`)],
  [
    "c cpp c++ h hpp cs csharp java kotlin kt scala swift go golang rust rs dart zig proto",
    family(C, SLASHES, CHARACTERS),
  ],
  ["php groovy gradle", family(C, SLASHES, QUOTED)],
  ["python py ruby rb elixir ex r julia nim", family(PYTHON, HASH, `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${QUOTED}`)],
  [
    "sh bash shell zsh fish console dockerfile docker makefile make nginx",
    family(
      SHELL,
      HASH,
      QUOTED,
      // Variables, the word that a command begins with, then flags.
      String.raw`(?<f>\$\{?[\w@#?!]+\}?|(?<=(?:^|\n|[|;&] |\n\$ |^\$ )[ \t]{0,20})[a-z][\w.-]*(?![\w.\/=:-]))|(?<n>(?<=\s)--?[a-z][\w-]*)`,
    ),
  ],
  [
    "yaml yml toml ini conf properties env",
    family(
      "yes no on off",
      HASH,
      QUOTED,
      String.raw`(?<f>(?<=(?:^|\n)[ \t]{0,40}(?:- )?)[\w.\/-]+(?=[ \t]{0,40}[:=])|(?<=^|\n)\[[^\]\n]*\])`,
    ),
  ],
  ["json json5 jsonc", family("", SLASHES, QUOTED, String.raw`(?<f>"(?:[^"\\\n]|\\.)*"(?=\s*:))`)],
  [
    "css scss less",
    family(
      "",
      String.raw`(?<c>\/\*[^]*?(?:\*\/|$))`,
      QUOTED,
      String.raw`(?<k>@[\w-]+|!important)|(?<f>(?<![\w-])[a-z-]+(?=\s*:\s)|(?<![\w-])--[\w-]+)|(?<n>#[\da-f]{3,8}\b)`,
    ),
  ],
  ["sql postgres mysql sqlite lua haskell hs", family(`${SQL} ${SQL.toUpperCase()}`, DASHES, QUOTED)],
  [
    "html xml svg vue svelte",
    family(
      "",
      String.raw`(?<c><!--[^]*?(?:-->|$))`,
      QUOTED,
      String.raw`(?<k><\/?[a-z][\w:-]*|\/?>)|(?<f>(?<=\s)[\w:@.-]+(?==["']))`,
    ),
  ],
  [
    "diff patch",
    {
      keywords: words(""),
      tokens:
        /(?<=^|\n)(?:(?<c>@@[^\n]*|diff [^\n]*|index [\da-f]{4}[^\n]*|--- [^\n]*(?=\n\+\+\+ [^\n]*\n@@)|\+\+\+ [^\n]*(?=\n@@))|(?<i>\+[^\n]*)|(?<d>-[^\n]*))/g,
    },
  ],
];
const BY_NAME = new Map(FAMILIES.flatMap(([names, kind]) => names.split(" ").map((name) => [name, kind] as const)));

/** Longer listings are data. */
const LONGEST = 50_000;

/** Behind these a word is part of a name, a path or a flag: `promise.catch(…)`, `nas.local`, `--local`. */
const isJoined = (code: string, at: number): boolean => /(?:[/-]|(?<!\.)\.)$/.test(code.slice(Math.max(0, at - 2), at));

function kindOf({ groups = {}, index }: RegExpExecArray, code: string, keywords: ReadonlySet<string>): Kind | null {
  const word = groups["w"] ?? groups["f"];
  if (word !== undefined && keywords.has(word) && !isJoined(code, index)) return "k";
  if (groups["w"] !== undefined) return LITERALS.has(groups["w"]) && !isJoined(code, index) ? "n" : null;
  return KINDS.find((kind) => groups[kind] !== undefined) ?? null;
}

/** Code as HTML. */
export function highlight(code: string, language: string | undefined): string {
  const found = language === undefined || code.length > LONGEST ? undefined : BY_NAME.get(language.toLowerCase());
  if (!found) return Bun.escapeHTML(code);
  let [html, at] = ["", 0];
  for (const match of code.matchAll(found.tokens)) {
    const kind = kindOf(match, code, found.keywords);
    if (!kind) continue;
    html += `${Bun.escapeHTML(code.slice(at, match.index))}<span class="${kind}">${Bun.escapeHTML(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + Bun.escapeHTML(code.slice(at));
}
