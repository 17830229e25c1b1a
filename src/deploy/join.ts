/** Turns a delta into the whole upload (BEYOND 6): what it leaves out comes from the site's own stored files. */
import { Refusal } from "../base/errors.ts";
import { createGate } from "../run/gate.ts";
import { type Ingested, openDelta } from "../pipeline/index.ts";
import type { Store } from "../store/index.ts";
import { DamagedBlob } from "../store/refusals.ts";
import type { Stored } from "../store/versions.ts";
import type { Bytes, Limits, Progress } from "../base/types.ts";

/** One by one a thousand files take three times as long. */
const READERS = 8;

interface Around {
  limits: Limits;
  store: Pick<Store, "versions" | "blobs">;
}

/** `damaged`: for the operator, a file that should have been there. */
function missingBlobs(need: string[], damaged: Error | undefined): Refusal {
  const [files, them] = need.length === 1 ? ["1 file", "it"] : [`${need.length} files`, "them"];
  const sentence = `The site does not have ${files} that the delta leaves out. Send the delta again with ${them}.`;
  return Object.assign(new Refusal("missing_blobs", sentence, { need }), { cause: damaged });
}

/** Each is hashed as it is read: one that is gone, or not what it was, is as good as never stored. */
async function readStored(stored: readonly Stored[], { blobs }: Around["store"]) {
  const contents = new Map<string, Bytes>();
  const damaged: Error[] = [];
  const reading = createGate({ width: READERS });
  const read = async (file: Stored) => {
    try {
      contents.set(file.sha256, await blobs.read(file));
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      damaged.push(error);
    }
  };
  await Promise.all(stored.map((file) => reading.run(() => read(file))));
  return { contents, damaged };
}

/** Throws what the whole upload would be refused with, `invalid_delta` and `missing_blobs`. */
export async function joinDelta(
  zip: Uint8Array,
  site_id: string,
  { limits, store }: Around,
  progress: Progress,
): Promise<Ingested> {
  const delta = openDelta(zip, limits, progress);
  const stored = await store.versions.possessed(site_id, delta.left_out);
  const came = delta.unpack(new Map([...stored].map(([sha256, { bytes }]) => [sha256, bytes])));
  progress("joining");
  const { contents, damaged } = await readStored([...stored.values()], store);
  const need = delta.left_out.filter((sha256) => !contents.has(sha256));
  if (need.length > 0) throw missingBlobs(need, damaged[0]);
  return delta.join(new Map([...contents, ...came]));
}
