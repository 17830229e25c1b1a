/** Asks a worker for two long tasks, so that the page's own thread stays free for its reader. */
import type { Challenge } from "../../../client/challenge.ts";
import { type Found, unreadable } from "./collect.ts";

export type WorkerCall = { files: [path: string, file: File][] } | { zip: File } | { challenge: Challenge };
export type End = { bytes: ArrayBuffer } | { proof: string } | { unreadable: string } | { error: string };
/** `read`: the files are in, and the zipping begins. */
export type Reply = "read" | End;

/** The worker itself could not be loaded: the connection is gone. */
export class Unreachable extends Error {}

async function ask(url: string, call: WorkerCall, signal: AbortSignal, read = () => {}): Promise<End> {
  signal.throwIfAborted();
  const worker = new Worker(url);
  try {
    return await new Promise<End>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Reply>) => (data === "read" ? read() : resolve(data));
      worker.onerror = () => reject(new Unreachable());
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      worker.postMessage(call);
    });
  } finally {
    worker.terminate();
  }
}

function failed(end: End): Error {
  if ("unreadable" in end) return unreadable(end.unreadable);
  return new Error("error" in end ? end.error : "the worker gave no answer");
}

function zipIn(end: End): Blob {
  if ("bytes" in end) return new Blob([end.bytes], { type: "application/zip" });
  throw failed(end);
}

/** Zips the files; calls `read` when all of them are read. */
export async function packed(
  url: string,
  files: readonly Found[],
  signal: AbortSignal,
  read: () => void,
): Promise<Blob> {
  return zipIn(await ask(url, { files: files.map(({ path, file }) => [path, file]) }, signal, read));
}

/** Reads a zip that is sent as it is. It is read here, so that an unreadable file and an unreachable server give
 *  different errors. */
export const asItIs = async (url: string, zip: File, signal: AbortSignal): Promise<Blob> =>
  zipIn(await ask(url, { zip }, signal));

/** The value of the header `Svc-Challenge`. */
export async function proved(url: string, challenge: Challenge, signal: AbortSignal): Promise<string> {
  const end = await ask(url, { challenge }, signal);
  if ("proof" in end) return end.proof;
  throw failed(end);
}
