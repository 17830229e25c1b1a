/** Opens a page in a browser, if a person can see it: at a terminal with a display of its own. */
import { spawn } from "node:child_process";
import type { Env, Terminal } from "./index.ts";

/** Variables that mean that no person looks at this display: a build has none, and over ssh the person is elsewhere. */
const NO_PERSON_HERE = ["CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"];

/** The program that opens a URL; null if there is none. The URL is the server's, so no shell reads it. */
export function browserCommand(env: Env, platform: string = process.platform): string[] | null {
  if (NO_PERSON_HERE.some((name) => env[name])) return null;
  if (platform === "darwin") return ["open"];
  // `start` belongs to cmd, which would read & and % in a URL as its own.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : null;
}

/** Resolves to whether a browser was asked to open the URL. */
export async function openBrowser(url: string, env: Env, terminal: Terminal): Promise<boolean> {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isWeb && launch(new URL(url).href, env, terminal);
}

/** The same for a file that svc wrote, with the program for such files. */
export const openFile = (path: string, env: Env, terminal: Terminal): Promise<boolean> => launch(path, env, terminal);

async function launch(what: string, env: Env, terminal: Terminal): Promise<boolean> {
  const command = terminal.interactive ? browserCommand(env) : null;
  if (command === null) return false;
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, [...args, what], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });
}
