/** session.json: the last login, and the credentials that the CLI may send. */
import { changeShared, readShared, sessionFile } from "./shared-file.ts";
import { usage } from "../failure.ts";
import type { Env } from "../terminal/index.ts";

export interface Credential {
  token: string;
  /** Its origin, for the sentence that the server did not accept it. */
  from: string;
}

export const SAVED_SESSION = "the saved session";
/** A place's own manage_token: it came with the deploy that linked the place. */
export const OWN_LINK = "the link of this folder";

interface SavedLogin {
  /** The origin of the server that issued the session, the only one it is sent to. */
  origin: string;
  /** The base URL of that server; the file has it only if it is more than the origin. */
  server: string;
  session_token: string;
}

/** The session that `login` saved; null also for a file that cannot be read. */
export function lastLogin(env: Env): SavedLogin | null {
  try {
    const saved = Object(readShared(sessionFile(env))) as Partial<Record<keyof SavedLogin, unknown>>;
    const { origin, session_token, server = origin } = saved;
    if (![origin, session_token, server].every((part) => typeof part === "string" && part !== "")) return null;
    return { origin, session_token, server } as SavedLogin;
  } catch {
    return null;
  }
}

/** The saved session, if it is one of this server. */
function savedSession(env: Env, origin: string): Credential | null {
  const saved = lastLogin(env);
  return saved?.origin === origin ? { token: saved.session_token, from: SAVED_SESSION } : null;
}

/** The origin of the server whose session is saved, if that is not `origin`. */
export function signedInElsewhere(env: Env, origin: string): string | null {
  const saved = lastLogin(env);
  return saved === null || saved.origin === origin ? null : saved.origin;
}

export const saveSession = (
  env: Env,
  saved: Omit<SavedLogin, "server"> & { server?: string; account_id: string },
): void => changeShared(sessionFile(env), () => ({ version: 1, ...saved }));

/** Whether it is a deploy token: it deploys, and opens nothing of its account (BEYOND 7). */
export const isDeployToken = (token: string): boolean => token.startsWith("svc_deploy_");

/** The answer of a deploy, for links and output: a deploy token is never saved or shown. */
export const withoutDeployToken = <Result extends { manage_token: string | null }>(result: Result): Result =>
  result.manage_token !== null && isDeployToken(result.manage_token) ? { ...result, manage_token: null } : result;

/** `SVC_TOKEN`, then the saved session, then `SVC_API_KEY`, then none. */
export function session(env: Env, origin: string): Credential | null {
  if (env["SVC_TOKEN"]) return { token: env["SVC_TOKEN"], from: "SVC_TOKEN" };
  const saved = savedSession(env, origin);
  if (saved !== null) return saved;
  return env["SVC_API_KEY"] ? { token: env["SVC_API_KEY"], from: "SVC_API_KEY" } : null;
}

/** Refuses characters that no header can carry: no token has them. */
export function requireToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usage(`That is no ${name}: it has characters that no token has.`);
}
