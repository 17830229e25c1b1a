/** The API's handlers by noun: path → row → caller → handler → JSON. Refusals are thrown, and caught in app.ts. */
import type { API } from "../api/index.ts";
import type { RequestContext } from "../http/context.ts";
import { Refusal } from "../base/errors.ts";
import type { DeployFacts, Exchange } from "../http/exchange.ts";
import { answerEmpty, answerJson } from "../http/answers.ts";
import { type Caller, callerOf, signedOut } from "./caller.ts";
import { beginFacts, noteCaller } from "./deploys/facts.ts";
import { refuseForged } from "../http/csrf.ts";
import { matcher } from "../http/match.ts";
import type { ApiParts, Ctx, Route } from "./context.ts";

/** A refusal carries the headers that a handler has set before, too. */
function withHeaders(error: unknown, headers: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof Refusal) || Object.keys(headers).length === 0) return error;
  return new Refusal(error.code, error.message, error.details, { ...headers, ...error.headers });
}

const nothingHere = (): Refusal => new Refusal("not_found", "There is nothing at this address of the API.");

const writes = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD";

const ANONYMOUS: Caller = { kind: "anonymous" };

const EVENTS = new Map<string, DeployFacts["event"]>(
  Object.entries({
    "POST /sites": "deploy",
    "POST /sites/:id/deploys": "deploy",
    "POST /sites/:id/previews": "preview",
  } satisfies { readonly [Name in keyof typeof API]?: DeployFacts["event"] }),
);

/** The kind of deploy that the log has a line for; none for a dry run. */
function eventOf([method, path, , opens]: Route, query: URLSearchParams): DeployFacts["event"] | undefined {
  if (opens === "file_form") return "deploy";
  return query.get("dry_run") === "1" ? undefined : EVENTS.get(`${method} ${path}`);
}

/** The headers and later work that a handler adds to its answer. */
type Additions = Pick<Ctx, "headers" | "after">;

/** A cookie that opens nothing any more would refuse anonymous deploys for 90 days. */
function clearDeadCookie(caller: Caller, cookie: Ctx["cookie"], { headers }: Additions): void {
  if (caller.kind === "unknown") headers["set-cookie"] = cookie.cleared;
}

/** People type a slash after the address of a page. */
function withoutSlash(match: (path: string) => unknown, request: Request, path: string, exchange: Exchange): Response {
  const there = path.slice(0, -1);
  if (writes(request) || !path.endsWith("/") || match(there) === null) throw nothingHere();
  return answerEmpty(exchange, 308, { location: there + new URL(request.url).search });
}

export function createApi(parts: ApiParts, table: readonly Route[]) {
  const match = matcher(table);

  async function run(context: RequestContext, path: string, added: Additions): Promise<unknown> {
    const { request, exchange, client_address, query, cookie } = context;
    const atPath = match(path);
    if (atPath === null) return withoutSlash(match, request, path, exchange);
    const { row, params } = atPath(request.method);
    const [, , handler, opens] = row;
    if (writes(request)) added.after(parts.writes.hold(client_address()));
    const event = eventOf(row, query);
    if (event !== undefined) beginFacts(exchange, event);
    const takes_file = opens === "file_form";
    const caller = opens === "no_session" ? ANONYMOUS : await identify({ ...context, parts }, takes_file);
    const authorization = request.headers.get("authorization");
    noteCaller(exchange, caller);
    if (authorization === null) clearDeadCookie(caller, cookie, added);
    return handler({
      ...context,
      params,
      caller,
      token: authorization?.replace(/^bearer +/i, "") ?? null,
      ...added,
      parts,
    });
  }

  return (context: RequestContext, path: string): Promise<Response> =>
    answered(context.exchange, (added) => run(context, path, added));
}

/** Finds the caller. A browser that is signed in proves that a page of ours makes its writes. */
async function identify(
  { request, origin, cookie, parts }: Pick<Ctx, "request" | "origin" | "cookie" | "parts">,
  takes_file: boolean,
): Promise<Caller> {
  const caller = await callerOf(request, parts.store, cookie);
  if (writes(request) && caller.kind === "account" && caller.by === "cookie") {
    await refuseForged(request, caller.session_id, { origin, secret: parts.secrets.csrf, takes_file });
  }
  if (writes(request) && caller.kind === "anonymous" && request.headers.has("svc-csrf")) throw signedOut();
  return caller;
}

/** Answers what `run` returns or throws, with the headers that it added; then does what it put off. */
async function answered(exchange: Exchange, run: (added: Additions) => Promise<unknown>): Promise<Response> {
  const headers: Record<string, string> = {};
  const endings: (() => void)[] = [];
  try {
    const body = await run({ headers, after: (end) => void endings.push(end) });
    if (!(body instanceof Response)) return answerJson(body, exchange, 200, headers);
    for (const [name, value] of Object.entries(headers)) body.headers.set(name, value);
    return body;
  } catch (error) {
    throw withHeaders(error, headers);
  } finally {
    for (const end of endings) end();
  }
}
