/** A page that shows next to nothing and sends its visitors on to another domain, without anybody doing anything. */
import { basesOf, destination } from "./destinations.ts";
import { LITTLE_TEXT, type PageFacts } from "./facts.ts";
import { type OwnScript, ownScripts } from "./page-code.ts";
import { Functions } from "./functions.ts";
import { fromBase64, isWhole, readScript, type Script, valuesAt, type Written } from "./script.ts";
import type { Judged, Look } from "./signal.ts";

const SOON_S = 5;
const REFRESH = /^\s*(\d*)[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i;

const MOVE =
  /(?:^|[^\w$.])(?:(?:window|document|self|top|parent|globalThis|this)\s{0,9}\.\s{0,9}){0,4}location(?:\s{0,9}\.\s{0,9}href)?\s{0,9}=(?![=>])|\blocation\s{0,9}\.\s{0,9}(?:replace|assign)\s{0,9}\(|\bnavigation\s{0,9}\.\s{0,9}navigate\s{0,9}\(|(?:^|[^\w$.]|window\.)open\s{0,9}\(/g;
const DECLARES = /(?:let|const)\s{1,9}location\s{0,9}=$/;
/** Behind the address of `open`: where it opens in the page's own place. */
const SECOND = /[^,;]{0,300},\s{0,9}"(\d+)"/y;
const OWN_PLACE = /^_(?:self|top|parent)$/i;
/** Code in a string. */
const RUN =
  /\b(?:eval|Function|setTimeout|execScript)\s{0,9}\(\s{0,9}(?:(?:window\.)?(atob|unescape|decodeURI\w{0,9})\s{0,9}\(\s{0,9})?"(\d+)"/g;
/** Code in strings in strings. */
const DEEPEST = 2;

interface Move {
  /** Behind what moves. */
  at: number;
  to: readonly Written[];
}

function opensHere({ code, literals }: Script, at: number): boolean {
  SECOND.lastIndex = at;
  const target = SECOND.exec(code)?.[1];
  return target !== undefined && OWN_PLACE.test(literals[Number(target)]!);
}

function movesIn(script: Script): Move[] {
  const { code } = script;
  return [...code.matchAll(MOVE)].flatMap(({ 0: move, index }) => {
    const at = index + move.length;
    if (move.includes("open") ? !opensHere(script, at) : DECLARES.test(code.slice(Math.max(0, at - 40), at))) return [];
    const to = valuesAt(script, at).filter(isWhole);
    return to.length === 0 ? [] : [{ at, to }];
  });
}

/** Code that a script has in strings, and runs. */
const stringsRun = ({ code, literals }: Script): { at: number; source: string }[] =>
  [...code.matchAll(RUN)].map(({ 0: call, 1: decoder, 2: number, index }) => {
    const text = literals[Number(number)]!;
    return { at: index + call.length, source: decoder === "atob" ? fromBase64(text) : text };
  });

/** The addresses that the scripts lead to by themselves. */
function leadsOf(scripts: readonly Script[], depth = 0): Written[] {
  const functions = new Functions();
  const found = scripts.map((script) => {
    const moves = movesIn(script);
    const strings = depth < DEEPEST ? stringsRun(script) : [];
    const places = [...moves, ...strings].map(({ at }) => at).toSorted((a, b) => a - b);
    const around = functions.add(script.code, script.literals, places);
    return { moves, strings, around: new Map(places.map((at, i) => [at, around[i]!])) };
  });
  const running = functions.running();
  return found.flatMap(({ moves, strings, around }) => {
    const runs = ({ at }: { at: number }): boolean => running.has(around.get(at)!);
    const inner = strings.filter(runs).map(({ source }) => readScript(source));
    return [...moves.filter(runs).flatMap(({ to }) => to), ...(inner.length > 0 ? leadsOf(inner, depth + 1) : [])];
  });
}

const refreshesOf = ({ refreshes }: PageFacts): string[] =>
  refreshes.flatMap((content) => {
    const [, seconds = "0", address = ""] = REFRESH.exec(content) ?? [];
    return Number(seconds) <= SOON_S ? [address] : [];
  });

/** Most pages have nothing of it. */
const mayMove = ({ code }: OwnScript): boolean => /location|navigat|open\s*\(|eval|Function|setTimeout/.test(code);

function addresses({ page }: Judged): Set<string> {
  const scripts = ownScripts(page).filter(({ loads }) => loads);
  const leads = scripts.some(mayMove) ? leadsOf(scripts) : [];
  return new Set([...refreshesOf(page), ...leads.map(({ text }) => text)]);
}

export const fastRedirect: Look = (judged) => {
  const { page, path, own, budget } = judged;
  if (page.noscript || page.text.length >= LITTLE_TEXT) return null;
  const bases = basesOf(page.bases, path);
  const other = addresses(judged)
    .values()
    .map((address) => {
      budget.step();
      return destination(address, bases, own);
    })
    .find(({ kind }) => kind === "other");
  if (other?.kind !== "other") return null;
  return {
    name: "fast_redirect",
    why: `shows next to nothing and sends its visitors on to ${other.where}`,
    fix: "Say on the page where it leads, and let visitors follow a link",
  };
};
