/** The context that a handler of the API gets, and the shape of a row in the API's table. */
import type { CommentParts } from "../comments/context.ts";
import type { Config } from "../config/index.ts";
import type { DomainService } from "../domains/index.ts";
import type { DeployPool } from "../deploy/pool.ts";
import type { Code } from "../http/codings.ts";
import type { RequestContext } from "../http/context.ts";
import type { Method } from "../http/match.ts";
import type { Limiter } from "../http/rate-limit.ts";
import type { Counts } from "../statistics/counts.ts";
import type { Secrets, Store } from "../store/index.ts";
import type { ManifestFile, Site } from "../base/types.ts";
import type { API } from "../api/index.ts";
import type { ApiCallers } from "../api/who.ts";
import type { Admitted, Caller } from "./caller.ts";

/** How a request on a site's host is answered, and why (BEYOND 5). */
export interface Explained {
  /** Null while the site's state hides every version. */
  version_id: string | null;
  status: number;
  by: string;
  file: ManifestFile | null;
  rule: { line: number; text: string; from: string; to: string; status: number; forced: boolean } | null;
  headers: Readonly<Record<string, string>>;
  header_rules: readonly { path: string; name: string; value: string | null; applied: boolean; reason?: string }[];
  steps: readonly { step: string; matched: boolean; why: string }[];
}

/** How much clients have under way. */
export interface InFlight {
  /** All bytes that are under way. */
  bytes(): number;
  /** Counts one more of the client's, of so many bytes, and returns the function that ends it. Throws 503 past a bound. */
  hold(address: string, bytes?: number): () => void;
}

/** The parts of the server that handlers use. */
export interface ApiParts {
  config: Config;
  store: Store;
  pool: DeployPool;
  /** Codes bodies that are coded once and kept. */
  code: Code;
  uploads: InFlight;
  /** Requests that are no GET. */
  writes: InFlight;
  limit: Limiter;
  secrets: Secrets;
  /** Whether no worker was asked this within the last `for_ms`. */
  spendOnce(secret: string, for_ms: number): Promise<boolean>;
  now: () => number;
  comments: CommentParts;
  domains: DomainService;
  statistics: Pick<Counts, "read">;
  /** Why a site's address answers as it does; null if the site has no such host. */
  explain(
    request: Request,
    host: { slug: string; version_id: string | null; preview?: string; domain?: string },
  ): Promise<Explained | null>;
  /** A version may have gone live: its coded bodies can be made now. */
  published(site: Site, version_id: string): void;
}

export interface Ctx extends RequestContext {
  params: Readonly<Record<string, string>>;
  caller: Caller;
  /** The bearer token as it was sent; null without one. */
  token: string | null;
  /** Headers of the answer, whatever it will be. */
  headers: Record<string, string>;
  /** Puts something off until the request is answered or refused. */
  after(end: () => void): void;
  parts: ApiParts;
}

/** Returns the JSON body of a 200, or a whole answer of another kind. */
export type Handler = (ctx: Ctx) => Promise<unknown>;

/** For the handlers of rows that an account's session opens. */
export type AccountCtx = Ctx & Admitted<"account">;
/** For the handlers of rows that the keepers of a site may call: the site, and the credential to prove again when the change
 *  commits. */
export type SiteCtx = Ctx & Admitted<{ site: null }>;

/** The handler of a row of the API: it runs once its row has let the caller in. */
export type ApiHandler<By extends ApiCallers> = (ctx: Ctx & Admitted<By>) => Promise<unknown>;

/** The callers that a row of the API lets in. */
export type WhoOf<Row extends keyof typeof API> = (typeof API)[Row]["who"];

/** A handler for each row of the API: a row without one, or a handler without a row, does not compile. */
export type ApiHandlers = { readonly [Row in keyof typeof API]: ApiHandler<WhoOf<Row>> };

/** `no_session`: no session is looked at, so that a write by cookie needs no proof either. `file_form`: takes a form with a
 *  file. */
export type Route = readonly [method: Method, path: string, handler: Handler, opens?: "no_session" | "file_form"];
