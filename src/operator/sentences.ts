/** Sentences for the person at the terminal when a disk or database fails. */
import { Refusal } from "../base/errors.ts";

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full: make room, then try again.",
  EDQUOT: "The disk quota is used up: make room, then try again.",
  SQLITE_FULL: "The disk is full: make room, then try again.",
  ENOENT: "There is no such folder or file.",
  ENOTDIR: "That is a file where a folder is needed.",
  EEXIST: "There is a file of this name where a folder is needed.",
  EIO: "The disk failed to read or write. Look at the system's log; a backup should be at hand.",
  EMFILE: "Too many files are open: raise the limit (ulimit -n), then try again.",
  ENFILE: "Too many files are open on this machine: try again later.",
  EROFS: "The file system is read-only.",
  EACCES: "The files may not be read or written by this user: run this as the user of the server.",
  EPERM: "The files may not be changed by this user: run this as the user of the server.",
  SQLITE_READONLY: "The database may not be written by this user: run this as the user of the server.",
  SQLITE_CANTOPEN: "The database cannot be opened: is the folder complete, and readable for this user?",
  SQLITE_BUSY: "The database was busy for 5 seconds: try again.",
  SQLITE_CORRUPT: "The database is damaged: stop the server and restore a backup into a new folder.",
  SQLITE_NOTADB: "The file db is no database: stop the server and restore a backup into a new folder.",
  SQLITE_IOERR: "The database could not be read or written: the outcome is unknown. Look at the system's log.",
};

/** A database server's own words say less than the answer. */
const isServers = (cause: unknown): boolean =>
  cause instanceof Error && ["PostgresError", "NoAnswer"].some((name) => cause.name === name);

/** The store answers for a failing disk in words for a person far from it; what happened is the answer's cause. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause && !isServers(error.cause) ? error.cause : error;

/** The error with a sentence for its message. An error that is not of the disk or the database stays as it is. */
export function sentenceOf(thrown: unknown): unknown {
  const error = causeOf(thrown);
  if (!(error instanceof Error) || error instanceof Refusal) return error;
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  const known = Object.keys(SENTENCES).find((name) => code === name || code.startsWith(`${name}_`));
  return known ? new Error(`${SENTENCES[known]} (${error.message})`) : error;
}
