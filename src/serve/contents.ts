/** The content of files: of pages for each version, of all else once for a blob, so that a redeploy, or another site with
 *  the same library, finds the codings that were made before. */
import { giveBack } from "../run/runtime.ts";
import { isHtml } from "../base/media-types.ts";
import type { Blobs } from "../store/serving.ts";
import type { StoredFile } from "../store/versions.ts";
import type { Bytes } from "../base/types.ts";
import { isCoded } from "./encode.ts";
import { inject, insertedIn, LOOKED_THROUGH } from "./inject.ts";
import type { Body, Content, Form, Inserted, LoadedVersion, PageOf } from "./kept.ts";

/** From here on Bun sends a file by `sendfile`, for half of what the same bytes cost from memory; below it a file costs
 *  up to twice as much (bench/bodies.ts). Slow readers of either hold nothing. */
const FROM_DISK = 1024 * 1024;

/** A file is sent as itself; as the body of a 404, which nobody comments on (COMMENTS, ruling 15); or as the shell of an
 *  app below the root, where relative addresses would lead astray (PIPELINE 2). */
type SentAs = "itself" | "missing" | "deep";
export type BodyOf = (version: Shown, file: StoredFile, as?: SentAs) => Body;

/** As much of a version as its bodies need. */
type Shown = Pick<LoadedVersion, "dress" | "bodies"> & { version: PageOf };

/** What kept bodies are called by: no name of a file has a NUL. */
function keyOf({ path }: StoredFile, dress: string, as: SentAs): string {
  if (as === "deep") return `\0/${path}`;
  return as === "missing" && dress !== "" ? `\0${path}` : path;
}

/** Content that nothing refers to any more is forgotten: no version names it, and none of its forms is kept. */
export function createContents(): BodyOf {
  const shared = new Map<string, WeakRef<Content>>();
  const gone = new FinalizationRegistry<string>((sha256) => {
    if (shared.get(sha256)?.deref() === undefined) shared.delete(sha256);
  });

  function contentOf({ version, dress }: Shown, file: StoredFile, as: SentAs): Content {
    if (isHtml(file.media_type)) return newContent(file, version, dress !== "" && as !== "missing", as === "deep");
    const known = shared.get(file.sha256)?.deref();
    if (known !== undefined) return known;
    const content = newContent(file, null, false, false);
    shared.set(file.sha256, new WeakRef(content));
    gone.register(content, file.sha256);
    return content;
  }

  return (version, file, as = "itself") => {
    const key = keyOf(file, version.dress, as);
    const known = version.bodies.get(key);
    if (known !== undefined) return known;
    const body = { file, coded: isCoded(file.media_type), content: contentOf(version, file, as) };
    version.bodies.set(key, body);
    return body;
  };
}

function newContent(stored: StoredFile, page_of: PageOf | null, commented: boolean, deep: boolean): Content {
  const from_disk = stored.bytes >= FROM_DISK;
  const content: Content = {
    stored,
    page_of,
    commented,
    deep,
    from_disk,
    forms: { br: undefined, zstd: undefined, gzip: undefined, identity: undefined },
  };
  // It takes no room, so it is never pushed out.
  if (from_disk && page_of === null) content.forms.identity = diskForm(content, NOTHING);
  return content;
}

/** Identity that goes out from the disk. */
function diskForm(content: Content, inserted: readonly Inserted[]): Form {
  const size = inserted.reduce((sum, { bytes }) => sum + bytes.byteLength, content.stored.bytes);
  return { ...newForm(content, "identity", null, size), inserted };
}

const NOTHING: readonly Inserted[] = [];

export const newForm = (content: Content, coding: Form["coding"], blob: Blob | null, size: number, cost = 0): Form => ({
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

function dropForm(this: Form): void {
  this.of.forms[this.coding] = undefined;
}

/** The stored bytes, checked, and with attribution where it is a page. Shared with nobody: whoever reads them once gives
 *  them back. */
export async function readContent(blobs: Blobs, content: Content): Promise<Bytes> {
  const bytes = await blobs.read(content.stored);
  if (content.page_of === null) return bytes;
  const page = Buffer.concat(inject(bytes, insertedIn(bytes, content)));
  giveBack(bytes);
  return page;
}

/** Takes the bytes over: a Blob has a copy. */
export function blobOf(bytes: Bytes): Blob {
  const blob = new Blob([bytes]);
  giveBack(bytes);
  return blob;
}

/** Looks for the place of a large page's tags, once. */
export async function findDiskForm(blobs: Blobs, content: Content): Promise<Form> {
  const file = await blobs.open(content.stored);
  return diskForm(content, insertedIn(await file.slice(0, LOOKED_THROUGH).bytes(), content));
}
