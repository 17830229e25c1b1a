/** A visitor who comments on a site's pages, without a browser. */
import { bearer } from "../kit/people.ts";
import type { DeployResult, TestServer } from "../kit/server.ts";

type Site = Pick<DeployResult, "site_id" | "slug" | "url">;

export interface Quoted {
  page?: string;
  exact?: string;
  prefix?: string;
  suffix?: string;
}

export class Commenter {
  private cookie = "";
  constructor(
    private readonly server: TestServer,
    private readonly site: Site,
  ) {}

  /** Below `/_svc/comments/`; keeps the cookie that it is given. */
  async send(method: string, path: string, body?: unknown): Promise<Response> {
    const { origin } = new URL(this.site.url);
    const answer = await this.server.site(this.site.slug, `/_svc/comments/${path}`, {
      method,
      headers: { origin, "content-type": "application/json", ...(this.cookie && { cookie: this.cookie }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const set = answer.headers.get("set-cookie");
    if (set?.startsWith("svc_cmt=")) this.cookie = set.split(";", 1)[0]!;
    return answer;
  }

  /** The id of what was written. */
  private async write(annotation: object): Promise<string> {
    const answer = await this.send("POST", "", annotation);
    if (answer.status !== 201) throw new Error(`the comment was answered ${answer.status}: ${await answer.text()}`);
    return answer.headers.get("location")!.split("/").at(-1)!;
  }

  comment(text: string, { page = "/", exact, prefix = "", suffix = "" }: Quoted = {}): Promise<string> {
    const selector = exact === undefined ? [] : [{ type: "TextQuoteSelector", exact, prefix, suffix }];
    return this.write({
      motivation: "commenting",
      body: { type: "TextualBody", value: text },
      target: { source: this.site.url + page, ...(selector.length > 0 && { selector }) },
    });
  }

  reply(id: string, text: string): Promise<string> {
    const target = `${this.site.url}/_svc/comments/${id}`;
    return this.write({ motivation: "replying", body: { type: "TextualBody", value: text }, target });
  }

  rename = (name: string): Promise<Response> => this.send("PATCH", "me", { name });

  report = (id: string, reason: string, text: string): Promise<Response> =>
    this.send("POST", `${id}/report`, { reason, text });
}

/** The owner's calls on the API's host, by any bearer token of the site or its account. */
export const ownerCalls =
  (server: TestServer, { site_id }: Pick<Site, "site_id">, token: string) =>
  async (method: string, path: string, body?: unknown): Promise<Response> =>
    server.api(`/sites/${site_id}/comments/${path}`, {
      method,
      headers: { ...bearer(token), ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

/** Turns comments on. */
export async function turnOn(server: TestServer, site: DeployResult, mode: string, passcode?: string): Promise<void> {
  const body = { mode, ...(passcode && { passcode }) };
  const answer = await ownerCalls(server, site, site.manage_token)("PATCH", "settings", body);
  if (answer.status !== 200)
    throw new Error(`turning comments on was answered ${answer.status}: ${await answer.text()}`);
}
