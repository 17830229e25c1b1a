/** Why no answer came. */
import { direct } from "../../client/loopback.ts";
import { TooLongAnswer } from "../../client/bounded-body.ts";
import { Failure } from "../failure.ts";
import type { Server } from "../saved/server.ts";
import { proxyOf, throughProxy } from "./proxy.ts";
import { unexpected } from "./refusal.ts";
import { otherWays, whereToLook } from "./which-server.ts";

/** `ECONNREFUSED` and the like: Bun has it on the error, Node on its cause. */
function reasonOf(error: unknown): string {
  const { code, name, message, cause } = Object(error) as {
    code?: string;
    name?: string;
    message?: string;
    cause?: { code?: string; message?: string };
  };
  if (name === "TimeoutError") return name;
  return code ?? cause?.code ?? cause?.message ?? name ?? message ?? "no answer";
}

/** The code of Bun's error where the proxy refuses to connect to the server. */
const REFUSED_BY_PROXY = "ERR_PROXY_TUNNEL";

/** In these cases nothing was sent, and a second try at once would fail in the same way. */
const NO_CONNECTION = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "bad port",
  "TimeoutError",
  REFUSED_BY_PROXY,
]);

/** Parts of OpenSSL's codes for a certificate that cannot be trusted. */
const UNTRUSTED = /CERT|SIGNATURE|CRL|ALTNAME/;
/** The other side did not speak TLS, or spoke something else than HTTP. */
const OTHER_SCHEME = /^(EPROTO|ECONNRESET|ConnectionClosed|UND_ERR_SOCKET|HPE_|ERR_SSL_|Malformed_HTTP_Response)/;

export const wasNeverSent = (error: unknown): boolean => NO_CONNECTION.has(reasonOf(error));

const PROBE_MS = 3_000;

/** The address under the other scheme, where that is what the port speaks. No token is sent to find out. */
async function underOtherScheme({ origin }: Server): Promise<string | null> {
  const url = new URL(origin);
  // Without a port the two schemes are two servers.
  if (url.port === "") return null;
  url.protocol = url.protocol === "https:" ? "http:" : "https:";
  const init = { signal: AbortSignal.timeout(PROBE_MS), redirect: "manual" as const, ...direct(url) };
  const answers = await fetch(new URL("/healthz", url), init).then(
    async (response) => {
      await response.body?.cancel();
      // What refuses plain requests on its port for TLS says so by a 400.
      return response.status !== 400;
    },
    (error: unknown) => UNTRUSTED.test(reasonOf(error)),
  );
  return answers ? url.origin : null;
}

/** `begun`: it broke off, so that the port speaks what was asked. */
export async function unreachable(server: Server, error: unknown, begun = false): Promise<Failure> {
  if (error instanceof TooLongAnswer) {
    return unexpected(server, 200, `${server.origin} sent ${error.message}: that is no answer of an svc server.`);
  }
  const reason = reasonOf(error);
  const via = throughProxy(server);
  if (UNTRUSTED.test(reason)) {
    const way = "For a certificate authority of your own set NODE_EXTRA_CA_CERTS to its PEM file.";
    const look = server.chosen_by === "DEPLOY_URL" ? "Check DEPLOY_URL. " : "";
    const sentence = `The certificate of ${server.origin} is not to be trusted (${reason}). ${look}${way}`;
    return new Failure("untrusted", `${sentence} ${otherWays(server)}`.trim());
  }
  if (NO_CONNECTION.has(reason) && reason !== "TimeoutError") {
    const look = whereToLook(server, proxyOf(server) !== null);
    return new Failure("unreachable", `No server answers at ${server.origin}${via}. ${look}`);
  }
  return new Failure("unreachable", `${await broken(server, reason, via, begun)} ${otherWays(server)}`.trim());
}

async function broken(server: Server, reason: string, via: string, begun: boolean): Promise<string> {
  const { origin } = server;
  if (reason === "TimeoutError") return `${origin} did not answer in time${via}. Try again.`;
  const other = !begun && OTHER_SCHEME.test(reason) ? await underOtherScheme(server) : null;
  if (other === null) return `The connection to ${origin}${via} broke (${reason}). Try again.`;
  const [is, was] = [other, origin].map((one) => new URL(one).protocol.slice(0, -1));
  return `${new URL(origin).host} speaks ${is}, not ${was}: its address is ${other}.`;
}
