/** Attribution in served HTML (CONTRACT 6): nothing visible, and nothing that changes with owner or expiry. */
import { html, scriptJson } from "../html/template.ts";
import type { Bytes, Version } from "../types.ts";
import { headEnd } from "../html/head-end.ts";

export function attribution({ site_id, version_id }: Pick<Version, "site_id" | "version_id">): Bytes {
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

/** Where the tags go, by the beginning of the page; null where it takes none. */
export function tagsAt(beginning: Bytes): number | null {
  if (isUtf16(beginning)) return null;
  const { buffer, byteOffset, byteLength } = beginning;
  return headEnd(Buffer.from(buffer, byteOffset, byteLength).toString("latin1", 0, LOOKED_THROUGH));
}

/** The page with `tags` at the end of its head. All other bytes stay as they are, whatever their encoding. */
export function inject(page: Bytes, tags: Bytes): Bytes {
  const at = tagsAt(page);
  if (at === null) return page;
  const injected = new Uint8Array(page.byteLength + tags.byteLength);
  injected.set(page.subarray(0, at));
  injected.set(tags, at);
  injected.set(page.subarray(at), at + tags.byteLength);
  return injected;
}

/** By its mark, or by the zero byte of a first character that is ASCII: our single-byte tags would be noise in it. */
const isUtf16 = ([first, second]: Bytes): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
