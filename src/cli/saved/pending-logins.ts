/** logins.json: logins that a program began and will ask about later. A device code is as good as a session once it is
 *  approved, so it stays in the config folder and is never printed. */
import { changeShared, pendingLoginsFile, readShared } from "./shared-file.ts";
import type { Env } from "../terminal/index.ts";

interface PendingLogin {
  id: string;
  /** The base URL of the server that was asked. */
  server: string;
  device_code: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

function isPendingLogin(value: unknown): value is PendingLogin {
  const { id, server, device_code, expires_at } = Object(value) as Partial<Record<keyof PendingLogin, unknown>>;
  return [id, server, device_code].every((part) => typeof part === "string") && Number.isFinite(expires_at);
}

/** A file that cannot be read counts as empty: a login can be begun again. */
function readAll(file: string, now: number): PendingLogin[] {
  try {
    const { logins } = Object(readShared(file)) as { logins?: unknown };
    const all = Array.isArray(logins) ? (logins as unknown[]).filter(isPendingLogin) : [];
    return all.filter(({ expires_at }) => expires_at > now);
  } catch {
    return [];
  }
}

export function pendingLogins(env: Env, now: () => number) {
  const file = pendingLoginsFile(env);
  const change = (edit: (logins: PendingLogin[]) => PendingLogin[]) =>
    changeShared(file, () => ({ version: 1, logins: edit(readAll(file, now())) }));
  return {
    find: (id: string): PendingLogin | undefined => readAll(file, now()).find((login) => login.id === id),
    add: (login: PendingLogin): void => change((logins) => [...logins, login]),
    remove: (id: string): void => change((logins) => logins.filter((login) => login.id !== id)),
  };
}
