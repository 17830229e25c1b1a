/** A stylesheet of ours without its comments and layout: pages carry it. */
export const compactCss = (text: string): string =>
  text
    .replace(/\/\*[^]*?(?:\*\/|$)/g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1")
    .replaceAll(": ", ":")
    .replaceAll(";}", "}")
    .trim();
