/** Refusals that every backend gives in the same words: for a site that takes no change, and a disk that takes no write. */
import { Refusal } from "../base/errors.ts";
import { siteState } from "../base/site-state.ts";
import type { Site } from "../base/types.ts";

const unknownSite = (): Refusal =>
  new Refusal("unknown_site", "This site is gone. Deploy it afresh to get a new one.", {
    next_actions: [
      {
        action: "deploy",
        description: "Deploy the folder as a new site.",
        command: "svc",
        method: "POST",
        url: "/sites",
      },
    ],
  });

/** Its code is not `not_found`, for that is the answer of a server without previews. */
const unknownPreview = (): Refusal =>
  new Refusal("unknown_version", "This site has no such preview: it has ended, or never was.");
const unknownVersion = (): Refusal => new Refusal("unknown_version", "Unknown version");

const SESSION_ENDED = "Your session has ended. Sign in again.";
/** For a session that was accepted, and ended before the change was made. */
const sessionEnded = (): Refusal => new Refusal("unauthorized", SESSION_ENDED);
/** By its words, for another thread or process brings no more than those. */
export const isSessionEnded = (error: unknown): boolean => error instanceof Refusal && error.message === SESSION_ENDED;

/** For a deploy token that was accepted, and ended before the change was made. */
const grantEnded = (): Refusal =>
  new Refusal("unauthorized", "This deploy token has expired or was revoked. Its account makes another one.");

/** Shared by routes and the transaction. */
const notGranted = (): Refusal =>
  new Refusal(
    "forbidden",
    "This deploy token is not for this site: the site belongs to another account or to none, or the token does not list it.",
  );

/** Throws for a site that is gone or disabled: nothing of it is changed. */
export function refuseUnlessThere(site: Site, now: number): void {
  const state = siteState(site, now);
  if (state === "expired") throw unknownSite();
  if (state === "disabled") {
    throw new Refusal("site_disabled", `This site was disabled by the operator: ${site.disabled_reason}`);
  }
}

/** Throws for a site that is not live: it takes no deploy and no rollback (CONTRACT 7). Shared by routes and the transaction. */
export function refuseUnlessWritable(site: Site, now: number): void {
  refuseUnlessThere(site, now);
  if (siteState(site, now) === "frozen") {
    throw new Refusal(
      "site_frozen",
      "This site is frozen by the operator: it is served, but takes no changes for now.",
    );
  }
}

/** For a site that has an owner: a manage_token changes its content alone (BEYOND 0). */
const ownersAlone = (): Refusal =>
  new Refusal(
    "unauthorized",
    "This site has an owner, whose session alone changes its settings: sign in as the owner.",
  );

/** For what a site without an owner cannot have (BEYOND 10). */
const ownerRequired = (): Refusal =>
  new Refusal(
    "owner_required",
    "This site has no owner yet, and only an account's site has domains: claim it first, by its claim_url or svc login and svc claim.",
  );

const domainTaken = (domain: string): Refusal =>
  new Refusal(
    "domain_taken",
    `${domain} is another site's, and its proof stands: remove it there, or take that site's record out of the DNS, and verify again.`,
    { domain },
  );

const commentsOff = (): Refusal => new Refusal("comments_off", "Comments are off on this site.");
const commentsFrozen = (): Refusal => new Refusal("site_frozen", "Comments on this site are frozen.");
const unknownComment = (): Refusal => new Refusal("not_found", "There is no such comment here.");
const commentDeleted = (): Refusal => new Refusal("deleted", "This comment was deleted.");

/** Throws for a site that takes no comments (COMMENTS, ruling 12). Shared by routes and the transaction. */
export function refuseUnlessCommentable(site: Site, now: number): void {
  refuseUnlessThere(site, now);
  if (site.comments_mode === "off") throw commentsOff();
  if (site.frozen) throw commentsFrozen();
}

/** Throws if the site has another content under this version id. `stored`: the digest of its version of that id, if it has one. */
export function refuseCollision(
  stored: string | undefined,
  { version_id, digest }: { version_id: string; digest: string },
): void {
  if (stored === undefined || stored === digest) return;
  throw new Refusal(
    "version_collision",
    `Another content of this site already has the version id ${version_id}. Change any byte of any file and deploy again.`,
  );
}

const signupClosed = (): Refusal =>
  new Refusal("signup_closed", "Sign-up needs an invitation on this server: ask its operator for one.");

/** A blob that is missing or damaged: the answer is a 500, never a short 200 (RELIABILITY, P5). */
export class DamagedBlob extends Error {
  override readonly name = "DamagedBlob";
  constructor(
    readonly sha256: string,
    why: string,
  ) {
    super(`blob ${sha256} ${why}`);
  }
}

/** A COMMIT of unknown outcome: the process must restart into recovery before it writes again. */
class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";
}

const commitUnknown = (why: string): Error => new CommitUnknown(why);

/** By its name, for it may come from another thread. */
export const isCommitUnknown = (error: unknown): boolean => error instanceof Error && error.name === "CommitUnknown";

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");

export const isDiskFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "SQLITE_FULL", "storage_full"].includes(codeOf(error));

/** SQLite's errors for a file with other bytes in it. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error));

const storageFull = (): Refusal =>
  new Refusal(
    "storage_full",
    "The server's disk is full, so nothing was stored. Sites stay online; try again later or tell the operator.",
    {},
    { "retry-after": "60" },
  );

const unavailable = (why: string): Refusal =>
  new Refusal("unavailable", `${why} Nothing was stored; try again in a moment.`, {}, { "retry-after": "1" });

/** For a write that gets no turn because of others. */
const busy = (): Refusal => unavailable("The server is busy.");

/** For a database server that does not answer. */
const AWAY = "The server's database cannot be reached right now.";
const databaseAway = (): Refusal => unavailable(AWAY);
export const isDatabaseAway = (error: unknown): boolean => error instanceof Refusal && error.message.startsWith(AWAY);

/** For a bucket that does not answer; `cause` says why. */
const BUCKET_AWAY = "The server's bucket cannot be reached right now.";
const bucketAway = (cause: Error): Refusal => Object.assign(unavailable(BUCKET_AWAY), { cause });
export const isBucketAway = (error: unknown): error is Refusal & { cause: Error } =>
  error instanceof Refusal && error.message.startsWith(BUCKET_AWAY) && error.cause instanceof Error;

/** For a write whose COMMIT nobody can tell of: another try may do it twice. */
const outcomeUnknown = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal(
      "unavailable",
      "The server's database went away while this was being stored, and nobody can tell whether it was: look before you try again.",
    ),
    { cause },
  );

/** `why` is for the operator alone. */
const databaseLost = (why: string): Refusal =>
  Object.assign(
    new Refusal(
      "unavailable",
      "The server's database is gone, so nothing was stored. Sites stay online; tell the operator.",
      {},
      { "retry-after": "60" },
    ),
    { cause: new Error(why) },
  );

/** The refusals, each made where it is thrown. */
export const refusals = {
  unknownSite,
  unknownPreview,
  unknownVersion,
  sessionEnded,
  grantEnded,
  notGranted,
  ownersAlone,
  ownerRequired,
  domainTaken,
  commentsOff,
  commentsFrozen,
  unknownComment,
  commentDeleted,
  signupClosed,
  busy,
  storageFull,
  databaseAway,
  bucketAway,
  outcomeUnknown,
  databaseLost,
  commitUnknown,
};

const FAILING = ["EIO", "EMFILE", "ENFILE", "ENOMEM", "EROFS", "EACCES", "EPERM", "SQLITE_CANTOPEN", "SQLITE_READONLY"];

function answerTo(error: unknown): Error | null {
  const code = codeOf(error);
  if (isDiskFull(error)) return storageFull();
  if (code.startsWith("SQLITE_IOERR")) return new CommitUnknown(`the database could not be written: ${code}`);
  if (code.startsWith("SQLITE_BUSY")) return busy();
  return FAILING.includes(code) ? unavailable("The server's disk did not take the write.") : null;
}

/** The answer to a caller on a full or failing disk (RELIABILITY 2): writing stops, serving never does. The answer
 *  has the error as its `cause`; an error that is no fault of the disk comes back as it is. */
export function diskRefusal(error: unknown): unknown {
  if (error instanceof Refusal || error instanceof CommitUnknown) return error;
  const answer = answerTo(error);
  return answer === null ? error : Object.assign(answer, { cause: error });
}
