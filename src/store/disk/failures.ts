/** What a full or failing disk means for the caller (RELIABILITY.md 2): writing stops, serving never does. */
import { Refusal } from "../../errors.ts";
import { dropBallast } from "./ballast.ts";

/** A COMMIT whose outcome nobody knows: the process must restart into recovery before it writes again. */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");

export const isDiskFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "SQLITE_FULL"].includes(codeOf(error)) ||
  (error instanceof Refusal && error.code === "storage_full");

export const storageFull = (): Refusal =>
  new Refusal(
    "storage_full",
    "The server's disk is full, so nothing was stored. Sites stay online; try again later or tell the operator.",
    {},
    { "retry-after": "60" },
  );

export const unavailable = (why: string): Refusal =>
  new Refusal("unavailable", `${why} Nothing was stored; try again in a moment.`, {}, { "retry-after": "1" });

/** Runs what frees room (deletes, takedowns, the sweep) once more without the ballast where the disk is full. */
export function makingRoom<T>(data_dir: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    dropBallast(data_dir);
    return write();
  }
}

const FAILING = ["EIO", "EMFILE", "ENFILE", "ENOMEM", "EROFS", "EACCES", "EPERM", "SQLITE_CANTOPEN", "SQLITE_READONLY"];

/** The error as the caller may see it; what is no fault of the disk comes back as it is. */
export function diskRefusal(error: unknown): unknown {
  if (error instanceof Refusal || error instanceof CommitUnknown) return error;
  const code = codeOf(error);
  if (isDiskFull(error)) return storageFull();
  if (code.startsWith("SQLITE_IOERR")) return new CommitUnknown(`the database could not be written: ${code}`);
  if (code.startsWith("SQLITE_BUSY")) return unavailable("The server is busy.");
  return FAILING.includes(code) ? unavailable("The server's disk did not take the write.") : error;
}
