/** A form that a script writes in plain words, asks for a secret and sends it to another domain. What is decoded first is
 *  hidden, and refused as if it stood in the page; what stands in plain words may be an example that nobody writes. */
import { asBrowser } from "../../html/foreign.ts";
import { partsOf } from "../../html/page.ts";
import { foreignForm, secretsSent } from "./foreign-forms.ts";
import type { PageFacts } from "./facts.ts";
import { ownScripts } from "./own-code.ts";
import type { PageCode } from "./page-code.ts";
import { readPage } from "./page.ts";
import { readScript, type Script } from "./script/script.ts";
import type { Judged, Look } from "./signal.ts";

/** Bytes of an uploaded file from which on it is a program's, not a page's. */
const LARGE_FILE = 200_000;
/** What puts markup into a page. */
const WRITES =
  /\bdocument\s{0,9}\.\s{0,9}write(?:ln)?\b|\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bcreateContextualFragment\b|\bsetHTML(?:Unsafe)?\b|\bsrcdoc\b|\bcreateObjectURL\b|\bDOMParser\b|\.\s{0,9}(?:html|append|prepend|after|before|replaceWith)\s{0,9}\(/;
const MARKUP = /<[a-z/!]/i;
const FORM = /<form[\s/]/i;

/** All markup of a script, in its order: it may be written in pieces. Null where it writes none with a form in it. */
function markupOf({ code, literals }: Script): string | null {
  if (!WRITES.test(code)) return null;
  const markup = literals.filter((text) => MARKUP.test(text));
  return markup.some((text) => FORM.test(text)) ? markup.join("\n") : null;
}

const ofFile = (code: string): string | null =>
  code.length > LARGE_FILE || !FORM.test(code) ? null : markupOf(readScript(code));

/** A file's, which a hundred pages may load, is read once for all. */
const known = new WeakMap<PageCode, Map<string, PageFacts>>();

function reasonOf(markup: string, { page, path, own, code, budget }: Judged): string | null {
  const written = known
    .getOrInsertComputed(code, () => new Map())
    .getOrInsertComputed(markup, () => readPage(partsOf(markup, asBrowser()), budget));
  const bases = [...page.bases, ...written.bases];
  return foreignForm(secretsSent({ ...written, bases }, path, own, budget));
}

export const writtenForm: Look = (judged) => {
  const { page, path, code } = judged;
  const inline = page.runs.some((text) => FORM.test(text)) || page.handlers.length + page.scripts.length > 0;
  const own = inline ? ownScripts(page).flatMap((script) => markupOf(script) ?? []) : [];
  for (const markup of new Set([...own, ...code.inFiles(page, path, ofFile)])) {
    const reason = reasonOf(markup, judged);
    if (reason === null) continue;
    return {
      name: "written_form",
      why: `has a script that writes a form: ${reason}`,
      fix: "Let the form send to an address of the site itself",
    };
  }
  return null;
};
