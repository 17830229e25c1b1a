/** The code that a page runs: its own scripts and event attributes, and the files of the upload that it loads, and those
 *  that they load. */
import type { Files } from "../../types.ts";
import type { PageFacts } from "./facts.ts";
import { codeAt } from "./readings.ts";
import { baseOf, type OwnHost } from "../../html/addresses.ts";
import { basesOf, ownFile } from "./destinations.ts";
import { decodeScript } from "../../html/decode.ts";

/** What is looked for in code; null where it is not there. Each file is looked at once for each probe. */
export type Probe = (code: string) => string | null;

export interface PageCode {
  find(page: PageFacts, path: string, probe: Probe): string | null;
}

const IMPORT = /\b(?:import\s{0,9}\(?|from)\s{0,9}["'`]([^"'`\n]{1,500})["'`]/g;
/** A script's name in a string: what names it in order to load it (a worker, an import map, an element) is all alike. */
const NAMED = /["'`]([^"'`\s?#]{1,500}?\.[cm]?js(?:[?#][^"'`\s]{0,200})?)["'`]/gi;
const importsIn = (code: string): Set<string> =>
  new Set([...code.matchAll(IMPORT), ...code.matchAll(NAMED)].map((found) => found[1]!));

/** Nothing else is run: `nosniff` sees to it. */
const isCode = (path: string): boolean => /\.[cm]?js$/i.test(path);

export function pageCode(files: Files, own: OwnHost): PageCode {
  const texts = new Map<string, string>();
  const results = new Map<Probe, Map<string, string | null>>();
  const paths = [...files.keys()].filter(isCode);

  function read(path: string): string {
    const bytes = files.get(path);
    if (!bytes || !isCode(path)) return "";
    if (!texts.has(path)) texts.set(path, decodeScript(bytes));
    return texts.get(path)!;
  }

  /** What the probe says of each file. Almost always that there is nothing: then no page needs to be followed. */
  function resultsOf(probe: Probe): ReadonlyMap<string, string | null> {
    const known = results.get(probe);
    if (known) return known;
    const found = new Map(
      paths.map((path) => [path, probe(read(path))] as const).filter(([, result]) => result !== null),
    );
    results.set(probe, found);
    return found;
  }

  function loadedBy(page: PageFacts, path: string): Set<string> {
    const addresses = [...page.scripts, ...page.code.flatMap((code) => [...importsIn(code)])];
    const bases = basesOf(page.bases, path);
    const entries = bases.flatMap((base) => addresses.flatMap((address) => ownFile(address, base, own) ?? []));
    const seen = new Set(entries);
    for (const file of seen) {
      for (const address of importsIn(read(file))) {
        // A module is looked for beside its importer, what a script adds to the page beside the page.
        for (const base of [baseOf(file), ...bases]) {
          const next = ownFile(address, base, own);
          if (next !== null && files.has(next)) seen.add(next);
        }
      }
    }
    return seen;
  }

  return {
    find(page, path, probe) {
      const data = page.scripts.flatMap((address) => codeAt(address) ?? []);
      const inline = probe([...page.code, ...page.events, ...data].join("\n"));
      if (inline !== null) return inline;
      const inFiles = resultsOf(probe);
      if (inFiles.size === 0) return null;
      for (const file of loadedBy(page, path)) if (inFiles.has(file)) return inFiles.get(file)!;
      return null;
    },
  };
}
