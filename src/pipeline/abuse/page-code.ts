/** The code that a page runs: its own scripts and event attributes, and the files of the upload that it loads, and those
 *  that they load. */

import { decodePercent } from "../../base/percent.ts";
import type { Files } from "../../base/types.ts";
import { baseOf, type OwnHost } from "../../html/addresses.ts";
import { decodeScript } from "../../html/decode.ts";
import type { Budget } from "../budget.ts";
import { basesOf, ownFile } from "./destinations.ts";
import type { PageFacts } from "./facts.ts";
import { readScript, type Script } from "./script.ts";

/** A search in code. Null means not found. Each file is searched once for each probe. */
type Probe<Found> = (code: string) => Found | null;

export const probeFor =
  (pattern: RegExp): Probe<true> =>
  (code) =>
    pattern.test(code) || null;

const IMPORT = /\b(?:import\s{0,9}\(?|from)\s{0,9}["'`]([^"'`\n]{1,500})["'`]/g;
/** A script's name in a string: what names it in order to load it (a worker, an import map, an element) is all alike. */
const NAMED = /["'`]([^"'`\s?#]{1,500}?\.[cm]?js(?:[?#][^"'`\s]{0,200})?)["'`]/gi;
const importsIn = (code: string): Set<string> =>
  new Set([...code.matchAll(IMPORT), ...code.matchAll(NAMED)].map((found) => found[1]!));

/** A browser runs nothing else as a script: `nosniff` forbids it. */
const isCode = (path: string): boolean => /\.[cm]?js$/i.test(path);

export class PageCode {
  private readonly texts = new Map<string, string>();
  private readonly results = new Map<Probe<unknown>, ReadonlyMap<string, unknown>>();
  private readonly imports = new Map<string, ReadonlySet<string>>();
  private readonly paths: readonly string[];

  constructor(
    private readonly files: Files,
    private readonly own: OwnHost,
    private readonly budget: Budget,
  ) {
    this.paths = [...files.keys()].filter(isCode);
  }

  find<Found>(page: PageFacts, path: string, probe: Probe<Found>): Found | null {
    const data = page.scripts.flatMap((address) => codeAt(address) ?? []);
    const inline = probe([...page.code, ...page.events, ...data].join("\n"));
    if (inline !== null) return inline;
    const inFiles = this.resultsOf(probe);
    if (inFiles.size === 0) return null;
    for (const file of this.loadedBy(page, path)) if (inFiles.has(file)) return inFiles.get(file)!;
    return null;
  }

  /** The probe's results for the uploaded files that the page loads. */
  inFiles<Found>(page: PageFacts, path: string, probe: Probe<Found>): Found[] {
    const found = this.resultsOf(probe);
    if (found.size === 0) return [];
    return [...this.loadedBy(page, path)].flatMap((file) => found.get(file) ?? []);
  }

  private read(path: string): string {
    const bytes = this.files.get(path);
    return bytes && isCode(path) ? this.texts.getOrInsertComputed(path, () => decodeScript(bytes)) : "";
  }

  /** Read once: a hundred pages may load it. */
  private importsOf(path: string): ReadonlySet<string> {
    return this.imports.getOrInsertComputed(path, () => importsIn(this.read(path)));
  }

  /** The probe's result for each file. Almost always there is none, and then no page needs to be followed. */
  private resultsOf<Found>(probe: Probe<Found>): ReadonlyMap<string, Found | null> {
    const results = this.results.getOrInsertComputed(probe, () => {
      const found = this.paths.map((path) => {
        this.budget.check();
        return [path, probe(this.read(path))] as const;
      });
      return new Map(found.filter(([, result]) => result !== null));
    });
    return results as ReadonlyMap<string, Found | null>;
  }

  private loadedBy(page: PageFacts, path: string): Set<string> {
    const addresses = [...page.scripts, ...page.code.flatMap((code) => [...importsIn(code)])];
    const bases = basesOf(page.bases, path);
    const seen = new Set<string>();
    const load = (address: string, bases_of_it: readonly string[]): void => {
      this.budget.step();
      for (const base of bases_of_it) {
        const file = ownFile(address, base, this.own);
        if (file !== null && this.files.has(file)) seen.add(file);
      }
    };
    for (const address of addresses) load(address, bases);
    for (const file of seen) {
      this.budget.check();
      // A module is resolved against its importer; an address that a script adds to the page, against the page.
      for (const address of this.importsOf(file)) load(address, [baseOf(file), ...bases]);
    }
    return seen;
  }
}

// The code in a page itself: its scripts, event attributes, and the content of `data:` addresses.

/** The content of a `data:` address. Null for all others. */
export function inAddress(address: string): { type: string; text: string } | null {
  const from = /^[\s\0]*data:/i.exec(address)?.[0].length;
  const comma = from === undefined ? -1 : address.indexOf(",", from);
  const [head, data] = [address.slice(from, comma), address.slice(comma + 1)];
  if (comma < 0 || data === "") return null;
  const [type] = /^[\w.+/-]*/.exec(head)!;
  const plain = decodePercent(data.replace(/[\t\n\r]/g, ""));
  if (plain === null) return { type, text: data };
  const text = /;\s*base64\s*$/i.test(head) ? Buffer.from(plain, "base64").toString() : plain;
  return { type: type || "text/plain", text };
}

/** The code of a script at a `data:` address. */
const codeAt = (address: string): string | null => inAddress(address)?.text ?? null;

/** Event attributes whose code runs without anybody doing anything. */
const LOADS = /^on(?:load|error|pageshow)$/;

export interface OwnScript extends Script {
  /** It runs when the page loads. */
  loads: boolean;
}

/** By the page: several look at them. */
const read = new WeakMap<PageFacts, readonly OwnScript[]>();

/** Equal event attributes are one. */
export function ownScripts(page: PageFacts): readonly OwnScript[] {
  return read.getOrInsertComputed(page, () => {
    const data = page.scripts.flatMap((address) => codeAt(address) ?? []);
    const handlers = new Map(page.handlers.map(({ name, code }) => [`${name} ${code}`, { name, code }]));
    return [
      ...[...page.runs, ...data].map((code) => ({ ...readScript(code), loads: true })),
      ...[...handlers.values()].map(({ name, code }) => ({ ...readScript(code), loads: LOADS.test(name) })),
    ];
  });
}
