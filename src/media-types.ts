/** What a browser does with an answer of some Content-Type. The scan of a deploy and the headers of serving ask the same. */

export const isHtml = (media_type: string): boolean => /^text\/html(?:;|$)/i.test(media_type);

/** A style sheet of XSLT is shown as XML, too. */
export const isXml = (media_type: string): boolean => /[/+]xml(?:;|$)|xslt/i.test(media_type);

/** Whether it may be shown as a page with forms and scripts: HTML, XHTML, SVG, and any XML, for it can hold XHTML. */
export const isMarkup = (media_type: string): boolean => isHtml(media_type) || isXml(media_type);
