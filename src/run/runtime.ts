/** Memory that the runtime must be told of. */
import type { Bytes } from "../base/types.ts";

/** Frees the memory of bytes that are read no more, when no other view shares it. The collector would come late,
 *  for it does not see how much they hold, and stops the thread that serves pages when it comes (bench/README.md, storm). */
export function giveBack({ buffer, byteLength }: Bytes): void {
  if (byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0);
}
