/** The bytes of files, in each coding that somebody asked for. Made once, off the thread, and kept while there is room. */
import type { Blobs, StoredFile } from "../store/serving.ts";
import type { Bytes } from "../types.ts";
import type { KeptResponses } from "./responses.ts";
import type { Budget, Kept } from "./budget.ts";
import { type Compression, type Encode, isCoded } from "./encode.ts";
import { attribution, inject, isHtml } from "./inject.ts";
import type { LoadedVersion } from "./manifests.ts";
import type { Coding } from "../http/negotiate.ts";

/** A body in one coding. */
export interface Form extends Kept {
  readonly coding: Coding;
  /** A Blob, for a Response shares it where it would copy bytes: three times cheaper at 200 KB, and slow readers hold
   *  nothing. Null: a compression that does not make the body smaller; identity that goes out from the disk. */
  readonly blob: Blob | null;
  /** By policy. */
  readonly responses: KeptResponses[];
}

export interface Body {
  readonly file: StoredFile;
  /** Whether codings are negotiated for its type at all. */
  readonly coded: boolean;
  /** Too large for memory as it is: identity goes out from the disk. */
  readonly from_disk: boolean;
  readonly forms: Map<Coding, Form>;
  /** What is under way: a second request waits for it. */
  readonly making: Map<Coding, Promise<Form>>;
  /** The stored bytes, checked, and with attribution where it is a page. */
  read(): Promise<Bytes>;
}

export interface Bodies {
  of(version: LoadedVersion, file: StoredFile): Body;
  /** The best accepted form, if it is here. Never awaits. */
  ready(body: Body, accepted: readonly Coding[]): Form | undefined;
  /** The same, made where it is not. */
  best(body: Body, accepted: readonly Coding[]): Promise<Form>;
  /** Makes one form ahead of any request. */
  warm(body: Body, coding: Coding): Promise<void>;
}

/** From the disk costs 1.7 times as much as from memory, at any size (bench/README.md); but what is larger than this
 *  would push too much else out. */
const IN_MEMORY = 1024 * 1024;
const FORM_COST = 200;

export function createBodies(blobs: Blobs, budget: Budget, encode: Encode): Bodies {
  function of(version: LoadedVersion, file: StoredFile): Body {
    const known = version.bodies.get(file.path);
    if (known !== undefined) return known;
    const { site_id, version_id } = version.version;
    const body = isHtml(file.media_type)
      ? newBody(file, false, async () => inject(await blobs.read(file), attribution(site_id, version_id)))
      : newBody(file, file.bytes > IN_MEMORY, () => blobs.read(file));
    version.bodies.set(file.path, body);
    return body;
  }

  async function form(body: Body, coding: Coding): Promise<Form> {
    const known = body.forms.get(coding) ?? body.making.get(coding);
    if (known !== undefined) return known;
    const made = bytesOf(body, coding).then((bytes) => keep(body, coding, bytes));
    body.making.set(coding, made);
    return made.finally(() => body.making.delete(coding));
  }

  const bytesOf = async (body: Body, coding: Coding): Promise<Bytes | null> =>
    coding === "identity" ? body.read() : encode(coding, await plain(body));

  const plain = async (body: Body): Promise<Bytes> =>
    (await (body.from_disk ? null : (await form(body, "identity")).blob)?.bytes()) ?? body.read();

  function keep(body: Body, coding: Coding, bytes: Bytes | null): Form {
    const cost = FORM_COST + (bytes?.byteLength ?? 0);
    const blob = bytes && new Blob([bytes]);
    const made = newForm(coding, blob, cost, () => void body.forms.delete(coding));
    body.forms.set(coding, made);
    budget.keep(made);
    return made;
  }

  function ready(body: Body, accepted: readonly Coding[]): Form | undefined {
    for (const coding of accepted) {
      const kept = body.forms.get(coding);
      if (kept === undefined) return undefined;
      if (!usable(kept)) continue;
      kept.used = true;
      return kept;
    }
    return undefined;
  }

  async function best(body: Body, accepted: readonly Coding[]): Promise<Form> {
    for (const coding of accepted) {
      const made = await form(body, coding);
      if (usable(made)) return made;
    }
    return form(body, "identity");
  }

  const warm = async (body: Body, coding: Coding) => void (await form(body, coding));

  return { of, ready, best, warm };
}

const usable = (form: Form): boolean => form.blob !== null || form.coding === "identity";

const newForm = (coding: Coding, blob: Blob | null, cost: number, drop: () => void): Form => ({
  coding,
  blob,
  responses: [],
  cost,
  used: false,
  drop,
});

function newBody(file: StoredFile, from_disk: boolean, read: () => Promise<Bytes>): Body {
  const forms = new Map<Coding, Form>();
  // Takes no room, so it is never pushed out.
  if (from_disk)
    forms.set(
      "identity",
      newForm("identity", null, 0, () => {}),
    );
  return { file, coded: isCoded(file.media_type), from_disk, forms, making: new Map(), read };
}
