/** The content of files. A page has content for each version; any other file has one content for its blob, so that a new
 *  deploy, or another site with the same library, finds the codings that were made before. */

import { isHtml } from "../base/media-types.ts";
import type { Bytes, Version } from "../base/types.ts";
import { headEnd, headStart } from "../html/head.ts";
import { needsBase } from "../html/addresses.ts";
import { html, scriptJson } from "../html/template.ts";
import { giveBack } from "../run/runtime.ts";
import type { Blobs } from "../store/serving.ts";
import type { StoredFile } from "../store/versions.ts";
import { isCoded } from "./encode.ts";
import type { EncodedBody, FileContent, Inserted, LoadedVersion, PageBody, PageOf } from "./cache.ts";

/** From here on Bun sends a file by `sendfile`, for half of what the same bytes cost from memory; below it a file costs
 *  up to twice as much (bench/bodies.ts). Slow readers of either hold nothing. */
const FROM_DISK = 1024 * 1024;

/** A file is sent as itself; as the body of a 404, which has no comments (COMMENTS, ruling 15); or as the shell of an app
 *  below the root, where relative addresses would lead to wrong files (PIPELINE 2). */
type SentAs = "itself" | "missing" | "deep";
export type BodyOf = (version: BodiesOf, file: StoredFile, as?: SentAs) => PageBody;

/** The parts of a version that its bodies need. */
type BodiesOf = Pick<LoadedVersion, "comments_variant" | "bodies"> & { version: PageOf };

/** The key of a body. No file name has a NUL. */
function keyOf({ path }: StoredFile, comments_variant: string, as: SentAs): string {
  if (as === "deep") return `\0/${path}`;
  return as === "missing" && comments_variant !== "" ? `\0${path}` : path;
}

/** Finds or makes the body of a file. Content is forgotten when no version refers to it and none of its codings is kept. */
export function createContents(): BodyOf {
  const shared = new Map<string, WeakRef<FileContent>>();
  const gone = new FinalizationRegistry<string>((sha256) => {
    if (shared.get(sha256)?.deref() === undefined) shared.delete(sha256);
  });

  function contentOf({ version, comments_variant }: BodiesOf, file: StoredFile, as: SentAs): FileContent {
    if (isHtml(file.media_type))
      return newContent(file, version, comments_variant !== "" && as !== "missing", as === "deep");
    const known = shared.get(file.sha256)?.deref();
    if (known !== undefined) return known;
    const content = newContent(file, null, false, false);
    shared.set(file.sha256, new WeakRef(content));
    gone.register(content, file.sha256);
    return content;
  }

  return (version, file, as = "itself") => {
    const key = keyOf(file, version.comments_variant, as);
    const known = version.bodies.get(key);
    if (known !== undefined) return known;
    const body = { file, coded: isCoded(file.media_type), content: contentOf(version, file, as) };
    version.bodies.set(key, body);
    return body;
  };
}

function newContent(stored: StoredFile, page_of: PageOf | null, commented: boolean, deep: boolean): FileContent {
  const from_disk = stored.bytes >= FROM_DISK;
  const content: FileContent = {
    stored,
    page_of,
    commented,
    deep,
    from_disk,
    encoded: { br: undefined, zstd: undefined, gzip: undefined, identity: undefined },
  };
  // It takes no memory, so it is never pushed out.
  if (from_disk && page_of === null) content.encoded.identity = diskForm(content, NOTHING);
  return content;
}

/** Identity that goes out from the disk. */
function diskForm(content: FileContent, inserted: readonly Inserted[]): EncodedBody {
  const size = inserted.reduce((sum, { bytes }) => sum + bytes.byteLength, content.stored.bytes);
  return { ...newEncodedBody(content, "identity", null, size), inserted };
}

const NOTHING: readonly Inserted[] = [];

export const newEncodedBody = (
  content: FileContent,
  coding: EncodedBody["coding"],
  blob: Blob | null,
  size: number,
  cost = 0,
): EncodedBody => ({
  of: content,
  coding,
  size,
  blob,
  inserted: NOTHING,
  first: null,
  others: null,
  missing: null,
  cost,
  used: false,
  drop: dropForm,
});

function dropForm(this: EncodedBody): void {
  this.of.encoded[this.coding] = undefined;
}

/** The stored bytes, checked, and with attribution if the file is a page. The caller alone has them, and gives them back. */
export async function readContent(blobs: Blobs, content: FileContent): Promise<Bytes> {
  const bytes = await blobs.read(content.stored);
  if (content.page_of === null) return bytes;
  const page = Buffer.concat(inject(bytes, insertedIn(bytes, content)));
  giveBack(bytes);
  return page;
}

/** Copies the bytes into a Blob and gives them back: the caller must not use them afterwards. */
export function takeAsBlob(bytes: Bytes): Blob {
  const blob = new Blob([bytes]);
  giveBack(bytes);
  return blob;
}

/** Finds the place for the tags of a large page, once. */
export async function diskBodyOf(blobs: Blobs, content: FileContent): Promise<EncodedBody> {
  const file = await blobs.open(content.stored);
  return diskForm(content, insertedIn(await file.slice(0, LOOKED_THROUGH).bytes(), content));
}

/** Attribution in served HTML (CONTRACT 6): nothing visible, and nothing that changes with owner or expiry. */
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
const LOOKED_THROUGH = 256 << 10;

/** The script of comments, external and first in the head: a policy in a `meta` element holds for what follows it
 *  (COMMENTS 4). */
const COMMENTS = new TextEncoder().encode('<script src="/_svc/c.js" async></script>');

const AT_ROOT = new TextEncoder().encode('<base href="/">');

/** The tags for a page and their places, found in its beginning. None for UTF-16 and for files that are no pages. */
function insertedIn(
  beginning: Bytes,
  { page_of, commented, deep }: Pick<FileContent, "page_of" | "commented" | "deep">,
): Inserted[] {
  if (page_of === null || isUtf16(beginning)) return [];
  const { buffer, byteOffset, byteLength } = beginning;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1", 0, LOOKED_THROUGH);
  const last = { at: headEnd(text), bytes: attribution(page_of) };
  const first = [...(deep && needsBase(text) ? [AT_ROOT] : []), ...(commented ? [COMMENTS] : [])];
  const at = first.length > 0 ? headStart(text) : 0;
  return [...first.map((bytes) => ({ at, bytes })), last];
}

/** The page with the tags in it, in parts. All other bytes stay as they are, in any encoding. */
function inject(page: Bytes, inserted: readonly Inserted[]): Bytes[] {
  const parts: Bytes[] = [];
  let done = 0;
  for (const { at, bytes } of inserted) {
    parts.push(page.subarray(done, at), bytes);
    done = at;
  }
  parts.push(page.subarray(done));
  return parts;
}

/** True for UTF-16, by its mark or by the zero byte of a first ASCII character: our single-byte tags would be noise in it. */
const isUtf16 = ([first, second]: Bytes): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
