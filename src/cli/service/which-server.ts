/** Sentences for a person whose trouble may be which server was asked, or the proxy on the way to it (CONTRACT 8). */
import { GIVEN_SERVER } from "../../client/default-server.ts";
import { isLoopback } from "../../client/loopback.ts";
import { proxyFor } from "../../client/fetch.ts";
import { Failure } from "../failure.ts";
import { svc, svcServer } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import { type Credential, isDeployToken, session, signedInElsewhere } from "../saved/state.ts";
import type { Env } from "../terminal/index.ts";

const sentences = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part !== "").join(" ");

/** How to name another server; null if a person named this one, or a link did: then they know. */
const another = ({ chosen_by }: Server): string | null =>
  chosen_by === "login" || chosen_by === "build"
    ? `For another server: DEPLOY_URL=https://… ${svc()}, or ${svc("login <url>")}.`
    : null;

function elsewhere({ origin }: Server, env: Env): string | null {
  const other = signedInElsewhere(env, origin);
  return other === null ? null : `You are signed in to ${other}.`;
}

/** Follows a sentence that names the server. */
export const otherWays = (server: Server, env: Env = process.env): string =>
  sentences(another(server), elsewhere(server, env));

/** The line for a person who was given the program of one server and publishes on another: which one, and why. */
export function notTheGiven({ origin, chosen_by }: Server, given = GIVEN_SERVER): string | null {
  if (given === null || new URL(given).origin === origin) return null;
  if (chosen_by !== "DEPLOY_URL" && chosen_by !== "login") return null;
  return `On ${origin}, as ${chosen_by === "login" ? "your last login" : "DEPLOY_URL"} says. This svc came from ${given}.`;
}

/** How to start a server on this machine, if none was named. */
const startIt = (): string =>
  `Start one in another terminal with ${svcServer()}, or name yours: DEPLOY_URL=https://… ${svc()}, or ${svc("login <url>")}.`;

/** Says what to look at if nothing answers. `proxy` says whether there is one on the way. */
export function whereToLook(server: Server, proxy: boolean, env: Env = process.env): string {
  const { chosen_by, origin } = server;
  const network = proxy ? "the proxy and the network" : "the network";
  if (chosen_by === "build" && isLoopback(new URL(origin))) return sentences(startIt(), elsewhere(server, env));
  const look = {
    argument: proxy ? `Check the address, ${network}.` : `Check the address and ${network}.`,
    DEPLOY_URL: proxy ? `Check DEPLOY_URL, ${network}.` : `Check DEPLOY_URL and ${network}.`,
    link: `It is where this was deployed: check ${network}, and whether it runs.`,
    login: `It is the server of your last login: check ${network}, and whether it runs.`,
    build: `Check ${network}.`,
  }[chosen_by];
  return sentences(look, otherWays(server, env));
}

/** The credential of a command that needs an account; a failure without one. */
export function requireSession(env: Env, server: Server, command: string): Credential {
  const credential = session(env, server.origin);
  if (credential !== null && !isDeployToken(credential.token)) return credential;
  // Without an address `login` would ask another server than the one that the link names.
  const login = svc(server.chosen_by === "link" ? `login ${server.origin}` : "login");
  const way =
    credential === null
      ? `run ${login}, or set SVC_TOKEN.`
      : `${credential.from} has a deploy token, which opens nothing of it. Unset it, then run ${login}.`;
  throw new Failure(
    "unauthorized",
    sentences(`${svc(command)} needs your account: ${way}`, `The server is ${server.origin}.`, otherWays(server, env)),
  );
}

/** The proxy on the way to a server, without its password; null if there is none. */
function proxyNamed(base: string, env: Env): string | null {
  const proxy = proxyFor(new URL(base), env);
  if (proxy === null) return null;
  return proxy.url === null ? `of ${proxy.variable}` : `${proxy.url.protocol}//${proxy.url.host} (${proxy.variable})`;
}

export const proxyOf = ({ base }: Server): string | null => proxyNamed(base, process.env);

/** Names the proxy, if there is one: it may be what failed. */
export function throughProxy(server: Server): string {
  const proxy = proxyOf(server);
  return proxy === null ? "" : ` through the proxy ${proxy}`;
}

/** The status of a proxy that wants a name and a password (RFC 9110, 15.5.8). */
export const WANTS_A_USER = 407;

/** The failure for a proxy that answered a request itself. */
export function refusedByProxy(server: Server, status: number): Failure {
  const { origin, base } = server;
  const { url, variable } = proxyFor(new URL(base), process.env)!;
  const [why, way] =
    status === WANTS_A_USER
      ? ["it wants a user and a password", `Write them into ${variable} (${url!.protocol}//user:password@${url!.host})`]
      : ["it refuses", "Ask whoever runs it to let this server through"];
  const without = `or set NO_PROXY=${new URL(origin).hostname} if the server can be reached without it.`;
  return new Failure(
    "unreachable",
    `The proxy ${proxyOf(server)} let nothing through to ${origin}: ${why} (${status}). ${way}, ${without}`,
  );
}
