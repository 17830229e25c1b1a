/** Brands that phishing pages pass themselves off as. The list is the operator's: DATA/brands.txt. */
import { brandsIn } from "../../base/brand-list.ts";
import { plainWords } from "./facts.ts";

export interface Brand {
  /** As people write it. */
  name: string;
  /** As it is looked for in plain words. */
  word: string;
  /** Its own domains: there, and below them, it may call itself so. */
  domains: readonly string[];
}

export const parseBrands = (text: string): Brand[] =>
  brandsIn(text).map(({ name, domains }) => ({ name, word: plainWords(name), domains }));

export const isBelow = (hostname: string, domains: readonly string[]): boolean =>
  domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
