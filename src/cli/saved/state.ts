/** The server that the CLI talks to, and the credentials that it may send to it. */
import { BUILT_IN_SERVER } from "../../client/default-server.ts";
import { sessionFile } from "./config-dir.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { changeShared, readShared } from "./shared-file.ts";
import type { Env } from "../terminal/index.ts";

export interface Server {
  /** Paths are appended to it: it has no slash at its end. */
  base: string;
  /** Stored tokens are sent to this origin alone. */
  origin: string;
  /** Whether DEPLOY_URL names it: links to other servers then do not count. */
  named: boolean;
}

export function serverAt(base_url: string, named: boolean): Server {
  const url = URL.canParse(base_url) ? new URL(base_url) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw usage(
      `DEPLOY_URL is "${base_url}", but must be the http(s) address of a server, such as http://localhost:8787.`,
    );
  }
  return { base: url.origin + url.pathname.replace(/\/+$/, ""), origin: url.origin, named };
}

export const serverFrom = (env: Env): Server => serverAt(env["DEPLOY_URL"] || BUILT_IN_SERVER, !!env["DEPLOY_URL"]);

export interface Credential {
  token: string;
  /** Where it came from, for the sentence that the server did not accept it. */
  from: string;
}

export const SAVED_SESSION = "the saved session";

/** The saved session, if it is one of this server. A file that cannot be read is no session. */
function savedSession(env: Env, origin: string): Credential | null {
  try {
    const saved = Object(readShared(sessionFile(env))) as { origin?: unknown; session_token?: unknown };
    const isOurs = saved.origin === origin && typeof saved.session_token === "string" && saved.session_token !== "";
    return isOurs ? { token: saved.session_token as string, from: SAVED_SESSION } : null;
  } catch {
    return null;
  }
}

export const saveSession = (env: Env, session: { origin: string; session_token: string; account_id: string }): void =>
  changeShared(sessionFile(env), () => ({ version: 1, ...session }));

/** `SVC_TOKEN`, then the saved session, then `SVC_API_KEY`, then none. */
export function session(env: Env, origin: string): Credential | null {
  if (env["SVC_TOKEN"]) return { token: env["SVC_TOKEN"], from: "SVC_TOKEN" };
  const saved = savedSession(env, origin);
  if (saved !== null) return saved;
  return env["SVC_API_KEY"] ? { token: env["SVC_API_KEY"], from: "SVC_API_KEY" } : null;
}

/** For commands that need an account. */
export function requireSession(env: Env, { origin }: Server, command: string): Credential {
  const credential = session(env, origin);
  if (credential !== null) return credential;
  throw new Failure("unauthorized", `${svc(command)} needs your account: run ${svc("login")}, or set SVC_TOKEN.`);
}

/** Refuses characters that no header can carry: no token has them. */
export function requireToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usage(`That is no ${name}: it has characters that no token has.`);
}
