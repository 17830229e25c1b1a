/** The figures of a deploy, as the header `Svc-Receipt` has them: a dictionary of RFC 9651 whose values are integers
 *  (BEYOND 15). The server writes it; command line and drop zone read it. */
import type { Checked } from "./types.ts";
import { count, figure } from "./units.ts";

/** How a version differs from what was live before, in uploaded files. */
export interface FileChange {
  added: number;
  changed: number;
  removed: number;
  same: number;
}

export interface ReceiptFigures {
  /** As uploaded: what the service made or dropped does not count. */
  files: number;
  bytes: number;
  /** How much of it was read by the checks. */
  checked: Checked;
  /** Null for the first version of a site. */
  changes: FileChange | null;
  /** Milliseconds from the request to the answer. */
  ms: number;
}

export function writeFigures({ files, bytes, checked, changes, ms }: ReceiptFigures): string {
  const { pages, links, files: read } = checked;
  const change = changes && { added: changes.added, changed: changes.changed, removed: changes.removed };
  const members = { files, bytes, pages, links, checked: read, ...change, ...(changes && { same: changes.same }), ms };
  return Object.entries(members)
    .map(([name, value]) => `${name}=${Math.round(value)}`)
    .join(", ");
}

const MEMBER = /^([a-z]+)=(\d{1,15})$/;

/** Null if there is no such header, or if it lacks a figure: older servers have none, and other programs may have it. */
export function readFigures(header: string | null): ReceiptFigures | null {
  const members = new Map<string, number>();
  for (const member of (header ?? "").slice(0, 1000).split(",")) {
    const [, name, value] = MEMBER.exec(member.trim()) ?? [];
    if (name !== undefined) members.set(name, Number(value));
  }
  const all = (names: readonly string[]) => names.every((name) => members.has(name));
  const get = (name: string): number => members.get(name)!;
  if (!all(["files", "bytes", "pages", "links", "checked", "ms"])) return null;
  const changes = all(["added", "changed", "removed", "same"])
    ? { added: get("added"), changed: get("changed"), removed: get("removed"), same: get("same") }
    : null;
  const checked = { pages: get("pages"), links: get("links"), files: get("checked") };
  return { files: get("files"), bytes: get("bytes"), checked, changes, ms: get("ms") };
}

/** `3 pages, 14 links and 9 files`; null if nothing was read. */
function checkedWords({ pages, links, files }: Checked): string | null {
  const parts = (
    [
      [pages, "page"],
      [links, "link"],
      [files, "file"],
    ] as const
  )
    .filter(([amount]) => amount > 0)
    .map(([amount, noun]) => count(amount, noun));
  const last = parts.pop();
  if (last === undefined) return null;
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}

/** `2 things are broken or risky`: what a receipt's warnings come to. */
export const brokenWords = (warnings: number): string =>
  `${count(warnings, "thing")} ${warnings === 1 ? "is" : "are"} broken or risky`;

/** The sentence of what was checked. Only a receipt without a warning may say that nothing is broken. */
export function checkedSentence(checked: Checked, warnings: number): string | null {
  const words = checkedWords(checked);
  return words && `Checked ${words}${warnings === 0 ? ": nothing is broken" : ""}.`;
}

/** `2 added, 1 changed, 8 unchanged`: kinds of which there are none are left out. */
export const changeWords = ({ added, changed, removed, same }: FileChange): string =>
  (
    [
      [added, "added"],
      [changed, "changed"],
      [removed, "removed"],
      [same, "unchanged"],
    ] as const
  )
    .filter(([amount]) => amount > 0)
    .map(([amount, kind]) => `${figure(amount)} ${kind}`)
    .join(", ");
