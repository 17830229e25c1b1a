/** Brands that phishing pages pass themselves off as. The list is the operator's: DATA/brands.txt. */
import { plainWords } from "./facts.ts";

export interface Brand {
  /** As people write it. */
  name: string;
  /** As it is looked for in plain words. */
  word: string;
  /** Its own domains: there, and below them, it may call itself so. */
  domains: readonly string[];
}

/** Each line is `name domain…`; a name of several words is in quotes. A line that cannot be read is left out. */
export function parseBrands(text: string): Brand[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, quoted, plain, rest] = /^\s*(?:"([^"]+)"|([^\s"#]\S*))\s+([^#]*)/.exec(line) ?? [];
    const name = quoted ?? plain;
    const domains =
      rest
        ?.toLowerCase()
        .split(/\s+/)
        .filter((domain) => /^[\w-]+(?:\.[\w-]+)+$/.test(domain)) ?? [];
    return name && domains.length > 0 ? [{ name, word: plainWords(name), domains }] : [];
  });
}

export const isBelow = (hostname: string, domains: readonly string[]): boolean =>
  domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
