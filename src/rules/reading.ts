/** A version's `_redirects` and `_headers` as they are in force, line by line, for a person: what each line says in plain words,
 *  and what is wrong with it (BEYOND 2 and 3). */
import type { Bytes } from "../base/types.ts";
import { type NamedFiles, problemsOfHeaders, problemsOfRedirects } from "./check.ts";
import { HEADERS, opensBlock, readHeaders } from "./headers.ts";
import { brief, type HeaderBlock, leadsOn, readLines, type RedirectRule, type RuleProblem } from "./lines.ts";
import { readRedirects, REDIRECTS, withoutComment } from "./redirects.ts";

export type RuleFile = typeof REDIRECTS | typeof HEADERS;
export const RULE_FILES: readonly RuleFile[] = [REDIRECTS, HEADERS];

/** A line that says something, or has a problem. */
export interface RuleLine {
  file: RuleFile;
  /** From 1. */
  line: number;
  /** As it was written, without its comment; empty for one that is too long. */
  text: string;
  /** Whether it does anything. */
  counts: boolean;
  /** Empty where the line or its problem says all. */
  says: string;
  /** A header, below the path of its block. */
  below: boolean;
  problems: readonly RuleProblem[];
}

/** The version and the site that the lines are of. */
export interface ReadFor {
  files: NamedFiles;
  /** Whether browsers show the file as a page. */
  isPage(path: string): boolean;
  /** The site's setting for unknown paths beats the line of a single-page app (PIPELINE 2). */
  spa_never: boolean;
  has_password: boolean;
}

export const readingOf = (file: RuleFile, bytes: Bytes, site: ReadFor): RuleLine[] =>
  file === REDIRECTS ? redirectLines(bytes, site) : headerLines(bytes, site);

/** Those of the lines that cannot be shown, too: a file that is too long has one problem and no line. */
function joined(
  file: RuleFile,
  shown: readonly Omit<RuleLine, "file" | "problems">[],
  problems: readonly RuleProblem[],
): RuleLine[] {
  const by_line = Map.groupBy(problems, ({ line }) => line);
  const known = new Set(shown.map(({ line }) => line));
  const others = [...by_line.keys()].filter((line) => !known.has(line));
  const untold = others.map((line) => ({ line, text: "", counts: false, says: "", below: false }));
  return [...shown, ...untold]
    .toSorted((a, b) => a.line - b.line)
    .map((one) => ({ file, ...one, problems: by_line.get(one.line) ?? [] }));
}

/** With one of these a line does nothing. */
const VOID: ReadonlySet<RuleProblem["code"]> = new Set(["invalid_rule", "rule_shadowed"]);
const OVER_LIMIT = "It is past the number of lines that count, so it does nothing.";

function redirectLines(bytes: Bytes, { files, spa_never }: ReadFor): RuleLine[] {
  const read = readRedirects(bytes);
  // The dashboard's sites have owners: rules to other hosts count.
  const problems = [...read.problems, ...problemsOfRedirects(read.rules, files, true)];
  const rules = new Map(read.rules.map(({ rule }) => [rule.line, rule]));
  const voided = new Set(problems.filter(({ code }) => VOID.has(code)).map(({ line }) => line));
  const fallbacks = new Set(read.fallbacks);
  const lines = readLines(bytes, REDIRECTS).lines.flatMap(({ line, text: written }) => {
    const text = withoutComment(written);
    if (text === "") return [];
    const rule = rules.get(line);
    const common = { line, text, below: false };
    if (voided.has(line)) return [{ ...common, counts: false, says: "" }];
    if (rule !== undefined) return [{ ...common, counts: true, says: redirectWords(rule) }];
    if (fallbacks.has(line)) return [{ ...common, counts: !spa_never, says: fallbackWords(spa_never) }];
    return [{ ...common, counts: false, says: OVER_LIMIT }];
  });
  return joined(REDIRECTS, lines, problems);
}

const fallbackWords = (never: boolean): string =>
  never
    ? "The site's setting says that it is no single-page app, so it does nothing."
    : "Every address without a file shows the index, as in a single-page app.";

/** `/blog/*`: everything that begins with /blog/. */
function addressWords(pattern: string): string {
  if (pattern === "/*") return "every address";
  const start = pattern.slice(0, -1);
  return pattern.endsWith("*") && !/[*:]/.test(start) ? `everything that begins with ${brief(start)}` : brief(pattern);
}

function redirectWords(rule: RedirectRule): string {
  const { to, status, forced } = rule;
  const words = addressWords(rule.from);
  const from = words.startsWith("every") ? `E${words.slice(1)}` : words;
  const before = forced ? ", also where a file is" : "";
  if (leadsOn(rule)) {
    const stays = status === 301 || status === 308 ? "for good: browsers keep it" : "for now: browsers ask each time";
    return `${from} leads to ${brief(to)}${before}, ${stays}.`;
  }
  return status === 200
    ? `${from} shows ${brief(to)}${before}, and the address stays.`
    : `${from} is not found${before}: visitors see ${brief(to)}.`;
}

function headerLines(bytes: Bytes, { files, isPage, has_password }: ReadFor): RuleLine[] {
  const { blocks, problems: read } = readHeaders(bytes);
  const problems = [...read, ...problemsOfHeaders(blocks, files, isPage)];
  const opened = new Map(blocks.map((block) => [block.line, block]));
  const edits = new Map(blocks.flatMap(({ lines }) => lines.map((edit) => [edit.line, edit])));
  const told = new Set(problems.map(({ line }) => line));
  const lines = readLines(bytes, HEADERS).lines.flatMap(({ line, text: written }) => {
    const text = written.trim();
    if (text === "" || text.startsWith("#")) return [];
    const below = !opensBlock(text);
    const edit = edits.get(line);
    const block = opened.get(line);
    const common = { line, text, below };
    if (block !== undefined) return [{ ...common, counts: true, says: blockWords(block) }];
    if (edit !== undefined) {
      const shut = has_password && edit.name.toLowerCase() === "cache-control";
      return [{ ...common, counts: !shut, says: shut ? UNKEPT : headerWords(edit) }];
    }
    const says = told.has(line) ? "" : below ? "It does nothing, as the path above it does." : OVER_LIMIT;
    return [{ ...common, counts: false, says }];
  });
  return joined(HEADERS, lines, problems);
}

const blockWords = ({ path, host }: HeaderBlock): string =>
  `For ${addressWords(path)}${host === null ? "" : `, on the host ${brief(host)} alone`}:`;

const UNKEPT = "It does nothing while visitors need a password: no cache may keep these answers.";

/** Headers that svc has a say in (BEYOND 3). */
const SPECIAL: Readonly<Record<string, string>> = {
  "cache-control": "At the site's live addresses, where no 404 is answered.",
  "x-robots-tag": "Beside svc's own, where that stands.",
  vary: "Beside svc's own.",
  link: "Beside svc's own.",
};

/** A header that is sent says itself what it is. */
const headerWords = ({ name, value }: { name: string; value: string | null }): string =>
  value === null ? `${brief(name)} is taken away.` : (SPECIAL[name.toLowerCase()] ?? "");
