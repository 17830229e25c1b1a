/** The zip on its way from the server into a deploy's process: a file in DATA/tmp, which costs the serving thread a tenth
 *  of what a message would (BUN 1b). Once the process has read it, the same file says where the deploy is, for when
 *  the process is ended or dies. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { giveBack } from "../run/runtime.ts";
import { randomName } from "../base/random.ts";
import type { Bytes, Progress } from "../base/types.ts";

export interface Place {
  stage: string;
  file: string | null;
}

export interface HandedZip {
  path: string;
  /** Where the process was when it wrote last. */
  place(): Promise<Place>;
  remove(): Promise<void>;
}

/** What an upload is made of, in order. */
export type Pieces = AsyncIterable<Bytes> | Iterable<Bytes>;

const STARTING: Place = { stage: "starting", file: null };
/** A note is at most so long; what is cut is the end of a file's name. */
const NOTE = 2048;

/** Where `tmp` was taken away it is made again: a cleaner of temporary files must not end deploys until a restart. */
async function create(path: string): Promise<FileHandle> {
  const make = () => open(path, "wx", 0o600);
  return make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    await mkdir(dirname(path), { mode: 0o700 }).catch(() => {}); // another deploy may have been quicker
    return make();
  });
}

/** A disk that takes only a part says why when it is given the rest. */
async function writeWhole(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten;
}

/** Piece by piece, while the thread serves others; the memory of each is free then, where it is the piece's alone. What
 *  comes after a failure is read all the same: who sends it hears the answer only then. */
async function writePieces(file: FileHandle, pieces: Pieces): Promise<void> {
  let failure: { error: unknown } | undefined;
  for await (const piece of pieces) {
    if (failure === undefined) await writeWhole(file, piece).catch((error: unknown) => void (failure = { error }));
    giveBack(piece);
  }
  if (failure !== undefined) throw failure.error;
}

async function readNote(path: string): Promise<Place> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(NOTE), 0, NOTE, 0);
    // The first line tells a note from a zip that was never read: no upload knows the name of its file.
    const [name, stage, where] = buffer.toString("utf8", 0, bytesRead).split("\n");
    return name === basename(path) ? { stage: stage!, file: where || null } : STARTING;
  } finally {
    await file.close();
  }
}

/** The pieces are handed over. Throws what they throw, and what the disk says; then nothing is left. */
export async function receiveZip(data_dir: string, pieces: Pieces): Promise<HandedZip> {
  const path = join(data_dir, "tmp", `upload-${randomName(16)}`);
  const remove = () => unlink(path).catch(() => {});
  const file = await create(path);
  try {
    await writePieces(file, pieces);
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await file.close();
  }
  return { path, remove, place: () => readNote(path).catch(() => STARTING) };
}

/** For a job without one: nobody says where it is. */
export const noZip: HandedZip = { path: "", place: async () => STARTING, remove: async () => {} };

interface TakenZip {
  zip: Bytes;
  /** 1.3 µs each. */
  note: Progress;
  close(): void;
}

/** In the process. */
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
        // a full disk: nobody learns where it was
      }
    },
    close: () => closeSync(fd),
  };
}
