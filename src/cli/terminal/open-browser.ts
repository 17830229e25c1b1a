/** A browser opened for a person, where there is one to see it: a terminal with a display of its own. */
import { spawn } from "node:child_process";
import type { Env, Terminal } from "./index.ts";

/** Builds have nobody who looks; over ssh the browser would open on the wrong machine. */
const NOBODY_HERE = ["CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"];

/** The program that opens an address; null where there is none. No shell sees the address, which is the server's. */
export function browserCommand(env: Env, platform: string = process.platform): string[] | null {
  if (NOBODY_HERE.some((name) => env[name])) return null;
  if (platform === "darwin") return ["open"];
  // `start` belongs to cmd, which would read an address's & and % as its own.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : null;
}

/** Whether a browser was asked to open the address. */
export async function openBrowser(address: string, env: Env, terminal: Terminal): Promise<boolean> {
  const command = terminal.interactive ? browserCommand(env) : null;
  const isWeb = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  if (command === null || !isWeb) return false;
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, [...args, new URL(address).href], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });
}
