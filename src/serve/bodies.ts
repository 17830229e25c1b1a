/** The bodies of files, in each coding that a client asked for. Each is made once, in another process, and kept while the
 *  budget has room. */

import type { Bytes } from "../base/types.ts";
import type { Coding, Compression } from "../http/codings.ts";
import { createGate } from "../run/gate.ts";
import type { Blobs } from "../store/serving.ts";
import { type BodyOf, createContents, diskBodyOf, newEncodedBody, readContent, takeAsBlob } from "./contents.ts";
import type { Encoder } from "./encode.ts";
import type { ByteBudgetCache, EncodedBody, FileContent, PageBody } from "./cache.ts";

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
