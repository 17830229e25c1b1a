/** Where the CLI remembers things: never in the project. */
import { homedir } from "node:os";
import { join, posix, win32 } from "node:path";
import type { Env } from "../terminal/index.ts";

export function configDir(env: Env, platform: string = process.platform, home: string = homedir()): string {
  if (env["SVC_CONFIG_DIR"]) return env["SVC_CONFIG_DIR"];
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "svc");
  if (platform === "win32") return win32.join(env["APPDATA"] || win32.join(home, "AppData", "Roaming"), "svc");
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG specification says that a relative path is to be ignored.
  return posix.join(xdg?.startsWith("/") ? xdg : posix.join(home, ".config"), "svc");
}

export const projectsFile = (env: Env): string => join(configDir(env), "projects.json");
export const pendingLoginsFile = (env: Env): string => join(configDir(env), "logins.json");
export const sessionFile = (env: Env): string => join(configDir(env), "session.json");
