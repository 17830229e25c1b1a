/** Decides when a coding is made. A visitor who waits for one gets a slot soon or a body without a coding. */
import { availableParallelism } from "node:os";
import { createGate } from "../run/gate.ts";
import { giveBack } from "../run/runtime.ts";
import type { Code, Compression } from "../http/codings.ts";
import type { Bytes } from "../base/types.ts";

/** Called when it is their turn. The caller must not use the bytes afterwards. */
type ReadBytes = () => Promise<Bytes>;

export interface Encoder {
  /** The bytes in that coding, for a visitor who waits. Null if the coding does not make them smaller; undefined if no slot
   *  came free in time, or if no visitor waits any more. */
  now(coding: Compression, read: ReadBytes, wanted: () => boolean): Promise<Bytes | null | undefined>;
  /** Codes while no visitor waits: one file at a time, in order, with rests. */
  ahead(work: (code: Code) => Promise<void>): Promise<void>;
}

/** A visitor who waited longer than this for a slot gets the bytes without a coding. */
const PATIENCE_MS = 100;
/** The most requests that wait for a slot. More would not have their turn in time. */
const LONGEST_LINE = 32;

/** The rest is so many times as long as the work. Without rests five deploys a second of 8 MB each took three times as long. */
const REST = 2;
/** The rest has a limit, because the work may have waited for a core for longer than it took. */
const LONGEST_REST_MS = 2000;

/** Gives the bytes back after they were coded: they were read for that alone. */
const spending =
  (code: Code): Code =>
  (bytes, ...how) =>
    code(bytes, ...how).finally(() => giveBack(bytes));

/** Codes as many bodies at once as there are cores, and one ahead: more would only hold more memory. */
export function createEncoder(code: Code, slots = Math.max(2, availableParallelism())): Encoder {
  const busy = new Error("all slots are taken");
  const codeOnce = spending(code);
  const gate = createGate({ width: slots, ms: PATIENCE_MS, late: () => busy });
  const lane = createGate({ width: 1 });
  let inside = 0;

  async function now(coding: Compression, read: ReadBytes, wanted: () => boolean): Promise<Bytes | null | undefined> {
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

/** All kinds of text, and the few binary formats that are not compressed in themselves. */
const CODED =
  /^text\/|[/+](?:json5?|xml(?:-dtd)?|graphql|x-ndjson|n-triples|rtf|postscript|wasm|bmp|x-icon|ttf|otf|collection|vnd\.ms-fontobject|obj|mtl|stl|vnd\.usda)$|mpegurl$/;

/** True if codings are negotiated for a type. Other types are compressed already, or unknown. */
export const isCoded = (media_type: string): boolean => CODED.test(media_type.replace(/;.*/s, ""));
