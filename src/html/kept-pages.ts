/** The pages of a deploy, each decoded and cut into its parts when it is first asked for, and once for all who ask. */
import type { Bytes } from "../base/types.ts";
import { decodeHtml } from "./decode.ts";
import { Page } from "./page.ts";

/** By the bytes themselves: a copy under another name is the same page. */
export type Pages = (bytes: Bytes) => Page;

export function keepPages(): Pages {
  const kept = new Map<Bytes, Page>();
  return (bytes) => kept.getOrInsertComputed(bytes, () => new Page(decodeHtml(bytes)));
}
