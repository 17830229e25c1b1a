/** Which errors are the site's own for certain, on a page that takes scripts or data from another host, which the engine
 *  refuses: those that are thrown before anything of it could have run or answered. */
import type { Params } from "./browser.ts";

const WORLD = "svc-errors";
const FOUND = "svcFound";

/** The document has the scripts that the parser has reached: those that follow have not run yet. This calls back before the
 *  script that follows runs, from a world of its own, which the page's scripts neither see nor change. */
const SOURCE = `(() => {
  const isForeign = ({ src, type, text }) => src ? new URL(src, location).host !== location.host
    : /^(?:module|importmap)/i.test(type) && /\\/\\//.test(text);
  const scriptsIn = (node) => node instanceof HTMLScriptElement ? [node]
    : node instanceof Element ? [...node.querySelectorAll("script")]
    : node.parentNode instanceof HTMLScriptElement ? [node.parentNode] : [];
  const observer = new MutationObserver((records) => {
    const nodes = records.flatMap(({ target, addedNodes }) => [target, ...addedNodes]);
    if (!nodes.some((node) => node !== document && scriptsIn(node).some(isForeign))) return;
    observer.disconnect();
    ${FOUND}("");
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["src"] });
})()`;

interface PageSession {
  send(method: string, params: Params): Promise<unknown>;
}

/** Has the page and its frames tell of the first script of another host, as `Runtime.bindingCalled`. */
export async function tellOfScripts(page: PageSession): Promise<void> {
  await page.send("Runtime.addBinding", { name: FOUND, executionContextName: WORLD });
  await page.send("Page.addScriptToEvaluateOnNewDocument", { source: SOURCE, worldName: WORLD });
}

interface Alone {
  heard(params: Params): void;
  /** Takes an error of `Runtime.exceptionThrown` as soon as it comes. */
  isOwn(details: Readonly<Record<string, unknown>>): boolean;
}

/** `lacks`: whether something was refused by now that no element of the document shows. */
export function createAlone(lacks: () => boolean): Alone {
  let alone = true;
  return {
    heard({ name }) {
      if (name === FOUND) alone = false;
    },
    isOwn({ exception, stackTrace }) {
      // A script that cannot be read: whatever else the page has would not help it.
      const { className } = (exception ?? {}) as { className?: string };
      return (className === "SyntaxError" && stackTrace === undefined) || (alone && !lacks());
    },
  };
}
