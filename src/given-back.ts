/** Memory that is free again at once. */
import type { Bytes } from "./types.ts";

/** Of bytes that nobody reads any more, where they have their memory for themselves: the collector would come late, for it
 *  does not see how much they hold, and stops the thread that serves pages when it comes (bench/README.md, storm). */
export function giveBack({ buffer, byteLength }: Bytes): void {
  if (byteLength === buffer.byteLength) buffer.transfer(0);
}
