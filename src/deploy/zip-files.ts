/** Zips as files in DATA/tmp, on their way between the server and a deploy's process. An upload costs the serving thread so a tenth
 *  of what a message would (BUN 1b). Once the process has read it, the same file says which step the deploy is at, in case
 *  the process is ended or dies. A stored version that is taken away goes the other way. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { giveBack } from "../run/runtime.ts";
import { randomName } from "../base/random.ts";
import type { Bytes, Progress } from "../base/types.ts";

export interface DeployStep {
  stage: string;
  file: string | null;
}

export interface UploadFile {
  path: string;
  /** The step that the process noted last. */
  step(): Promise<DeployStep>;
  /** Puts back what the notes have overwritten, so that another process can read it. */
  putBack(): Promise<void>;
  remove(): Promise<void>;
}

/** The parts of an upload, in order. */
export type Pieces = AsyncIterable<Bytes> | Iterable<Bytes>;

const STARTING: DeployStep = { stage: "starting", file: null };
/** A note is at most so long; what is cut is the end of a file's name. */
const NOTE = 2048;

/** Makes `tmp` again when it is gone: a cleaner of temporary files must not end deploys until a restart. */
async function create(path: string): Promise<FileHandle> {
  const make = () => open(path, "wx", 0o600);
  return make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    await mkdir(dirname(path), { mode: 0o700 }).catch(() => {}); // another deploy may have been quicker
    return make();
  });
}

/** A disk that takes only a part says why when it is given the rest. */
async function writeWhole(file: FileHandle, piece: Uint8Array, from: number | null = null): Promise<void> {
  for (let at = 0; at < piece.length;) {
    at += (await file.write(piece, at, piece.length - at, from === null ? null : from + at)).bytesWritten;
  }
}

/** Writes piece by piece, while the thread serves others, and frees each piece's memory when no other view shares it. After a
 *  failure the rest is read all the same: the sender hears the answer only then. Answers the part that notes will overwrite. */
async function writePieces(file: FileHandle, pieces: Pieces): Promise<Uint8Array> {
  let failure: { error: unknown } | undefined;
  let head = new Uint8Array();
  for await (const piece of pieces) {
    if (head.length < NOTE) head = Buffer.concat([head, piece.subarray(0, NOTE - head.length)]);
    if (failure === undefined) await writeWhole(file, piece).catch((error: unknown) => void (failure = { error }));
    giveBack(piece);
  }
  if (failure !== undefined) throw failure.error;
  return head;
}

/** A note may be longer than the zip. */
async function putBack(path: string, head: Uint8Array): Promise<void> {
  const file = await open(path, "r+");
  try {
    await writeWhole(file, head, 0);
    if (head.length < NOTE) await file.truncate(head.length);
  } finally {
    await file.close();
  }
}

async function readNote(path: string): Promise<DeployStep> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(NOTE), 0, NOTE, 0);
    // The first line distinguishes a note from a zip that was never read: no upload knows the name of its file.
    const [name, stage, where] = buffer.toString("utf8", 0, bytesRead).split("\n");
    return name === basename(path) ? { stage: stage!, file: where || null } : STARTING;
  } finally {
    await file.close();
  }
}

/** Writes an upload's file; the caller must not use the pieces afterwards. Throws what they throw, and what the disk says; then
 *  nothing is left. */
export async function receiveZip(data_dir: string, pieces: Pieces): Promise<UploadFile> {
  const path = join(data_dir, "tmp", `upload-${randomName(16)}`);
  const remove = () => unlink(path).catch(() => {});
  const file = await create(path);
  let head: Uint8Array;
  try {
    head = await writePieces(file, pieces);
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await file.close();
  }
  const step = () => readNote(path).catch(() => STARTING);
  return { path, remove, step, putBack: () => putBack(path, head) };
}

/** For a job without one: its step is not known. */
export const noZip: UploadFile = {
  path: "",
  step: async () => STARTING,
  putBack: async () => {},
  remove: async () => {},
};

interface TakenZip {
  zip: Bytes;
  /** 1.3 µs each. */
  note: Progress;
  close(): void;
}

/** Reads the file, in the process. */
export function takeZip(path: string): TakenZip {
  const fd = openSync(path, "r+");
  const zip = readFileSync(fd) as Bytes;
  const name = basename(path);
  return {
    zip,
    note(stage, file = "") {
      try {
        writeSync(fd, `${`${name}\n${stage}\n${file}`.slice(0, NOTE / 4)}\n`, 0);
      } catch {
        // a full disk: the step stays unknown
      }
    },
    close: () => closeSync(fd),
  };
}

// A stored version on its way out as a zip: the file is written by a deploy's process, for the runtime's codings spoil the memory of
// a serving one. It has no name any more once it is read, so nothing is left of it, whatever ends the server.

export interface PackedVersion {
  bytes: number;
  body: ReadableStream<Uint8Array>;
}

/** Somebody who reads nothing holds the file no longer than this. */
const LONGEST_MS = 5 * 60_000;
const PIECE = 128 * 1024;

/** `done` is called once, when all is read or nobody reads on. */
async function lastReading(path: string, done: () => void): Promise<ReadableStream<Uint8Array>> {
  const file = await open(path);
  await unlink(path);
  let late: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const end = async () => {
    if (over) return;
    over = true;
    clearTimeout(late);
    done();
    await file.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        late = setTimeout(() => {
          controller.error(new Error("nobody read on"));
          void end();
        }, LONGEST_MS);
      },
      async pull(controller) {
        const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE), 0, PIECE);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        controller.close();
        await end();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** `write` makes the file at the path that it is given, and resolves to its size. */
export async function packedFile(
  data_dir: string,
  write: (path: string) => Promise<number>,
  done: () => void,
): Promise<PackedVersion> {
  const folder = join(data_dir, "tmp");
  const path = join(folder, `zip-${randomName(16)}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { bytes: await write(path), body: await lastReading(path, done) };
  } catch (error) {
    await unlink(path).catch(() => {});
    done();
    throw error;
  }
}
