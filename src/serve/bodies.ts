/** The bodies of files, in each coding that a client asked for. Each is made once, in another process, and kept while the
 *  budget has room. */

import { isHtml } from "../base/media-types.ts";
import type { Bytes, Version } from "../base/types.ts";
import { headEnd, headStart } from "../html/head.ts";
import { needsBase } from "../html/addresses.ts";
import { html, scriptJson } from "../html/template.ts";
import { giveBack } from "../run/runtime.ts";
import type { Blobs } from "../store/serving.ts";
import type { StoredFile } from "../store/versions.ts";
import { type Encoder, isCoded } from "./encode.ts";
import type { ByteBudgetCache, EncodedBody, FileContent, Inserted, LoadedVersion, PageBody, PageOf } from "./cache.ts";
import type { Coding, Compression } from "../http/codings.ts";
import { createGate } from "../run/gate.ts";

export interface Bodies {
  of: BodyOf;
  /** The body in the best accepted coding, if it is in the cache. Never awaits. */
  ready(body: PageBody, accepted: readonly Coding[]): EncodedBody | undefined;
  /** The same, and made if it is not in the cache. If that takes too long for a visitor, the body without a coding. Null if
   *  the visitor left meanwhile. */
  best(body: PageBody, accepted: readonly Coding[], signal: AbortSignal): Promise<EncodedBody | null>;
  /** Makes the body in one coding before any request. */
  warm(body: PageBody, coding: Compression): Promise<void>;
}

/** Larger files are not coded while a visitor waits, but before or after: Brotli takes 0.1 s for this many bytes. */
const CODED_ON_DEMAND = 1024 * 1024;
/** The most large files that may wait to be coded. */
const LATER = 20;

export function createBodies({ identity, coded, ahead }: BodyMaker): Bodies {
  const due = new Set<FileContent>();

  function later(content: FileContent, coding: Compression): void {
    if (due.has(content) || due.size >= LATER) return;
    due.add(content);
    const done = () => void due.delete(content);
    // If the file cannot be read, the next request that needs it reports that.
    ahead(content, coding).then(done, done);
  }

  async function best(
    { content }: PageBody,
    accepted: readonly Coding[],
    signal: AbortSignal,
  ): Promise<EncodedBody | null> {
    const large = content.stored.bytes > CODED_ON_DEMAND;
    for (const coding of accepted) {
      if (coding === "identity") break;
      const form = content.encoded[coding] ?? (large ? later(content, coding) : await coded(content, coding, signal));
      if (!form) break;
      if (usable(form)) return form;
    }
    return signal.aborted ? null : identity(content);
  }

  return { of: createContents(), ready, best, warm: ({ content }, coding) => ahead(content, coding) };
}

function ready({ content }: PageBody, accepted: readonly Coding[]): EncodedBody | undefined {
  for (const coding of accepted) {
    const kept = content.encoded[coding];
    if (kept === undefined) return undefined;
    if (!usable(kept)) continue;
    kept.used = true;
    return kept;
  }
  return undefined;
}

const usable = (form: EncodedBody): boolean => form.blob !== null || form.coding === "identity";

/** True if the client's codings lead to identity. False if identity is sent only because a coding is not made yet. */
export function prefersIdentity({ content }: PageBody, accepted: readonly Coding[]): boolean {
  for (const coding of accepted) {
    if (coding === "identity") return true;
    if (content.encoded[coding]?.blob !== null) return false;
  }
  return true;
}

/** Includes the response that is kept with the body, and its headers. */
const ENCODED_BODY_COST = 1500;
/** The most bodies that are read at once: a thousand visitors of a thousand files must not hold them all in memory. */
const READERS = 32;

interface BodyMakerParts {
  blobs: Blobs;
  budget: ByteBudgetCache;
  encoder: Encoder;
}

interface Making {
  coding: Coding;
  /** Undefined: not now. */
  form: Promise<EncodedBody | undefined>;
  /** Signals of the visitors who wait for it. */
  wanted: AbortSignal[];
}

/** The bodies that are being made, by content. */
type UnderWay = Map<FileContent, Making[]>;

const findMaking = (under_way: UnderWay, content: FileContent, coding: Coding): Making | undefined =>
  under_way.get(content)?.find((making) => making.coding === coding);

interface BodyMaker {
  identity(content: FileContent): Promise<EncodedBody>;
  /** For a visitor who waits. Undefined if it would take too long. */
  coded(content: FileContent, coding: Compression, signal: AbortSignal): Promise<EncodedBody | undefined>;
  /** Before or after a visitor asked, when its turn comes. */
  ahead(content: FileContent, coding: Compression): Promise<void>;
}

/** Makes the body of a file in one coding: it is read, or coded by the encoder, then kept while the budget has room. A
 *  second request for the same body waits for the first; nothing is made twice. */
export function createBodyMaker(parts: BodyMakerParts): BodyMaker {
  const { blobs, encoder } = parts;
  const gate = createGate({ width: READERS });
  const under_way: UnderWay = new Map();
  const whole = (content: FileContent) => gate.run(async () => takeAsBlob(await readContent(blobs, content)));

  async function identity(content: FileContent): Promise<EncodedBody> {
    const known = content.encoded.identity ?? findMaking(under_way, content, "identity")?.form;
    const make = async () =>
      content.from_disk ? fromDisk(parts, content) : keep(parts, content, "identity", await whole(content));
    return (await (known ?? begin(under_way, content, "identity", [], make)))!;
  }

  async function coded(
    content: FileContent,
    coding: Compression,
    signal: AbortSignal,
  ): Promise<EncodedBody | undefined> {
    const making = findMaking(under_way, content, coding);
    if (making !== undefined) {
      making.wanted.push(signal);
      return making.form;
    }
    const waiting = [signal];
    return begin(under_way, content, coding, waiting, async () => {
      const wanted = () => waiting.some(({ aborted }) => !aborted);
      const bytes = await encoder.now(coding, () => plain(parts, content), wanted);
      return bytes === undefined ? undefined : keepCoded(parts, content, coding, bytes);
    });
  }

  const ahead = (content: FileContent, coding: Compression): Promise<void> =>
    encoder.ahead(async (code) => {
      const make = async () => {
        const bytes = await code(await plain(parts, content), coding, "quick");
        return bytes === undefined ? undefined : keepCoded(parts, content, coding, bytes);
      };
      const known = content.encoded[coding] ?? findMaking(under_way, content, coding)?.form;
      await (known ?? begin(under_way, content, coding, [], make));
    });

  return { identity, coded, ahead };
}

function begin(
  under_way: UnderWay,
  content: FileContent,
  coding: Coding,
  wanted: AbortSignal[],
  make: () => Promise<EncodedBody | undefined>,
): Making["form"] {
  const form = make().finally(() => {
    const rest = under_way.get(content)!.filter((making) => making.coding !== coding);
    if (rest.length > 0) under_way.set(content, rest);
    else under_way.delete(content);
  });
  under_way.set(content, [...(under_way.get(content) ?? []), { coding, form, wanted }]);
  return form;
}

function keep({ budget }: BodyMakerParts, content: FileContent, coding: Coding, blob: Blob | null): EncodedBody {
  const size = blob?.size ?? 0;
  const form = newEncodedBody(content, coding, blob, size, ENCODED_BODY_COST + size);
  budget.made(size);
  content.encoded[coding] = form;
  budget.keep(form);
  return form;
}

function keepCoded(parts: BodyMakerParts, content: FileContent, coding: Compression, bytes: Bytes | null): EncodedBody {
  return keep(parts, content, coding, bytes && takeAsBlob(bytes));
}

async function fromDisk({ blobs }: BodyMakerParts, content: FileContent): Promise<EncodedBody> {
  const form = await diskBodyOf(blobs, content);
  content.encoded.identity = form;
  return form;
}

/** The bytes without a coding, for the encoder alone. They are not kept: a client that asked for a coding does not ask for
 *  them. */
function plain({ blobs }: BodyMakerParts, content: FileContent): Promise<Bytes> {
  return content.encoded.identity?.blob?.bytes() ?? readContent(blobs, content);
}

// The content of files. A page has content for each version; any other file has one content for its blob, so that a new
// deploy, or another site with the same library, finds the codings that were made before.

/** From here on Bun sends a file by `sendfile`, for half of what the same bytes cost from memory; below it a file costs
 *  up to twice as much (bench/bodies.ts). Slow readers of either hold nothing. */
const FROM_DISK = 1024 * 1024;

/** A file is sent as itself; as the body of a 404, which has no comments (COMMENTS, ruling 15); or as the shell of an app
 *  below the root, where relative addresses would lead to wrong files (PIPELINE 2). */
type SentAs = "itself" | "missing" | "deep";
type BodyOf = (version: BodiesOf, file: StoredFile, as?: SentAs) => PageBody;

/** The parts of a version that its bodies need. */
type BodiesOf = Pick<LoadedVersion, "comments_variant" | "bodies"> & { version: PageOf };

/** The key of a body. No file name has a NUL. */
function keyOf({ path }: StoredFile, comments_variant: string, as: SentAs): string {
  if (as === "deep") return `\0/${path}`;
  return as === "missing" && comments_variant !== "" ? `\0${path}` : path;
}

/** Finds or makes the body of a file. Content is forgotten when no version refers to it and none of its codings is kept. */
function createContents(): BodyOf {
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
async function readContent(blobs: Blobs, content: FileContent): Promise<Bytes> {
  const bytes = await blobs.read(content.stored);
  if (content.page_of === null) return bytes;
  const page = Buffer.concat(inject(bytes, insertedIn(bytes, content)));
  giveBack(bytes);
  return page;
}

/** Copies the bytes into a Blob and gives them back: the caller must not use them afterwards. */
function takeAsBlob(bytes: Bytes): Blob {
  const blob = new Blob([bytes]);
  giveBack(bytes);
  return blob;
}

/** Finds the place for the tags of a large page, once. */
async function diskBodyOf(blobs: Blobs, content: FileContent): Promise<EncodedBody> {
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
