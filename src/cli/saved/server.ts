/** The server that the CLI asks, and what chose it. */
import { BUILT_IN_SERVER } from "../../client/default-server.ts";
import { isLoopback } from "../../client/loopback.ts";
import { usage } from "../failure.ts";
import type { Env } from "../terminal/index.ts";
import { lastLogin } from "./state.ts";

/** The flag, variable or file that a person would change to choose another server. */
type Chooser = "argument" | "DEPLOY_URL" | "link" | "login" | "build";

export interface Server {
  /** Paths are appended to it: it has no slash at its end. */
  base: string;
  /** Stored tokens are sent to this origin alone. */
  origin: string;
  chosen_by: Chooser;
}

/** The server at an address; null if it is none. A name and a password in it are refused: they would be sent to the server. */
export function serverAt(address: string, chosen_by: Chooser): Server | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username + url.password !== "") return null;
  return { base: url.origin + url.pathname.replace(/\/+$/, ""), origin: url.origin, chosen_by };
}

/** The server that issued the tokens in a file. */
export const issuer = (origin: string, chosen_by: Chooser): Server => ({ base: origin, origin, chosen_by });

/** `DEPLOY_URL`, else the server of the last login, else the server of the build (CONTRACT 8). */
export function serverFrom(env: Env): Server {
  const named = env["DEPLOY_URL"];
  if (!named) return (serverAt(lastLogin(env)?.server ?? "", "login") ?? serverAt(BUILT_IN_SERVER, "build"))!;
  const server = serverAt(named, "DEPLOY_URL");
  if (server !== null) return server;
  throw usage(`DEPLOY_URL is "${named}", but must be the http(s) address of a server, such as http://localhost:8787.`);
}

/** The server that a person typed: without a scheme it is https, or http on this machine itself. */
export function serverTyped(typed: string): Server {
  const bare = URL.canParse(`http://${typed}`) ? new URL(`http://${typed}`) : null;
  const scheme = bare !== null && isLoopback(bare) ? "http" : "https";
  const server = serverAt(/^[a-z][a-z\d+.-]*:\/\//i.test(typed) ? typed : `${scheme}://${typed}`, "argument");
  if (server !== null && /^\S+$/.test(typed)) return server;
  throw usage(`"${typed}" is no address of a server. Give one such as https://svc.example.org or localhost:8787.`);
}
