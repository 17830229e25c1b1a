/** Sites with comments on the names of a real domain, under https: cookies and neighbours behave as they do outside
 *  (COMMENTS 4: tests on `*.localhost` prove nothing). And a Chromium that finds them. */
import { TLS_CERT, TLS_KEY } from "../../kit/paths.ts";
import { type Contents, type DeployResult, startServer, type TestServer, ZIP } from "../../kit/server.ts";
import { zipOf } from "../../kit/zip.ts";
import { type Browser, openBrowser } from "../chromium.ts";

const DOMAIN = "svc.test";
const UNLIMITED = {
  SVC_RATE_COMMENT: "off",
  SVC_RATE_COMMENT_IDENTITY: "off",
  SVC_RATE_COMMENT_SITE: "off",
};

interface Quote {
  exact: string;
  prefix?: string;
  suffix?: string;
}

/** Somebody who writes without a browser. */
export interface Stranger {
  cookie: string;
}

export interface Written {
  id: string;
  iri: string;
}

export class CommentedSite {
  readonly origin: string;
  constructor(
    private readonly world: World,
    readonly deployed: DeployResult,
  ) {
    this.origin = `https://${deployed.slug}.${DOMAIN}`;
  }

  async settings(change: Record<string, unknown>): Promise<void> {
    await this.manage("PATCH", "settings", change);
  }

  /** The address that makes a browser the owner's, once: by the manage_token, so that it deletes nothing, or by a session. */
  async ownerUrl(token = this.deployed.manage_token): Promise<string> {
    return ((await this.manage("POST", "owner-code", {}, token)) as { url: string }).url;
  }
  /** The same by the session of an account that the site belongs to from then on. */
  async accountUrl(): Promise<string> {
    const { site_id, claim_token } = this.deployed;
    const account = { email: `${site_id}@example.org`, password: "correct horse battery" };
    const { session_token } = (await this.post("/auth/signup", account)) as { session_token: string };
    await this.post(`/sites/${site_id}/claim`, { claim_token }, session_token);
    return this.ownerUrl(session_token);
  }

  private post = (path: string, body: object, token?: string): Promise<unknown> => this.call("POST", path, body, token);

  private manage(method: string, path: string, body: object, token = this.deployed.manage_token): Promise<unknown> {
    return this.call(method, `/sites/${this.deployed.site_id}/comments/${path}`, body, token);
  }

  private async call(method: string, path: string, body: object, token?: string): Promise<unknown> {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { "content-type": "application/json", ...authorization };
    const response = await this.world.ask(DOMAIN, path, { method, body: JSON.stringify(body), headers });
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async redeploy(files: Contents): Promise<void> {
    const { site_id, manage_token } = this.deployed;
    const headers = { ...ZIP, authorization: `Bearer ${manage_token}` };
    const path = `/sites/${site_id}/deploys`;
    const response = await this.world.ask(DOMAIN, path, { method: "POST", body: zipOf(files), headers });
    if (!response.ok) throw new Error(`a deploy was answered ${response.status}: ${await response.text()}`);
  }

  /** As a page of the site asks. */
  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { origin: this.origin, "sec-fetch-site": "same-origin", ...(init.headers as object) };
    return this.world.ask(new URL(this.origin).host, path, { ...init, headers });
  }

  /** A comment by whoever has the cookie, or by somebody new. */
  async write(text: string, target: unknown, by?: Stranger): Promise<Written & Stranger> {
    const response = await this.ask("/_svc/comments/", {
      method: "POST",
      body: JSON.stringify({ body: text, target }),
      headers: { "content-type": "application/json", ...(by && { cookie: by.cookie }) },
    });
    const body = (await response.json()) as { id: string };
    if (!response.ok) throw new Error(`a comment was answered ${response.status}: ${JSON.stringify(body)}`);
    const cookie = by?.cookie ?? response.headers.getSetCookie().join().split(";")[0]!;
    return { cookie, iri: body.id, id: body.id.split("/").pop()! };
  }

  /** On a passage of a page. */
  writeOn(quote: Quote, text: string, { page = "/index.html", by }: { page?: string; by?: Stranger } = {}) {
    const selector = [{ type: "TextQuoteSelector", prefix: "", suffix: "", ...quote }];
    return this.write(text, { source: this.origin + page, selector }, by);
  }

  /** What a stranger reads of a page. */
  async texts(page = "/index.html"): Promise<string[]> {
    const response = await this.ask(`/_svc/comments/threads?page=${page}`);
    const { threads } = (await response.json()) as { threads: { comments: { text: string }[] }[] };
    return threads.flatMap(({ comments }) => comments.map(({ text }) => text));
  }
}

export class World {
  private constructor(
    readonly server: TestServer,
    readonly browser: Browser,
  ) {}

  static async open(...more: string[]): Promise<World> {
    const base = ["--base-url", `https://${DOMAIN}`, "--sites-domain", DOMAIN];
    const server = await startServer(...base, "--tls-cert", TLS_CERT, "--tls-key", TLS_KEY, UNLIMITED);
    const address = `127.0.0.1:${server.port}`;
    const domains = { [DOMAIN]: address, [`*.${DOMAIN}`]: address };
    return new World(server, await openBrowser({ domains, switches: ["--ignore-certificate-errors", ...more] }));
  }

  ask(host: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { host, ...(init.headers as object) };
    const tls = { rejectUnauthorized: false };
    return fetch(`https://127.0.0.1:${this.server.port}${path}`, { redirect: "manual", ...init, headers, tls });
  }

  /** A site of these files, with comments on in this mode. */
  async site(files: Contents, mode = "anonymous", more: Record<string, unknown> = {}): Promise<CommentedSite> {
    const response = await this.ask(DOMAIN, "/sites", { method: "POST", body: zipOf(files), headers: ZIP });
    if (!response.ok) throw new Error(`a deploy was answered ${response.status}: ${await response.text()}`);
    const site = new CommentedSite(this, (await response.json()) as DeployResult);
    await site.settings({ mode, ...more });
    return site;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.server[Symbol.asyncDispose]();
  }
}

/** A page of some length, with one passage that tests comment on. */
export const PASSAGE = "deploys finish in two seconds";
const FILLER = "<p>Boats come in at high water and leave before it falls. Nobody is in a hurry there.</p>";
export const article = (head = "", body = ""): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}
<title>Harbour guide</title>
<style>body { font: 17px/1.6 sans-serif; max-width: 38rem; margin: 3rem auto; padding: 0 1.2rem }</style></head>
<body><main><h1>Harbour guide</h1>
<p id="first">On a normal connection ${PASSAGE} and return a live URL.</p>
<p id="second">The tide tables are computed from the gauge at the pier.</p>
${body}${FILLER.repeat(12)}<p id="last">The last boat leaves at noon.</p></main></body></html>`;
