/** A site with comments, its owner, and visitors who come by HTTP: what the tests of comments speak with. */
import { expect } from "bun:test";
import { bearer, PASSWORD } from "../kit/people.ts";
import { type Contents, type DeployResult, JSON_TYPE, type TestServer } from "../kit/server.ts";

export const PAGE =
  "<!doctype html><html><head><title>Guide</title></head><body><h1>Guide</h1><p>On a normal connection deploys finish in two seconds and return a live URL.</p></body></html>";
export const PAGES: Contents = {
  "index.html": PAGE,
  "guide.html": PAGE,
  "docs/index.html": PAGE,
  "logo.svg": "<svg/>",
};

/** No limit of calls: all visitors of a test come from one address. */
export const FREELY = {
  SVC_RATE_COMMENT: "off",
  SVC_RATE_COMMENT_IDENTITY: "off",
  SVC_RATE_COMMENT_SITE: "off",
  SVC_RATE_PASSCODE: "off",
  SVC_RATE_RENAME: "off",
  SVC_RATE_OWNER_CODE: "off",
  SVC_RATE_MODERATION: "off",
};

/** What a test reads of an answer: what it expects of it is the test, so nothing is known before. */
// `any`: a shape here would be believed and not tested.
export type Json = any;

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; null where it is none. */
  body: Json;
}

export async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json") === true && text !== "";
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : null };
}

interface Sent {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Mode = "off" | "anonymous" | "passcode" | "approved";
export const PASSCODE = "open sesame";

/** Somebody at a browser: keeps the cookies that it is given. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  constructor(readonly place: CommentedSite) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
  /** The first cookie's value of that name, as it was set. */
  value(name: string): string {
    return this.cookies.get(name) ?? "";
  }

  /** `path`: below /_svc/comments/, or from the root. */
  async send(path: string, { method = "GET", body, headers = {} }: Sent = {}): Promise<Answered> {
    const { server, site, origin } = this.place;
    const at = path.startsWith("/") ? path : `/_svc/comments/${path}`;
    const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof URLSearchParams;
    const response = await server.site(site.slug, at, {
      method,
      headers: {
        ...(method !== "GET" && { origin }),
        ...(body !== undefined && !raw && JSON_TYPE),
        ...(this.cookie !== "" && { cookie: this.cookie }),
        ...headers,
      },
      ...(body !== undefined && { body: (raw ? body : JSON.stringify(body)) as NonNullable<RequestInit["body"]> }),
    });
    this.keep(response.headers);
    return answered(response);
  }
  private keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name, value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      if (attributes.some((one) => one.startsWith("Domain="))) continue;
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }

  annotation(text: string, target: unknown, members: object = {}): object {
    return { type: "Annotation", body: { type: "TextualBody", value: text }, target, ...members };
  }
  post(text: string, page = "/guide.html", members: object = {}): Promise<Answered> {
    const body = this.annotation(text, `${this.place.origin}${page}`, members);
    return this.send("", { method: "POST", body });
  }
  /** A comment that was taken: its id. */
  async say(text: string, page?: string): Promise<string> {
    return idOf(await this.post(text, page));
  }
  answer(text: string, thread: string, members: object = {}): Promise<Answered> {
    const target = `${this.place.origin}/_svc/comments/${thread}`;
    return this.send("", {
      method: "POST",
      body: this.annotation(text, target, { motivation: "replying", ...members }),
    });
  }
  async reply(text: string, thread: string): Promise<string> {
    return idOf(await this.answer(text, thread));
  }
  async threads(page = "/guide.html", since?: string): Promise<Answered["body"]> {
    const cursor = since === undefined ? "" : `&since=${encodeURIComponent(since)}`;
    const seen = await this.send(`threads?page=${encodeURIComponent(page)}${cursor}`);
    expect(seen.status).toBe(200);
    return seen.body;
  }
  async texts(page?: string): Promise<(string | null)[]> {
    const { threads } = await this.threads(page);
    return threads.flatMap(({ comments }: { comments: { text: string | null }[] }) => comments.map(({ text }) => text));
  }
  /** By If-Match of what the comment is now. */
  async edit(id: string, text: string): Promise<Answered> {
    const etag = (await this.send(id)).headers.get("etag") ?? '"a1"';
    return this.send(id, { method: "PUT", body: this.annotation(text, "x"), headers: { "if-match": etag } });
  }
}

export const idOf = ({ status, body, text }: Answered): string => {
  if (status !== 201 && status !== 200) throw new Error(`answered ${status}: ${text}`);
  return String(body.id).split("/").at(-1)!;
};

export class CommentedSite {
  constructor(
    readonly server: Pick<TestServer, "api" | "site">,
    readonly site: DeployResult,
  ) {}
  get origin(): string {
    return new URL(this.site.url).origin;
  }
  visitor(): Visitor {
    return new Visitor(this);
  }
  /** `/sites/:id/comments/…` with the manage_token, or as somebody else. */
  async api(path: string, { method = "GET", body, headers = bearer(this.site.manage_token) }: Sent = {}) {
    const response = await this.server.api(`/sites/${this.site.site_id}/comments/${path}`, {
      method,
      headers: { ...(body !== undefined && JSON_TYPE), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answered(response);
  }
  async turn(mode: Mode, passcode = mode === "passcode" ? PASSCODE : undefined): Promise<Answered> {
    return this.api("settings", { method: "PATCH", body: { mode, ...(passcode !== undefined && { passcode }) } });
  }
  decide(id: string, action: string, note?: string): Promise<Answered> {
    return this.api(`${id}/${action}`, { method: "POST", ...(note !== undefined && { body: { note } }) });
  }
  /** An account that the site belongs to from then on; the manage_token stays. */
  async account(): Promise<{ authorization: string }> {
    const post = async (path: string, body: object, headers: Record<string, string> = {}) =>
      answered(
        await this.server.api(path, {
          method: "POST",
          headers: { ...JSON_TYPE, ...headers },
          body: JSON.stringify(body),
        }),
      );
    const email = `${this.site.site_id}@example.org`;
    const session = bearer((await post("/auth/signup", { email, password: PASSWORD })).body.session_token);
    const { claim_token } = this.site;
    expect((await post(`/sites/${this.site.site_id}/claim`, { claim_token }, session)).status).toBe(200);
    return session;
  }
  /** The browser of the owner's account, which may delete. */
  async accountOwner(): Promise<Visitor> {
    return this.owner(await this.account());
  }
  /** The owner's browser, by a code of a manage_token or of whoever else `headers` are. */
  async owner(headers: Record<string, string> = bearer(this.site.manage_token)): Promise<Visitor> {
    const { body } = await this.api("owner-code", { method: "POST", body: {}, headers });
    const owner = this.visitor();
    const { status } = await owner.send("owner", { method: "POST", body: { code: body.code } });
    expect(status).toBe(204);
    return owner;
  }
  async feed(path = "/guide.comments.json"): Promise<Answered["body"]> {
    return (await this.visitor().send(path)).body;
  }
}

/** A new site in a mode. */
export async function commentedSite(
  server: TestServer,
  mode: Mode = "anonymous",
  files: Contents = PAGES,
): Promise<CommentedSite> {
  // No two alike: equal files are one version, but sites are told apart by their slug.
  const place = new CommentedSite(server, await server.deploy(files));
  if (mode !== "off") expect((await place.turn(mode)).status).toBe(200);
  return place;
}

/** Somebody at an address, with a browser of their own. */
export class Caller extends Visitor {
  constructor(
    place: CommentedSite,
    readonly address: string,
  ) {
    super(place);
  }
  override send(path: string, sent: Parameters<Visitor["send"]>[1] = {}): Promise<Answered> {
    return super.send(path, { ...sent, headers: { "x-forwarded-for": this.address, ...sent.headers } });
  }
  /** Somebody else at the same address: without a cookie each post is a new visitor. */
  stranger(): Caller {
    return new Caller(this.place, this.address);
  }
}
