/** Files that a person would call a web page: HTML, and the Markdown that becomes it. Runs in browsers: it imports nothing. */
export const isPageName = (path: string): boolean => /\.(?:html|htm|xhtml|md|markdown)$/i.test(path);
