/** How well anchors find their passages again, and how fast: `bun bench/anchors.ts [histories] [folder of versions …]`
 *  (COMMENTS 3, "Bar to pass"). Pages of docs/ and examples/ are edited by chance that comes from a seed, as people edit
 *  pages; what became of each word is known. A folder of versions is a manual as it really went on
 *  (`anchoring/histories.ts`). Tuned on pages and seeds of even number; figures are of the odd ones. `--even`: of the even
 *  ones, too; `--whole`: of all pages of the folders; `--all`: each kind of passage. */
import { anchor } from "../src/comments/anchoring/anchor.ts";
import { pageText } from "../src/comments/anchoring/page-text.ts";
import { carry } from "../src/comments/carry.ts";
import { realPages } from "../test/comments/pages.ts";
import { cpuOf, fastest } from "../test/kit/cpu.ts";
import {
  type History,
  historyOf,
  lookAlike,
  madePage,
  overlap,
  type SourcePage,
  type Span,
} from "./anchoring/cases.ts";
import { below, type Block, blocksOf, chanceOf, pick } from "./anchoring/edits.ts";
import { historiesIn } from "./anchoring/histories.ts";

const FLAGS = process.argv.slice(2).filter((word) => word.startsWith("--"));
const [amount, ...FOLDERS] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const HISTORIES = Number(amount ?? 1000);
const SPANS = 24;
const CONTEXT = 64;

/** Characters of which words are made. */
const CHINESE =
  "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开";
const KANA =
  "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん版頁文書開公新古使見直送速安";
const HEBREW = "אבגדהוזחטיכלמנסעפצקרשת";
const ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي";

/** 400 words of so many characters. */
function wordsFrom(characters: string, least: number, most: number): string[] {
  const chance = chanceOf(characters.length);
  const word = () =>
    Array.from({ length: least + below(chance, most - least + 1) }, () => pick(chance, [...characters]));
  return Array.from({ length: 400 }, () => word().join(""));
}

interface Tally {
  there: number;
  found: number;
  wrong: number;
  gone: number;
  taken: number;
}
const tally = (): Tally => ({ there: 0, found: 0, wrong: 0, gone: 0, taken: 0 });

type Region = { start: number; end: number };
function count(into: Tally, span: Span, found: Region | null): void {
  if (span.fate === "doubtful") return;
  if (span.fate === "gone") {
    into.gone++;
    if (found) into.taken++;
    return;
  }
  into.there++;
  if (found && overlap(span.at!, found) >= 0.5) into.found++;
  else if (found) into.wrong++;
}

type Method = (history: History) => (Region | null)[];

const inBrowser: Method = ({ old, new: now, spans }) =>
  spans.map(({ start, end }) => {
    const [prefix, suffix] = [old.slice(Math.max(0, start - CONTEXT), start), old.slice(end, end + CONTEXT)];
    return anchor(now, { exact: old.slice(start, end), prefix, suffix }, start);
  });
const withCarry: Method = ({ old, new: now, spans }) => carry(old, now, spans);

const percent = (part: number, whole: number): string => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");

function row(name: string, { there, found, wrong, gone, taken }: Tally): string {
  const figures = [percent(found, there), percent(found, found + wrong + taken), percent(taken, gone)];
  return `| ${[name, String(there + gone), ...figures].join(" | ")} |`;
}

function measure(name: string, histories: readonly History[], method: Method, by?: (span: Span) => string): string[] {
  const all = tally();
  const groups = new Map<string, Tally>();
  for (const history of histories) {
    for (const [i, found] of method(history).entries()) {
      const span = history.spans[i]!;
      count(all, span, found);
      if (!by || span.fate === "doubtful") continue;
      const group = groups.get(by(span)) ?? tally();
      groups.set(by(span), group);
      count(group, span, found);
    }
  }
  return [row(name, all), ...[...groups].toSorted().map(([key, group]) => row(`${name}: ${key}`, group))];
}

const pages: SourcePage[] = (await realPages())
  .map(([name, html]) => ({ name, blocks: blocksOf(html) }))
  .filter(({ blocks }) => blocks.length >= 8);
const parity = (odd: number) => pages.filter((_, i) => i % 2 === odd);

function histories(odd: 0 | 1, amount: number, sources: readonly SourcePage[] = parity(odd)): History[] {
  return Array.from({ length: amount }, (_, n) => {
    const page = sources[n % sources.length]!;
    const foreign: Block[] = sources[(n * 7 + 3) % sources.length]!.blocks;
    return historyOf(page, 2 * n + odd, foreign, SPANS);
  }).filter((history) => history.old !== history.new);
}

const lookAlikes = (odd: 0 | 1, amount: number): History[] =>
  Array.from({ length: amount }, (_, n) => {
    const sources = parity(odd);
    return lookAlike(sources[n % sources.length]!, 2 * n + odd, sources[(n * 5 + 1) % sources.length]!.blocks);
  }).filter((history) => history !== null);

const made = (odd: 0 | 1, amount: number, ...writings: [words: string[], glue: string, stop: string][]): History[] =>
  histories(
    odd,
    amount,
    Array.from({ length: amount }, (_, n) => {
      const [words, glue, stop] = writings[n % writings.length]!;
      return madePage(`made ${n}`, words, glue, stop, 2 * n + odd);
    }),
  );

async function real(odd: 0 | 1): Promise<History[]> {
  const found = await Promise.all(
    FOLDERS.map((folder) => historiesIn(folder, FLAGS.includes("--whole") ? null : odd, SPANS)),
  );
  return found.flat();
}

async function report(odd: 0 | 1): Promise<void> {
  const sets: [name: string, histories: History[]][] = [
    ["pages", histories(odd, HISTORIES)],
    ["look-alikes", lookAlikes(odd, 500)],
    ["Chinese, Japanese", made(odd, 200, [wordsFrom(CHINESE, 1, 2), "", "。"], [wordsFrom(KANA, 1, 4), "", "。"])],
    ["Hebrew, Arabic", made(odd, 100, [wordsFrom(HEBREW, 2, 6), " ", "."], [wordsFrom(ARABIC, 2, 6), " ", "."])],
    ["real pages", await real(odd)],
  ];
  const by = FLAGS.includes("--all") ? (span: Span) => `${span.fate}, ${span.kind}` : undefined;
  console.log(`\n${odd ? "Odd pages and seeds" : "Even pages and seeds (tuned on)"}`);
  console.log("| set, method | spans | recall | precision | anchored though gone |\n|---|---|---|---|---|");
  for (const [name, set] of sets.filter(([, { length }]) => length > 0)) {
    for (const line of measure(`${name}, browser`, set, inBrowser, by)) console.log(line);
    for (const line of measure(`${name}, carry`, set, withCarry, by)) console.log(line);
  }
}

/** Text of so many characters that is a page's. */
function proseOf(length: number): string {
  const all = pages.map(({ blocks }) => blocks.map(({ words }) => words.map(({ text }) => text).join(" ")).join(" "));
  return all
    .join(" ")
    .repeat(Math.ceil(length / all.join(" ").length))
    .slice(0, length);
}

/** What is nowhere on the page, in its own words. */
function miss(text: string, n: number): { exact: string; prefix: string; suffix: string } {
  const words = text.slice(0, 40_000).split(" ");
  const mixed = Array.from({ length: 80 }, (_, i) => words[(n * 7919 + i * 104_729) % words.length]!).join(" ");
  return { exact: mixed.slice(64, 264), prefix: mixed.slice(0, 64), suffix: mixed.slice(264, 328) };
}

function speed(): void {
  const [page, large] = [proseOf(100_000), proseOf(360_000)];
  const orphans = () => Array.from({ length: 100 }, (_, n) => anchor(page, miss(page, n)));
  const one = cpuOf(() => anchor(`${page}.`, miss(page, 0)));
  console.log("\nSpeed, ms of the processor");
  console.log(`100 orphans on a page of 100,000 characters: ${fastest(3, orphans).toFixed(0)} (aim 300)`);
  console.log(`the first of them, on a text not seen before: ${one.toFixed(1)} (aim 16)`);
  const html = `<p>${large.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(". ", ".</p><p>")}`;
  console.log(`text of a page of 360,000 characters: ${fastest(5, () => pageText(html)).toFixed(0)}`);
}

if (FLAGS.includes("--even")) await report(0);
await report(1);
speed();
