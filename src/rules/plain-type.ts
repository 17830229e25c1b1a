/** Which types `_headers` may give: none that a browser shows as a page, for pages are what the abuse scan read (BEYOND 3). */
import { isMarkup } from "../base/media-types.ts";

/** One type with its parameters, and nothing that readers could take apart in two ways: a browser believes the last of a
 *  list, and parts of `multipart` bring types of their own. */
const WELL_FORMED = /^([a-z\d!#$&^_.+-]+\/[a-z\d!#$&^_.+-]+)(?:;[^,]*)?$/i;
const SHOWN = /^(?:multipart|message)\/|^text\/xsl$|html|xml/i;

export function isPlainType(value: string): boolean {
  const essence = WELL_FORMED.exec(value)?.[1];
  return essence !== undefined && !isMarkup(essence) && !SHOWN.test(essence);
}
