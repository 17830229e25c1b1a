/** Pasted text as a file: a page, or Markdown (WEB 4.1). */

/** Without the white space and the comments that it begins with. */
function withoutPreface(text: string): string {
  let rest = text.replace(/^\uFEFF/, "").trimStart();
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->", 4);
    if (end === -1) return rest;
    rest = rest.slice(end + 3).trimStart();
  }
  return rest;
}

/** A tag's name ends in white space, a slash or `>`: `<https://svc.example>` is Markdown's. */
const PAGE = /^<(?:!doctype\b|[a-z][\w-]*(?:[\s/>]|$))/i;

export const pastedName = (text: string): "index.html" | "index.md" =>
  PAGE.test(withoutPreface(text)) ? "index.html" : "index.md";

const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 600;

/** Enough to see what it is. */
export const firstLines = (text: string): string =>
  text.trim().slice(0, SHOWN_CHARACTERS).split(/\r?\n/).slice(0, SHOWN_LINES).join("\n");
