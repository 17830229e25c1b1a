/** Receipts of sites that no rule was written for: `bun test/torture/receipts.ts [first|second|third|fourth|fifth] [name…]` fetches each
 *  from npm or Debian, deploys it, opens its pages in Chromium and compares what fails there, or is a dead link, with the receipt's
 *  warnings. One line a site, then precision and recall of each set (bench/receipts.md). Needs npm, tar and a network that has the
 *  registry, the fourth and the fifth set a Debian 12 (apt-get, dpkg-deb) with its lists; an hour and a half. */
import { seen, UNREADABLE, type Visits } from "../receipts/open.ts";
import type { Contents } from "../receipts/parts.ts";
import { openBrowser } from "../browser/chromium.ts";
import { startServer } from "../kit/server.ts";
import { SETS, type Site, type SiteSet } from "./parts/site-sets.ts";
import { use } from "./parts/use.ts";

/** What no load shows. */
const BY_HAND = new Set(["possible_secret", "server_code", "huge_asset", "mixed_content", "missing_title"]);
/** Errors of a page's own code are left out: here half of them are what it misses of other hosts, or of a graphics card. */
const LOADS = /^(?:\d{3}|net::\S+|link|error:) /;
/** They tell what was done, and nothing of what loads. */
const NO_FAULT =
  /^(?:secret_file_dropped|case_collision|reserved_path|name_encoding_guessed|windows_unsafe_name|index_elsewhere|not_judged|markdown_too_complex|shown_as_code|suspicious_content)$/;
/** Pages that are used, for each takes some seconds. */
const MOST_USED = 4;
const PATIENCE_MS = 240_000;
const OPTIONS = { quiet_ms: 1000 };
const isFault = (found: string): boolean => LOADS.test(found) || UNREADABLE.test(found);
const [PRECISION, RECALL] = [0.98, 0.97];

interface Verdict {
  spec: string;
  faults: string[];
  codes: string[];
  undecided: boolean;
}

const IS_PAGE = /\.x?html?$/i;
/** Pages as text, for parts of pages are not opened. */
const contents = (files: ReadonlyMap<string, Uint8Array>): Contents =>
  Object.fromEntries(
    [...files].map(([path, bytes]) => [path, IS_PAGE.test(path) ? new TextDecoder().decode(bytes) : bytes]),
  );

/** The pages that became of Markdown. */
const madeOf = (paths: readonly string[]): string[] =>
  paths.filter((path) => /\.(?:md|markdown)$/i.test(path)).map((path) => path.replace(/\.\w+$/, ".html"));

/** Pages that name a stylesheet or a script of which something is told: who opens them sees it. */
const MOST_NAMING = 3;
function naming(files: Contents, told: readonly string[]): string[] {
  const names = told.filter((path) => !IS_PAGE.test(path)).map((path) => path.slice(path.lastIndexOf("/") + 1));
  const pages = Object.entries(files).filter(([, content]) => typeof content === "string");
  return names.flatMap((name) =>
    pages
      .filter(([, content]) => (content as string).includes(name))
      .slice(0, MOST_NAMING)
      .map(([path]) => path),
  );
}

async function judged({ spec, read }: Site, { most, spread }: SiteSet): Promise<Verdict> {
  const files = await read();
  const { url, warnings } = await server.deploy(files);
  const told = warnings.filter(({ code }) => !NO_FAULT.test(code) && !BY_HAND.has(code));
  const named = [...new Set(told.map(({ path }) => path!))];
  const texts = contents(files);
  const besides = [...named, ...naming(texts, named)];
  const visits = { besides, made: madeOf(named), pictures: true, lacks: true, spread, until: isFault };
  const find = async (more: Visits): Promise<string[]> => seen(browser, url, texts, { ...visits, ...more });
  let found = await find({ most });
  // What opening does not ask for, using may.
  if (!found.some(isFault)) found = [...found, ...(await find({ most: MOST_USED, use }))];
  const codes = [...new Set(told.map(({ code }) => code))].toSorted();
  return { spec, faults: found.filter(isFault), codes, undecided: isUndecided(named, found) };
}

/** All that is told is in pages that wanted code or data of another host: nobody can tell here what they would ask for. */
const isUndecided = (named: readonly string[], found: readonly string[]): boolean =>
  named.length > 0 &&
  !found.some(isFault) &&
  named.every((path) => found.includes(`lacks /${path.replace(/^index\.html$/, "")}`));

const inTime = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([work, Bun.sleep(PATIENCE_MS).then(() => Promise.reject(new Error("held the browser for too long")))]);

/** Null where it did not come through. */
async function verdictOf(site: Site, set: SiteSet): Promise<Verdict | null> {
  const { spec } = site;
  try {
    const verdict = await inTime(judged(site, set));
    const { faults, codes } = verdict;
    const right = faults.length > 0 === codes.length > 0;
    const mark = verdict.undecided ? "? " : right ? "  " : faults.length > 0 ? "- " : "+ ";
    process.stdout.write(
      `${mark}${spec}  ${codes.join(" ") || "no warning"}  ${faults.length} faults${faults.length > 0 ? `, ${faults.slice(0, 3).join("; ")}` : ""}\n`,
    );
    return verdict;
  } catch (error) {
    process.stdout.write(`! ${spec}  ${String(error).slice(0, 300)}\n`);
    browser = await openBrowser(OPTIONS); // the old one may be held by a page
    return null;
  }
}

/** Whether the bars are met, and each site came through. */
function tally(name: string, all: readonly (Verdict | null)[]): boolean {
  const came = all.filter((verdict) => verdict !== null);
  const verdicts = came.filter(({ undecided }) => !undecided);
  const broken = verdicts.filter(({ faults }) => faults.length > 0);
  const warned = verdicts.filter(({ codes }) => codes.length > 0);
  const both = broken.filter(({ codes }) => codes.length > 0).length;
  const [precision, recall] = [both / warned.length, both / broken.length];
  process.stdout.write(
    `${name}: ${came.length - verdicts.length} undecided; ${verdicts.length} sites, ${broken.length} of them broken, ${warned.length} warned of: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`,
  );
  return came.length === all.length && precision >= PRECISION && recall >= RECALL;
}

/** A set has parts, which are counted each and together. */
const partOf = (name: string): string => name.split(",")[0]!;
const names = new Set(Object.keys(SETS).map(partOf));
const words = process.argv.slice(2);
const [chosen, asked] = [words.filter((word) => names.has(word)), words.filter((word) => !names.has(word))];
const server = await startServer("--max-files", "10000", "--max-bytes", "100000000", "--max-zip-bytes", "100000000");
let browser = await openBrowser(OPTIONS);

async function judgedPart(name: string, set: SiteSet): Promise<(Verdict | null)[]> {
  const sites = set.sites.filter(({ spec }) => asked.length === 0 || asked.some((word) => spec.startsWith(word)));
  const verdicts: (Verdict | null)[] = [];
  for (const site of sites) verdicts.push(await verdictOf(site, set));
  if (sites.length > 0) tally(name, verdicts);
  return verdicts;
}

let met = true;
for (const name of chosen.length > 0 ? chosen : names) {
  const parts = Object.entries(SETS).filter(([each]) => partOf(each) === name);
  const verdicts: (Verdict | null)[] = [];
  for (const [each, set] of parts) verdicts.push(...(await judgedPart(each, set)));
  if (verdicts.length > 0) met = tally(parts.length > 1 ? `${name}, all` : name, verdicts) && met;
}
await browser.close();
await server[Symbol.asyncDispose]();
process.exit(met ? 0 : 1);
