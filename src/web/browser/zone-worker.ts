/** The drop zone's worker: reads and zips files, and solves the challenge. It takes one call and ends with the answer. */
import { solve } from "../../client/challenge.ts";
import { zipFiles } from "../../client/zip.ts";
import type { WorkerCall, End, Reply } from "./zone/worker-calls.ts";

/** The members of a worker's own global, which TypeScript's DOM library does not know. */
interface WorkerScope {
  onmessage: ((message: MessageEvent<WorkerCall>) => void) | null;
  postMessage(reply: Reply, transfer?: Transferable[]): void;
}
const scope = self as unknown as WorkerScope;

class Unreadable extends Error {
  constructor(readonly path: string) {
    super(path);
  }
}

async function read(path: string, file: File): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Unreadable(path);
  });
  return new Uint8Array(bytes);
}

async function zipped(files: readonly (readonly [path: string, file: File])[]): Promise<ArrayBuffer> {
  const entries: [string, Uint8Array<ArrayBuffer>][] = [];
  for (const [path, file] of files) entries.push([path, await read(path, file)]);
  scope.postMessage("read");
  return (await zipFiles(entries)).buffer;
}

async function endOf(call: WorkerCall): Promise<End> {
  if ("challenge" in call) return { proof: await solve(call.challenge) };
  if ("zip" in call) return { bytes: (await read(call.zip.name, call.zip)).buffer };
  return { bytes: await zipped(call.files) };
}

scope.onmessage = async ({ data }) => {
  const end = await endOf(data).catch((error: unknown): End =>
    error instanceof Unreadable ? { unreadable: error.path } : { error: String(error) },
  );
  scope.postMessage(end, "bytes" in end ? [end.bytes] : []);
};
