/** A disk in memory of a size of its own, which a test can fill. It takes Linux and root. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { temporaryFolder } from "./process.ts";

const text = (word: string) => ptr(Buffer.from(`${word}\0`));
const DETACHED = 2; // a file that is still open does not keep it

/** By the system call: a bare machine need not have the program. Returns how to end it; null where it is not allowed. */
export function mountMemory(folder: string, size: string): (() => void) | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const { symbols } = dlopen("libc.so.6", {
    mount: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
    umount2: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  });
  if (symbols.mount(text("tmpfs"), text(folder), text("tmpfs"), 0, text(`size=${size}`)) !== 0) return null;
  return () => void symbols.umount2(text(folder), DETACHED);
}

/** Asked once, by doing it. */
export async function canMount(): Promise<boolean> {
  await using dir = await temporaryFolder();
  const end = mountMemory(dir.path, "1m");
  end?.();
  return end !== null;
}
