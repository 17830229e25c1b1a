/** Receipts of sites that no rule was written for: `bun test/torture/receipts.ts [first|second] [name…]` fetches each from npm,
 *  deploys it, opens its pages in Chromium and compares what fails there, or is a dead link, with the receipt's warnings. One
 *  line a site, then precision and recall of each set (docs/receipts.md). Needs npm, tar and a network that has the registry;
 *  an hour. */
import { seen } from "../receipts/open.ts";
import type { Contents } from "../receipts/parts.ts";
import { openBrowser } from "../browser/chromium.ts";
import { startServer } from "../kit/server.ts";
import { npmSite } from "./parts/npm-sites.ts";
import { SECOND } from "./parts/second-list.ts";
import { SITES } from "./parts/site-list.ts";

/** What no load shows. */
const BY_HAND = new Set(["possible_secret", "server_code", "huge_asset", "mixed_content", "missing_title"]);
/** Errors of a page's own code are left out: here half of them are what it misses of other hosts, or of a graphics card. */
const LOADS = /^(?:\d{3}|net::\S+|link|error:) /;
/** They tell what was done, and nothing of what loads. */
const NO_FAULT =
  /^(?:secret_file_dropped|case_collision|reserved_path|name_encoding_guessed|windows_unsafe_name|index_elsewhere|not_judged|markdown_too_complex|shown_as_code|suspicious_content)$/;
const MOST_PAGES = 40;
const [PRECISION, RECALL] = [0.98, 0.97];

interface Verdict {
  spec: string;
  faults: string[];
  codes: string[];
}

/** Pages as text, for parts of pages are not opened. */
const contents = (files: ReadonlyMap<string, Uint8Array>): Contents =>
  Object.fromEntries(
    [...files].map(([path, bytes]) => [path, /\.x?html?$/i.test(path) ? new TextDecoder().decode(bytes) : bytes]),
  );

async function judged(spec: string, folder: string): Promise<Verdict> {
  const files = await npmSite(spec, folder);
  const { url, warnings } = await server.deploy(files);
  const told = warnings.filter(({ code }) => !NO_FAULT.test(code) && !BY_HAND.has(code));
  const named = [...new Set(told.map(({ path }) => path!))];
  const found = await seen(browser, url, contents(files), { most: MOST_PAGES, besides: named });
  const faults = found.filter((fault) => LOADS.test(fault));
  return { spec, faults, codes: [...new Set(told.map(({ code }) => code))].toSorted() };
}

/** Null where it did not come through. */
async function verdictOf([spec, folder]: readonly [spec: string, folder: string]): Promise<Verdict | null> {
  try {
    const verdict = await judged(spec, folder);
    const { faults, codes } = verdict;
    const right = faults.length > 0 === codes.length > 0;
    process.stdout.write(
      `${right ? "  " : faults.length > 0 ? "- " : "+ "}${spec}  ${codes.join(" ") || "no warning"}  ${faults.length} faults${faults.length > 0 ? `, ${faults.slice(0, 3).join("; ")}` : ""}\n`,
    );
    return verdict;
  } catch (error) {
    process.stdout.write(`! ${spec}  ${String(error).slice(0, 300)}\n`);
    return null;
  }
}

/** Whether the bars are met, and each site came through. */
function tally(name: string, all: readonly (Verdict | null)[]): boolean {
  const verdicts = all.filter((verdict) => verdict !== null);
  const broken = verdicts.filter(({ faults }) => faults.length > 0);
  const warned = verdicts.filter(({ codes }) => codes.length > 0);
  const both = broken.filter(({ codes }) => codes.length > 0).length;
  const [precision, recall] = [both / warned.length, both / broken.length];
  process.stdout.write(
    `${name}: ${verdicts.length} sites, ${broken.length} of them broken, ${warned.length} warned of: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`,
  );
  return verdicts.length === all.length && precision >= PRECISION && recall >= RECALL;
}

const SETS = { first: SITES, second: SECOND };
const words = process.argv.slice(2);
const sets = Object.entries(SETS).filter(([name]) => !words.some((word) => word in SETS) || words.includes(name));
const asked = words.filter((word) => !(word in SETS));
const server = await startServer("--max-files", "10000", "--max-bytes", "100000000", "--max-zip-bytes", "100000000");
const browser = await openBrowser();
let met = true;
for (const [name, set] of sets) {
  const sites = set.filter(([spec]) => asked.length === 0 || asked.some((word) => spec.startsWith(word)));
  const verdicts: (Verdict | null)[] = [];
  for (const site of sites) verdicts.push(await verdictOf(site));
  if (sites.length > 0) met = tally(name, verdicts) && met;
}
await browser.close();
await server[Symbol.asyncDispose]();
process.exit(met ? 0 : 1);
