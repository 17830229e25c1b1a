/** The API, row by row, in the order of SPEC.md. Who may call what is decided in each handler's first lines. */
import type { Config } from "../config.ts";
import type { DeployPool } from "../deploy/pool.ts";
import type { Exchange } from "../http.ts";
import type { Store } from "../store/index.ts";
import type { Caller } from "../types.ts";
import { createSite, redeploy } from "./deploy.ts";
import { readSite, rollback } from "./sites.ts";
import type { uploadsInFlight } from "./uploads.ts";

/** What handlers are given of the server around them. */
export interface ApiParts {
  config: Config;
  store: Store;
  pool: DeployPool;
  uploads: ReturnType<typeof uploadsInFlight>;
  now: () => number;
  /** A version may have gone live: whoever serves it can make its coded bodies now. */
  published(site_id: string, version_id: string): void;
}

export interface Ctx {
  request: Request;
  exchange: Exchange;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  caller: Caller;
  /** The bearer token as it was sent; null without one. */
  token: string | null;
  /** The client's address, behind trusted proxies too. */
  address(): string;
  parts: ApiParts;
}

/** What a handler returns is the JSON body of a 200. */
export type Handler = (ctx: Ctx) => Promise<unknown>;
export type Route = readonly [method: "GET" | "POST" | "PATCH" | "DELETE", path: string, handler: Handler];

const health: Handler = async () => ({ ok: true });

/** Clients hard-code none of these. */
const limits: Handler = async ({ parts: { config } }) => ({
  max_files: config.max_files,
  max_bytes: config.max_bytes,
  max_zip_bytes: config.max_zip_bytes,
  anonymous_ttl_ms: config.anonymous_ttl,
});

export const TABLE: readonly Route[] = [
  ["GET", "/healthz", health],
  ["GET", "/limits", limits],
  ["POST", "/sites", createSite],
  ["POST", "/sites/:id/deploys", redeploy],
  ["POST", "/sites/:id/rollback", rollback],
  ["GET", "/sites/:id", readSite],
];
