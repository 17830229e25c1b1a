/** The bytes of files, in each coding that somebody asked for. Made once, off the thread, and kept while there is room. */
import type { Blobs, StoredFile } from "../store/serving.ts";
import type { Bytes } from "../types.ts";
import type { Budget } from "./budget.ts";
import { type Encode, isCoded } from "./encode.ts";
import { isHtml } from "../media-types.ts";
import { attribution, inject } from "./inject.ts";
import type { Body, Form, LoadedVersion } from "./kept.ts";
import type { Coding } from "../http/negotiate.ts";

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

  async function best(body: Body, accepted: readonly Coding[]): Promise<Form> {
    for (const coding of accepted) {
      const made = await form(body, coding);
      if (usable(made)) return made;
    }
    return form(body, "identity");
  }

  const warm = async (body: Body, coding: Coding) => void (await form(body, coding));

  return { of: (version, file) => bodyOf(version, file, blobs), ready, best, warm };
}

function bodyOf(version: LoadedVersion, file: StoredFile, blobs: Blobs): Body {
  const known = version.bodies.get(file.path);
  if (known !== undefined) return known;
  const { site_id, version_id } = version.version;
  const body = isHtml(file.media_type)
    ? newBody(file, false, async () => inject(await blobs.read(file), attribution(site_id, version_id)))
    : newBody(file, file.bytes > IN_MEMORY, () => blobs.read(file));
  version.bodies.set(file.path, body);
  return body;
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
  const stored = newForm("identity", null, 0, () => {});
  if (from_disk) forms.set("identity", stored);
  return { file, coded: isCoded(file.media_type), from_disk, forms, making: new Map(), read };
}
