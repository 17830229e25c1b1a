/** A site with comments, visitors who write, and agents with tokens: what the tests of MCP and of webhooks begin with. */
import { FREELY } from "./commented.ts";
import { type DeployResult, JSON_TYPE, type Setting, startServer, type TestServer } from "../kit/server.ts";

const PAGE = `<!doctype html><html lang="en"><head><title>Guide</title></head><body><h1>Guide</h1>
<p>On a normal connection deploys finish in two seconds and return a live URL.</p></body></html>`;

export interface Posted {
  id: string;
  /** `svc_cmt=…` of whoever wrote it. */
  cookie: string;
}

export class Commented {
  constructor(
    readonly server: TestServer,
    readonly site: DeployResult,
  ) {}

  /** As the site's manager, below `/sites/:id/comments/`. */
  manage(path: string, method = "GET", body?: unknown): Promise<Response> {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${this.site.manage_token}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.server.api(`/sites/${this.site.site_id}/comments/${path}`, { method, headers, ...sent });
  }

  async configure(change: object): Promise<void> {
    const answer = await this.manage("settings", "PATCH", change);
    if (answer.status !== 200) throw new Error(`settings: ${answer.status} ${await answer.text()}`);
  }

  async decide(id: string, action: "approve" | "reject" | "resolve" | "reopen"): Promise<void> {
    const answer = await this.manage(`${id}/${action}`, "POST", {});
    if (answer.status !== 200) throw new Error(`${action}: ${answer.status} ${await answer.text()}`);
  }

  async token(scopes: string[], name = "docs-bot"): Promise<string> {
    const answer = await this.manage("tokens", "POST", { name, scopes });
    return ((await answer.json()) as { token: string }).token;
  }

  private async send(annotation: object, cookie: string | null): Promise<Posted> {
    const headers = { ...JSON_TYPE, "sec-fetch-site": "same-origin", ...(cookie !== null && { cookie }) };
    const init = { method: "POST", headers, body: JSON.stringify(annotation) };
    const answer = await this.server.site(this.site.slug, "/_svc/comments/", init);
    if (answer.status !== 201) throw new Error(`post: ${answer.status} ${await answer.text()}`);
    const set = answer.headers.getSetCookie().find((one) => one.startsWith("svc_cmt="));
    return { id: answer.headers.get("location")!.split("/").at(-1)!, cookie: set?.split(";")[0] ?? cookie! };
  }
  /** A visitor begins a thread about the words of the page. */
  comment(text: string, { cookie = null as string | null, page = "/guide.html", exact = "two seconds" } = {}) {
    const source = new URL(page, this.site.url).href;
    const selector = [{ type: "TextQuoteSelector", exact, prefix: "deploys finish in ", suffix: " and return" }];
    const body = { type: "TextualBody", value: text, format: "text/plain" };
    return this.send({ type: "Annotation", motivation: "commenting", body, target: { source, selector } }, cookie);
  }
  answer(thread_id: string, text: string, cookie: string | null = null): Promise<Posted> {
    const target = new URL(`/_svc/comments/${thread_id}`, this.site.url).href;
    return this.send(
      { type: "Annotation", motivation: "replying", body: { type: "TextualBody", value: text }, target },
      cookie,
    );
  }
  report(id: string, reason = "spam"): Promise<Response> {
    const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ reason }) };
    return this.server.site(this.site.slug, `/_svc/comments/${id}/report`, init);
  }

  get mcp_url(): string {
    return `http://127.0.0.1:${this.server.port}/sites/${this.site.site_id}/comments/mcp`;
  }
}

/** Another site on a server that is there. */
export async function commentedSite(server: TestServer, mode = "anonymous"): Promise<Commented> {
  const site = await server.deploy({ "guide.html": PAGE, "index.html": PAGE });
  const commented = new Commented(server, site);
  await commented.configure({ mode });
  return commented;
}

export async function startCommented(...settings: Setting[]): Promise<Commented> {
  return commentedSite(await startServer(FREELY, ...settings));
}

/** What stands in a tool's result. */
export interface ToolResult {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, any>;
  isError?: boolean;
}
