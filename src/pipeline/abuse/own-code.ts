/** The code that stands in a page itself: its scripts, event attributes, and what is at `data:` addresses. */
import { decodePercent } from "../../base/percent.ts";
import type { PageFacts } from "./facts.ts";
import { readScript, type Script } from "./script/script.ts";

/** What a `data:` address holds; null for all others. */
export function inAddress(address: string): { type: string; text: string } | null {
  const from = /^[\s\0]*data:/i.exec(address)?.[0].length;
  const comma = from === undefined ? -1 : address.indexOf(",", from);
  const [head, data] = [address.slice(from, comma), address.slice(comma + 1)];
  if (comma < 0 || data === "") return null;
  const [type] = /^[\w.+/-]*/.exec(head)!;
  const plain = decodePercent(data.replace(/[\t\n\r]/g, ""));
  if (plain === null) return { type, text: data };
  const text = /;\s*base64\s*$/i.test(head) ? Buffer.from(plain, "base64").toString() : plain;
  return { type: type || "text/plain", text };
}

/** The code of a script at a `data:` address. */
export const codeAt = (address: string): string | null => inAddress(address)?.text ?? null;

/** Event attributes whose code runs without anybody doing anything. */
const LOADS = /^on(?:load|error|pageshow)$/;

export interface OwnScript extends Script {
  /** It runs when the page loads. */
  loads: boolean;
}

/** By the page: several look at them. */
const read = new WeakMap<PageFacts, readonly OwnScript[]>();

/** Equal event attributes are one. */
export function ownScripts(page: PageFacts): readonly OwnScript[] {
  return read.getOrInsertComputed(page, () => {
    const data = page.scripts.flatMap((address) => codeAt(address) ?? []);
    const handlers = new Map(page.handlers.map(({ name, code }) => [`${name} ${code}`, { name, code }]));
    return [
      ...[...page.runs, ...data].map((code) => ({ ...readScript(code), loads: true })),
      ...[...handlers.values()].map(({ name, code }) => ({ ...readScript(code), loads: LOADS.test(name) })),
    ];
  });
}
