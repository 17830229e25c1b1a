/** The two headings under which a receipt tells its `healed`: pages and command line share them (WEB 4.6). */
import type { Healed } from "./types.ts";

/** With these nothing was broken. */
const SET_UP: ReadonlySet<string> = new Set<Healed["code"]>(["spa_fallback", "markdown_rendered", "index_generated"]);

interface HealedPart<Entry> {
  heading: "Fixed for you" | "Set up for you";
  entries: Entry[];
}

/** A code of a newer server counts as a fix. Parts without an entry are left out. */
export function healedParts<Entry extends { code: string }>(healed: readonly Entry[]): HealedPart<Entry>[] {
  const isSetUp = ({ code }: Entry): boolean => SET_UP.has(code);
  const parts: HealedPart<Entry>[] = [
    { heading: "Fixed for you", entries: healed.filter((entry) => !isSetUp(entry)) },
    { heading: "Set up for you", entries: healed.filter(isSetUp) },
  ];
  return parts.filter(({ entries }) => entries.length > 0);
}
