/** What stands on a page, asked in a world of its own: nothing that the page's scripts changed is there. */
import type { DomSummary } from "../job.ts";
import { kept } from "../texts.ts";
import type { Page } from "./targets.ts";

const MOST_HEADINGS = 20;
const LONGEST_HEADING = 120;
const MOST_NODES = 100_000;

/** Elements by their names can shadow the document's own methods, so that these are taken from its class. What hangs in
 *  open shadow trees is read too. */
const EXPRESSION = `(() => {
  const all = (root, what) => (root === document ? Document : DocumentFragment).prototype.querySelectorAll.call(root, what);
  const roots = [document];
  for (let i = 0, left = ${MOST_NODES}; i < roots.length && left > 0; i++) {
    for (const element of all(roots[i], "*")) {
      if (--left < 0) break;
      if (element.shadowRoot) roots.push(element.shadowRoot);
    }
  }
  const count = (what) => roots.reduce((sum, root) => sum + all(root, what).length, 0);
  const read = (element) => String((element instanceof HTMLElement ? element.innerText : element.textContent) ?? "");
  const body = all(document, "body")[0];
  const inside = roots.slice(1).flatMap((root) => [...root.children].map(read));
  const text = [body ? read(body) : "", ...inside].join(" ");
  return {
    title: String(all(document, "title")[0]?.textContent ?? ""),
    headings: roots.flatMap((root) => [...all(root, "h1, h2, h3, h4, h5, h6")].slice(0, ${MOST_HEADINGS}).map(read))
      .slice(0, ${MOST_HEADINGS}),
    links: count("a[href], area[href]"),
    images: count("img, svg, canvas, picture > source, video"),
    text_length: text.replace(/\\s+/g, " ").trim().length,
  };
})()`;

const countOf = (value: unknown): number => (typeof value === "number" && value >= 0 ? Math.floor(value) : 0);

const asSummary = (found: Readonly<Record<string, unknown>>): DomSummary => ({
  title: kept(found["title"]).trim(),
  headings: (Array.isArray(found["headings"]) ? found["headings"] : [])
    .slice(0, MOST_HEADINGS)
    .map((heading) => kept(heading, LONGEST_HEADING).replace(/\s+/g, " ").trim())
    .filter((heading) => heading !== ""),
  links: countOf(found["links"]),
  images: countOf(found["images"]),
  text_length: countOf(found["text_length"]),
});

export async function summarise(page: Page): Promise<DomSummary> {
  const { frameTree } = await page.send<{ frameTree: { frame: { id: string } } }>("Page.getFrameTree");
  const world = await page.send<{ executionContextId: number }>("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "svc",
  });
  const { result } = await page.send<{ result: { value?: unknown } }>("Runtime.evaluate", {
    expression: EXPRESSION,
    contextId: world.executionContextId,
    returnByValue: true,
    timeout: 3000,
  });
  const found = result.value;
  return asSummary(typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {});
}
