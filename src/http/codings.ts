/** Content codings: their names, the function that codes a body, and the codings that a client takes. */

import type { Bytes } from "../base/types.ts";

export type Coding = "br" | "zstd" | "gzip" | "identity";
export type Compression = Exclude<Coding, "identity">;

/** `quick` while a client waits. `small` for what is coded once and sent often; it takes 35 to 200 times as long. */
export type Effort = "quick" | "small";

/** Codes a whole body off the serving thread. Null if the coding does not make it smaller, or if the bytes ended the process
 *  that coded them; undefined if it cannot be done now. With `ahead` no client waits, and all who wait go first. Never
 *  rejects. */
export type Code = (
  bytes: Bytes,
  coding: Compression,
  effort: Effort,
  ahead?: boolean,
) => Promise<Bytes | null | undefined>;

/** Also the order at equal weight: smallest first. */
const CODINGS: readonly Coding[] = ["br", "zstd", "gzip", "identity"];

const MEMBER = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;
/** Identity is always acceptable unless it is named, but any coding that is asked for goes before it. */
const UNNAMED_IDENTITY = 0.0001;

function weights(header: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const member of header.toLowerCase().split(",")) {
    const parsed = MEMBER.exec(member);
    if (parsed === null) continue;
    found.set(parsed[1] === "x-gzip" ? "gzip" : parsed[1]!, Number(parsed[2] ?? 1));
  }
  return found;
}

function rank(header: string): readonly Coding[] {
  const named = weights(header);
  const others = named.get("*");
  const weight = (coding: Coding): number =>
    named.get(coding) ?? others ?? (coding === "identity" ? UNNAMED_IDENTITY : 0);
  const taken = CODINGS.filter((coding) => weight(coding) > 0).sort((a, b) => weight(b) - weight(a));
  // If the client accepts no coding at all, RFC 9110 has the body sent without one.
  return taken.includes("identity") ? taken : [...taken, "identity"];
}

export const IDENTITY_ONLY: readonly Coding[] = ["identity"];
const known = new Map<string, readonly Coding[]>();

/** The codings that a client takes, best first (RFC 9110, 12.5.3). Identity is always in the list. Clients send a handful of different headers, so their ranking is remembered. */
export function acceptedCodings(header: string | null): readonly Coding[] {
  if (header === null) return IDENTITY_ONLY;
  const before = known.get(header);
  if (before !== undefined) return before;
  const ranked = rank(header);
  if (header.length <= 100) {
    if (known.size >= 200) known.clear();
    known.set(header, ranked);
  }
  return ranked;
}
