/** The proxy that the environment names for a URL, as Bun's fetch reads it. */
import { isLoopback } from "../../client/loopback.ts";
import type { Server } from "../saved/server.ts";
import type { Env } from "../terminal/index.ts";

/** An entry of NO_PROXY: a host with all below it, at one port or at any. */
function isExempt({ hostname, port, protocol }: URL, entry: string): boolean {
  if (entry === "*") return true;
  const [, host, at] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!;
  if (!host || (at !== undefined && at !== (port || (protocol === "https:" ? "443" : "80")))) return false;
  return hostname === host || hostname.endsWith(`.${host}`);
}

/** The proxy as a person knows it, without its password; null where a request uses none.
 *  Node's fetch takes no proxy from the environment. */
function proxyFor(base: string, env: Env): string | null {
  const url = new URL(base);
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variables = [name, name.toUpperCase(), "all_proxy", "ALL_PROXY"];
  const variable = variables.find((one) => env[one]);
  if (variable === undefined || isLoopback(url) || process.versions.bun === undefined) return null;
  const exempt = (env["no_proxy"] || env["NO_PROXY"] || "").split(",").map((entry) => entry.trim());
  if (exempt.some((entry) => isExempt(url, entry))) return null;
  const proxy = env[variable]!;
  const full = proxy.includes("://") ? proxy : `http://${proxy}`;
  return URL.canParse(full) ? `${new URL(full).origin} (${variable})` : `of ${variable}`;
}

export const proxyOf = ({ base }: Server): string | null => proxyFor(base, process.env);

/** Where there is a proxy, it may be what failed. */
export function throughProxy(server: Server): string {
  const proxy = proxyOf(server);
  return proxy === null ? "" : ` through the proxy ${proxy}`;
}
