const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^{}]*)\}\s*\}/g;

/** The dark colours come a second time, for readers who chose them, or chose the light ones, in `data-theme` of the page. */
export const themed = (css: string): string =>
  css.replace(
    DARK,
    (_, colours: string) =>
      `@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {${colours}} }\n:root[data-theme="dark"] {${colours}}`,
  );

/** A stylesheet of ours without its comments and layout: pages carry it. */
export const compactCss = (text: string): string =>
  text
    .replace(/\/\*[^]*?(?:\*\/|$)/g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1")
    .replaceAll(": ", ":")
    .replaceAll(";}", "}")
    .trim();
