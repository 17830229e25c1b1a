/** The failure of a command: a sentence for a person, a code for a program, the exit code for a shell. */
export class Failure extends Error {
  override readonly name = "Failure";
  constructor(
    readonly code: string,
    message: string,
    /** 1: the command failed. 2: its arguments are wrong. */
    readonly exit: 1 | 2 = 1,
  ) {
    super(message);
  }
}

export const usage = (message: string): Failure => new Failure("usage", message, 2);

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  EACCES: "may not be read by you",
  EPERM: "may not be read by you",
  EISDIR: "is a folder, not a file",
  ENOTDIR: "is below something that is not a folder",
  ENAMETOOLONG: "has a name that is too long",
  ENOSPC: "has no room: the disk is full",
  EROFS: "cannot be written: its disk is read-only",
  ELOOP: "is a symbolic link that leads to itself",
  EMFILE: "cannot be opened: too many files are open",
};

/** The code of an error of the system, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined => (Object(error) as { code?: string }).code;

const OF_THE_ENGINE = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Anything that was thrown, as a Failure. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { code, path, message } = Object(error) as { code?: string; path?: string; message?: string };
  const reason = code === undefined ? undefined : FILE_ERRORS[code];
  if (reason !== undefined && path !== undefined) return new Failure("unreadable", `${path} ${reason}.`);
  // The engine's own words for a fault of svc do not say what to do.
  if (OF_THE_ENGINE.some((kind) => error instanceof kind)) {
    return new Failure("failed", "svc itself has a fault here. Please report what you ran, with svc --version.");
  }
  return new Failure("failed", message ?? String(error));
}
