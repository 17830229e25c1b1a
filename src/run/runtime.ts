/** Two things that this runtime wants to be asked for in its own way. */
import type { Bytes } from "../base/types.ts";

/** Where a thread's code is, named from the repository's root: an entry of its own in the binary, under this very name,
 *  and a file in the source (BUN 1). */
export const threadUrl = (entry: `./src/${string}.ts`): string | URL =>
  Bun.isStandaloneExecutable ? entry : new URL(`../../${entry}`, import.meta.url);

/** Frees the memory of bytes that nobody reads any more, where they have it for themselves. The collector would come late,
 *  for it does not see how much they hold, and stops the thread that serves pages when it comes (bench/README.md, storm). */
export function giveBack({ buffer, byteLength }: Bytes): void {
  if (byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0);
}
