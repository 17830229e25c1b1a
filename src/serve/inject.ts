/** Attribution in served HTML (CONTRACT 6): nothing visible, and nothing that changes with owner or expiry. */
import { html, scriptJson } from "../html/template.ts";
import type { Bytes, Version } from "../base/types.ts";
import { headEnd } from "../html/head-end.ts";
import { headStart } from "../html/head-start.ts";
import { needsBase } from "../html/relative.ts";
import type { Content, Inserted } from "./kept.ts";

function attribution({ site_id, version_id }: Pick<Version, "site_id" | "version_id">): Bytes {
  const page = {
    "@context": "https://schema.org",
    "@type": "WebPage",
    version: version_id,
    isPartOf: { "@type": "WebSite", identifier: site_id },
    publisher: { "@type": "Organization", name: "svc" },
  };
  // prettier-ignore
  const tags = html`<meta name="generator" content="svc"><meta name="svc:site" content="${site_id}"><meta name="svc:version" content="${version_id}"><script type="application/ld+json">${scriptJson(page)}</script>`;
  return new TextEncoder().encode(tags.text);
}

/** 256 KiB of hostile tags take 7 ms, once for a page that is not in memory. In a head that is longer still, the tags go before what reaches past this. */
export const LOOKED_THROUGH = 256 << 10;

/** External, and the first that the head holds: a policy of the page that stands in a `meta` element rules what comes after
 *  it (COMMENTS 4). */
const COMMENTS = new TextEncoder().encode('<script src="/_svc/c.js" async></script>');

const AT_ROOT = new TextEncoder().encode('<base href="/">');

/** What goes where into a page, by its beginning; nothing where it takes none. */
export function insertedIn(
  beginning: Bytes,
  { page_of, commented, deep }: Pick<Content, "page_of" | "commented" | "deep">,
): Inserted[] {
  if (page_of === null || isUtf16(beginning)) return [];
  const { buffer, byteOffset, byteLength } = beginning;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1", 0, LOOKED_THROUGH);
  const last = { at: headEnd(text), bytes: attribution(page_of) };
  const first = [...(deep && needsBase(text) ? [AT_ROOT] : []), ...(commented ? [COMMENTS] : [])];
  const at = first.length > 0 ? headStart(text) : 0;
  return [...first.map((bytes) => ({ at, bytes })), last];
}

/** The page with all of it, in parts. All other bytes stay as they are, whatever their encoding. */
export function inject(page: Bytes, inserted: readonly Inserted[]): Bytes[] {
  const parts: Bytes[] = [];
  let done = 0;
  for (const { at, bytes } of inserted) {
    parts.push(page.subarray(done, at), bytes);
    done = at;
  }
  parts.push(page.subarray(done));
  return parts;
}

/** By its mark, or by the zero byte of a first character that is ASCII: our single-byte tags would be noise in it. */
const isUtf16 = ([first, second]: Bytes): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
