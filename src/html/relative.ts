/** Whether a page must be told where it stands: what it loads by relative addresses is elsewhere when it is asked for under
 *  another path. */
import { attributesOf } from "./attributes.ts";
import { partsOf } from "./page.ts";

const LOADS: Record<string, string> = { script: "src", link: "href", img: "src" };
/** Of a script in the page: what it imports from beside the page. */
const IMPORTS = /\b(?:import\s{0,9}\(?|from)\s{0,9}["']\.{1,2}\//;

/** Neither at the root nor with a scheme, and no fragment. */
const isRelative = (address: string): boolean => /^\s*(?![a-z][a-z\d+.-]*:)[^\s/#?\\]/i.test(address);

/** `html`: its beginning, entities not decoded. A `<base>` of its author's says it already. */
export function needsBase(html: string): boolean {
  let relative = false;
  for (const part of partsOf(html)) {
    if (part.kind !== "open") continue;
    const attribute = LOADS[part.name];
    if (attribute === undefined && part.name !== "base") continue;
    const found = attributesOf(part.attributes);
    if (part.name === "base" && found.has("href")) return false;
    relative ||= isRelative(found.get(attribute ?? "") ?? "") || IMPORTS.test(part.raw ?? "");
  }
  return relative;
}
