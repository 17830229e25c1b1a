/** The model: what each site must show at each moment, kept in memory beside the real server. */
import { contentHash } from "../../../src/base/version-id.ts";

/** What a reader may see: a version's number, or how a site without one is answered. */
export type Seen = number | "expired" | "deleted";

/** From when a reader may see it (the request that brings it is sent) until when (what replaces it is answered). */
interface Span {
  seen: Seen;
  from: number;
  until: number;
}

export interface ModelSite {
  name: string;
  site_id: string;
  slug: string;
  manage_token: string;
  /** Null where the site was an account's from the first. */
  claim_token: string | null;
  owner: number | null;
  /** Number → version_id of what is stored. */
  versions: Map<number, string>;
  live: number;
  /** By the moved clock; null where it never does. */
  expires_at: number | null;
  /** Null while it is alive. */
  end: "expired" | "deleted" | null;
  /** What the next version is called. */
  next: number;
  spans: Span[];
  /** What its one preview shows, until when by the moved clock. */
  preview: { version: number; until: number } | null;
  /** What a preview that was sent brings it to, perhaps. */
  maybe: number | null;
  /** A version whose deletion was sent: it is gone, or not. */
  dropping: number | null;
}

export const alive = (site: ModelSite): boolean => site.end === null;

/** From now on this may be seen too. */
export function begin(site: ModelSite, seen: Seen, from = performance.now()): Span {
  const span = { seen, from, until: Infinity };
  site.spans.push(span);
  return span;
}

/** From now on nothing else may be seen by a request that starts. */
export function settle(site: ModelSite, seen: Seen): void {
  const at = performance.now();
  for (const span of site.spans) if (span.seen !== seen && span.until === Infinity) span.until = at;
  if (!site.spans.some((span) => span.seen === seen && span.until === Infinity)) begin(site, seen, at);
}

/** It was refused: nobody may ever have seen it. */
export function undo(site: ModelSite, span: Span): void {
  site.spans.splice(site.spans.indexOf(span), 1);
}

/** Whether a request that lasted from `from` to `until` may have been answered so. */
export const mayShow = (site: ModelSite, seen: Seen, from: number, until: number): boolean =>
  site.spans.some((span) => span.seen === seen && span.from <= until && from <= span.until);

/** Whether it may have been answered with some version, whichever. */
export const mayBeAlive = (site: ModelSite, from: number, until: number): boolean =>
  site.spans.some((span) => typeof span.seen === "number" && span.from <= until && from <= span.until);

const noise = (seed: string, bytes: number): Uint8Array => {
  const parts: Buffer[] = [];
  for (let n = 0; n * 32 < bytes; n++) parts.push(Buffer.from(contentHash(Buffer.from(`${seed} ${n}`)), "hex"));
  return Buffer.concat(parts).subarray(0, bytes);
};

const made = new Map<string, ReadonlyMap<string, Uint8Array>>();

/** A version's files. All but one tell its number, so that a mixture of two versions cannot go unseen; the one that does
 *  not is shared by every site, and a stylesheet goes out in a coding. */
export function contentOf(name: string, version: number): ReadonlyMap<string, Uint8Array> {
  const key = `${name} version ${version}.`;
  const known = made.get(key);
  if (known) return known;
  const files = new Map<string, Uint8Array>([
    ["index.html", Buffer.from(`<title>${name}</title><p>${key}</p>`)],
    ["shared.txt", Buffer.from("the same in every version of every site")],
    ["style.css", Buffer.from(`/* ${key} */\n${`.a${version} { color: #00${version % 10}; }\n`.repeat(80)}`)],
    ["data/noise.bin", Buffer.concat([Buffer.from(`${key}\n`), noise(key, 5_000 + (version % 7) * 9_000)])],
  ]);
  if (made.size > 2_000) made.clear();
  made.set(key, files);
  return files;
}
export const PATHS = ["index.html", "shared.txt", "style.css", "data/noise.bin"] as const;
