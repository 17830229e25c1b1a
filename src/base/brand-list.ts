/** The list of brands that phishing pages pass themselves off as, and that no site may be named after. It is the operator's:
 *  DATA/brands.txt. */

interface ListedBrand {
  /** As people write it. */
  name: string;
  /** Its own domains: there, and below them, it may call itself so. */
  domains: readonly string[];
}

/** Each line is `name domain…`; a name of several words is in quotes. A line that cannot be read is left out. */
export function brandsIn(text: string): ListedBrand[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, quoted, plain, rest] = /^\s*(?:"([^"]+)"|([^\s"#]\S*))\s+([^#]*)/.exec(line) ?? [];
    const name = quoted ?? plain;
    const domains =
      rest
        ?.toLowerCase()
        .split(/\s+/)
        .filter((domain) => /^[\w-]+(?:\.[\w-]+)+$/.test(domain)) ?? [];
    return name && domains.length > 0 ? [{ name, domains }] : [];
  });
}

/** As people write them. */
export const brandNames = (text: string): string[] => brandsIn(text).map(({ name }) => name);
