/** Runs the abuse scan over some files, for the tables of its tests. */
import { Refusal } from "../../src/base/errors.ts";
import { scanAbuse } from "../../src/pipeline/abuse/index.ts";
import type { Bytes, SiteContext } from "../../src/base/types.ts";
import FIRST_BRANDS from "../../src/store/disk/first-brands.txt" with { type: "text" };

/** A new anonymous site. */
export const NEW_SITE: SiteContext = {
  sites_domain: "sites.example",
  contact: "abuse@host.example",
  brands: FIRST_BRANDS,
  slug: null,
  anonymous: true,
};

export type Sources = Record<string, string | Bytes>;

const bytesOf = (source: string | Bytes): Bytes =>
  typeof source === "string" ? new TextEncoder().encode(source) : source;

/** `pass`, the code of a refusal, or the names of the signals and the codes of other warnings. */
export function judge(files: Sources, site: Partial<SiteContext> = {}): string {
  const draft = {
    files: new Map(Object.entries(files).map(([path, source]) => [path, bytesOf(source)])),
    ...{ made: new Set<string>(), stripped_folder: null, healed: [], warnings: [] },
  };
  try {
    const { warnings } = scanAbuse(draft, { ...NEW_SITE, ...site }, () => {});
    const signals = warnings.map(({ code, message }) => /\((\w+)\)\.$/.exec(message)?.[1] ?? code);
    return signals.length === 0 ? "pass" : signals.join(" ");
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

export const judgePage = (html: string | Bytes, site: Partial<SiteContext> = {}): string =>
  judge({ "index.html": html }, site);
