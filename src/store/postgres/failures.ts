/** PostgreSQL's errors as a caller is told of them: by SQLSTATE, and by the connection that was not there or went away. */
import { Refusal } from "../../base/errors.ts";
import { refusals } from "../refusals.ts";

/** A database that did not answer in its time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** Files have errors with a number in that place. */
function stateOf(error: unknown): string {
  const state = String((error as { errno?: unknown } | null)?.errno ?? "");
  return /^[0-9A-Z]{5}$/.test(state) ? state : "";
}
const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");

/** The connection is gone, or the server is about to end it. */
export const isClosed = (error: unknown): boolean =>
  /^(08|57P0|25P03)/.test(stateOf(error)) || /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)/.test(codeOf(error));

/** The server said no itself: what it was asked for is not done. */
export const isRefused = (error: unknown): boolean => stateOf(error) !== "" && !isClosed(error);

/** A server that was the first one once, and takes no writes any more. */
export const isReadOnly = (error: unknown): boolean => stateOf(error) === "25006";

/** Two transactions were in each other's way: the next try finds another order. */
export const isCollision = (error: unknown): boolean => ["40001", "40P01"].includes(stateOf(error));

/** A lock or a statement that took too long, and a server without a free connection. */
const BUSY = new Set(["55P03", "57014", "53300"]);
/** Others had the lock, or all connections, for too long. */
export const isBusy = (error: unknown): boolean => BUSY.has(stateOf(error));
const FULL = new Set(["53100", "53400"]);

function answerTo(error: unknown): Error | null {
  const state = stateOf(error);
  if (FULL.has(state)) return refusals.storageFull();
  if (isBusy(error) || isCollision(error)) return refusals.busy();
  const unreachable = error instanceof NoAnswer || isClosed(error) || isReadOnly(error) || state.startsWith("53");
  return unreachable ? refusals.databaseAway() : null;
}

/** Why a server cannot start with this database, as the end of a sentence; null for what is none of the database's own words. */
export function startTrouble(error: unknown): string | null {
  const [state, code] = [stateOf(error), codeOf(error)];
  if (state === "3D000") return "there is none of that name. Create it first.";
  if (state.startsWith("28")) return "it refuses that user or its password.";
  if (state === "42501")
    return `it lets its user make no tables (${String((error as Error).message)}). Let it own the database.`;
  if (/caFile/.test(String((error as Error | null)?.message))) return "the file of its sslrootcert cannot be read.";
  if (/CERT|ISSUER/.test(code)) {
    return `its certificate is not trusted (${code}): name its authority in sslrootcert, and its own host in the address.`;
  }
  if (code === "ERR_POSTGRES_TLS_NOT_AVAILABLE") return "it speaks no TLS, which its sslmode asks for.";
  if (error instanceof NoAnswer || code === "ERR_POSTGRES_CONNECTION_REFUSED") return "it does not answer.";
  return state === "" && code === "" ? null : `it says ${[state || code, (error as Error).message].join(", ")}`;
}

/** A database that does not let anybody in may do so in a while: it starts, or is being made. */
export const mayLetIn = (error: unknown): boolean =>
  isClosed(error) ||
  /^(28|3D|53)/.test(stateOf(error)) ||
  (stateOf(error) === "" && codeOf(error) !== "" && !codeOf(error).startsWith("ERR_INVALID"));

/** The answer to a caller, with the error as its `cause`; what is no fault of the server's comes back as it is. */
export function databaseRefusal(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const answer = answerTo(error);
  return answer === null ? error : Object.assign(answer, { cause: error });
}

const NOT_WHOLE: Readonly<Record<string, string>> = {
  filling:
    "A restore or a move into the database of SVC_DATABASE_URL was not finished: run the same svc-server restore or svc-server move again, or give both a new database and a new prefix.",
  moved:
    "The service of SVC_DATABASE_URL was moved to a data directory: start svc-server with that --data-dir, without SVC_DATABASE_URL.",
};

/** Why a service of this state is none to start or to write into (SCALE 7); null for one that is whole. */
export const whyNotWhole = (state: string): string | null => NOT_WHOLE[state] ?? null;
