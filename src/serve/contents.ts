/** The content of files: of pages for each version, of all else once for a blob, so that a redeploy, or another site with
 *  the same library, finds the codings that were made before. */
import { isHtml } from "../media-types.ts";
import type { Blobs, StoredFile } from "../store/serving.ts";
import type { Bytes, Version } from "../types.ts";
import { isCoded } from "./encode.ts";
import { attribution, inject, LOOKED_THROUGH, tagsAt } from "./inject.ts";
import type { Body, Content, Form, LoadedVersion } from "./kept.ts";

/** From here on Bun sends a file by `sendfile`, for half of what the same bytes cost from memory; below it a file costs
 *  up to twice as much (bench/bodies.ts). Slow readers of either hold nothing. */
const FROM_DISK = 1024 * 1024;

export type BodyOf = (version: LoadedVersion, file: StoredFile) => Body;

/** Content that nothing refers to any more is forgotten: no version names it, and none of its forms is kept. */
export function createContents(): BodyOf {
  const shared = new Map<string, WeakRef<Content>>();
  const gone = new FinalizationRegistry<string>((sha256) => {
    if (shared.get(sha256)?.deref() === undefined) shared.delete(sha256);
  });

  function contentOf(version: LoadedVersion, file: StoredFile): Content {
    if (isHtml(file.media_type)) return newContent(file, version.version);
    const known = shared.get(file.sha256)?.deref();
    if (known !== undefined) return known;
    const content = newContent(file, null);
    shared.set(file.sha256, new WeakRef(content));
    gone.register(content, file.sha256);
    return content;
  }

  return (version, file) => {
    const known = version.bodies.get(file.path);
    if (known !== undefined) return known;
    const body = { file, coded: isCoded(file.media_type), content: contentOf(version, file) };
    version.bodies.set(file.path, body);
    return body;
  };
}

function newContent(stored: StoredFile, page_of: Version | null): Content {
  const from_disk = stored.bytes >= FROM_DISK;
  const content: Content = {
    stored,
    page_of,
    from_disk,
    forms: { br: undefined, zstd: undefined, gzip: undefined, identity: undefined },
  };
  // It takes no room, so it is never pushed out.
  if (from_disk && page_of === null) content.forms.identity = diskForm(content, -1);
  return content;
}

/** Identity that goes out from the disk. */
function diskForm({ stored, page_of }: Content, tags_at: number): Form {
  const size = stored.bytes + (tags_at === -1 ? 0 : attribution(page_of!).byteLength);
  return { ...newForm("identity", null, size), tags_at };
}

export const newForm = (coding: Form["coding"], blob: Blob | null, size: number, cost = 0, drop = () => {}): Form => ({
  coding,
  size,
  blob,
  tags_at: -1,
  first: null,
  others: null,
  missing: null,
  cost,
  used: false,
  drop,
});

/** The stored bytes, checked, and with attribution where it is a page. */
export async function readContent(blobs: Blobs, { stored, page_of }: Content): Promise<Bytes> {
  const bytes = await blobs.read(stored);
  return page_of === null ? bytes : inject(bytes, attribution(page_of));
}

/** Looks for the place of a large page's tags, once. */
export async function findDiskForm(blobs: Blobs, content: Content): Promise<Form> {
  const file = await blobs.open(content.stored);
  return diskForm(content, tagsAt(await file.slice(0, LOOKED_THROUGH).bytes()) ?? -1);
}
