/** Light and dark as the reader's machine is set, until the reader says otherwise: `data-theme` of the page. */

const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^{}]*)\}\s*\}/g;

/** The colours of the dark come a second time, for whoever chose them on a machine that is set light. */
export const themed = (css: string): string =>
  css.replace(
    DARK,
    (_, colours: string) =>
      `@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {${colours}} }\n:root[data-theme="dark"] {${colours}}`,
  );

/** Before anything shows, so that no page flashes. */
export const THEME_SCRIPT = 'try{document.documentElement.dataset.theme=localStorage["docs-theme"]||""}catch{}';
