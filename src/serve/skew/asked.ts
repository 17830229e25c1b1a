/** Whether a request may be answered from a former version, by what stands in it alone (BEYOND 4): a page asks, for a part
 *  of itself that is named after its content. A navigation, or a service worker, wants what is live. */
import { hasContentHash } from "./content-hash.ts";
import { isNeverServed } from "../../base/reserved-paths.ts";
import { nameOf } from "../../base/resolve.ts";

const USES = new Set("script style font image audio video track worker sharedworker empty".split(" "));

/** What the answer hangs on. */
export const SKEW_HEADERS = "Sec-Fetch-Site, Sec-Fetch-Dest";

/** All that is asked of most requests that lead nowhere. */
export const asksForPart = ({ method, headers }: Request): boolean =>
  method === "GET" && headers.get("sec-fetch-site") === "same-origin" && USES.has(headers.get("sec-fetch-dest") ?? "");

/** Why no former version is looked at; null: one may answer. `path` is percent-encoded. */
export function whyNotAsked(request: Request, path: string): string | null {
  if (request.method !== "GET") return "Former versions answer GET alone.";
  if (!asksForPart(request)) {
    return "Former versions give what a page of the site loads, as Sec-Fetch-Site and Sec-Fetch-Dest say.";
  }
  const name = nameOf(path);
  if (isNeverServed(name)) return "The address is the service's own.";
  return hasContentHash(name) ? null : "No part of the address looks like the hash of a content.";
}
