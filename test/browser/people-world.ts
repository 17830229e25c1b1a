/** The worlds in which a person uses a browser: a server without a certificate and one with, on the names of a real
 *  domain, and a Chromium that finds both. */
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { PASSWORD } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";

export interface World {
  server: TestServer;
  base: string;
  scheme: "http" | "https";
  domain: string;
  /** The name of the session cookie. */
  cookie: string;
}
export interface Worlds extends AsyncDisposable {
  http: World;
  https: World;
  browser: Browser;
}

async function openWorld(scheme: World["scheme"], domain: string, flags: string[] = []): Promise<World> {
  const base = `${scheme}://${domain}`;
  const server = await startServer("--base-url", base, "--sites-domain", domain, ...flags);
  return { server, base, scheme, domain, cookie: scheme === "https" ? "__Host-svc_session" : "svc_session" };
}

export async function openWorlds(): Promise<Worlds> {
  const http = await openWorld("http", "plain.test");
  const https = await openWorld("https", "svc.test", ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY]);
  const addresses = [http, https].flatMap(({ domain, server }) =>
    [domain, `*.${domain}`].map((host) => [host, `127.0.0.1:${server.port}`]),
  );
  const domains = Object.fromEntries(addresses) as Record<string, string>;
  const browser = await openBrowser({ domains, switches: ["--ignore-certificate-errors"] });
  return {
    http,
    https,
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await http.server[Symbol.asyncDispose]();
      await https.server[Symbol.asyncDispose]();
    },
  };
}

/** A program's call, past name and certificate. */
export const ask = (
  world: World,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${world.scheme}://127.0.0.1:${world.server.port}${path}`, {
    method,
    headers: { host: world.domain, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && {
      body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    }),
    tls: { rejectUnauthorized: false },
  });

let people = 0;
/** An e-mail address that nobody has. */
export const newAddress = (name: string): string => `${name}${++people}@example.org`;

/** Makes an account on the sign-up page, by keyboard alone. */
export async function signUpByHand(browser: Browser, world: World): Promise<string> {
  const email = newAddress("person");
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(`${world.base}/signup`, "Create an account");
  await browser.evaluate("document.querySelector('#email').focus()");
  await browser.type(email);
  await browser.press("Tab");
  await browser.type(PASSWORD);
  await browser.press("Enter");
  return email;
}
