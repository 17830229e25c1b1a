/** A file of ours that is sent often: coded once for each coding, when it is first asked for. */
import type { Bytes } from "../base/types.ts";
import type { Code, Compression } from "./coder.ts";
import type { Coding } from "./negotiate.ts";

interface Coded {
  coding: Coding;
  bytes: Bytes;
}

/** One that cannot be had now is tried again by the next who asks. */
export function codedFile(plain: Bytes): (coding: Coding, code: Code) => Promise<Coded> {
  const identity: Coded = { coding: "identity", bytes: plain };
  const made = new Map<Coding, Promise<Coded>>([["identity", Promise.resolve(identity)]]);
  async function make(coding: Compression, code: Code): Promise<Coded> {
    const bytes = await code(plain, coding, "small");
    if (bytes === undefined) made.delete(coding);
    return bytes ? { coding, bytes } : identity;
  }
  return (coding, code) => made.getOrInsertComputed(coding, () => make(coding as Compression, code));
}
