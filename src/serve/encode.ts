/** Who may have a coding made, and when: whoever waits for one has a slot soon or does without. */
import { availableParallelism } from "node:os";
import { createGate } from "../run/gate.ts";
import { giveBack } from "../run/runtime.ts";
import type { Code, Compression } from "../http/codings.ts";
import type { Bytes } from "../base/types.ts";

/** Called once it is their turn. The bytes are handed over: they cannot be read afterwards. */
type Read = () => Promise<Bytes>;

export interface Encoder {
  /** The bytes in that coding, or null where it does not make them smaller. For somebody who waits: undefined where no
   *  slot came free in time, or where nobody waits any more. */
  now(coding: Compression, read: Read, wanted: () => boolean): Promise<Bytes | null | undefined>;
  /** For nobody in particular: one at a time, with rests, in the order in which it was asked for. */
  ahead(work: (code: Code) => Promise<void>): Promise<void>;
}

/** Longer than this a visitor is better served by the bytes as they are. */
const PATIENCE_MS = 100;
/** More would not have their turn in time. */
const LONGEST_LINE = 32;

/** Times as long as it worked. Without rests five deploys a second of 8 MB each took three times as long themselves. */
const REST = 2;
/** It may have waited for its core for longer than it worked. */
const LONGEST_REST_MS = 2000;

/** What is coded is read for that alone. */
const spending =
  (code: Code): Code =>
  (bytes, ...how) =>
    code(bytes, ...how).finally(() => giveBack(bytes));

/** As many at once as there are cores, and one ahead: more would only hold more memory. */
export function createEncoder(code: Code, slots = Math.max(2, availableParallelism())): Encoder {
  const busy = new Error("all slots are taken");
  const codeOnce = spending(code);
  const gate = createGate({ width: slots, ms: PATIENCE_MS, late: () => busy });
  const lane = createGate({ width: 1 });
  let inside = 0;

  async function now(coding: Compression, read: Read, wanted: () => boolean): Promise<Bytes | null | undefined> {
    if (inside >= slots + LONGEST_LINE) return undefined;
    inside++;
    try {
      return await gate.run(async () => (wanted() ? await codeOnce(await read(), coding, "quick") : undefined));
    } catch (error) {
      if (error === busy) return undefined;
      throw error;
    } finally {
      inside--;
    }
  }

  const ahead: Encoder["ahead"] = (work) =>
    lane.run(async () => {
      const started = performance.now();
      await work((bytes, coding, effort) => codeOnce(bytes, coding, effort, true));
      await Bun.sleep(Math.min(REST * (performance.now() - started), LONGEST_REST_MS));
    });

  return { now, ahead };
}

/** Text in all its kinds, and the few binary formats that are not compressed by themselves. */
const CODED =
  /^text\/|[/+](?:json5?|xml(?:-dtd)?|graphql|x-ndjson|n-triples|rtf|postscript|wasm|bmp|x-icon|ttf|otf|collection|vnd\.ms-fontobject|obj|mtl|stl|vnd\.usda)$|mpegurl$/;

/** Whether codings are negotiated for a type. All else is compressed already, or nobody knows. */
export const isCoded = (media_type: string): boolean => CODED.test(media_type.replace(/;.*/s, ""));
