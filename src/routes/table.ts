/** The API, row by row, in the order of SPEC.md. Who may call what is decided in each handler's first lines. */
import type { Config } from "../config/index.ts";
import type { DeployPool } from "../deploy/pool.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Secrets, Store } from "../store/index.ts";
import type { Caller } from "../types.ts";
import {
  changeSite,
  deleteAccount,
  deleteSite,
  deleteSites,
  endSession,
  listSessions,
  listSites,
  readAccount,
} from "./account.ts";
import { login, logout, signup } from "./auth.ts";
import { bulkAttach, claim } from "./claim.ts";
import { makeChallenge } from "./challenge.ts";
import type { SessionCookie } from "../http/cookies.ts";
import { createSite, redeploy } from "./deploy.ts";
import { pollDevice, startDevice } from "./device.ts";
import type { Limiter } from "../http/rate-limit.ts";
import { readSite, rollback } from "./sites.ts";
import type { uploadsInFlight } from "./uploads.ts";

/** What handlers are given of the server around them. */
export interface ApiParts {
  config: Config;
  store: Store;
  pool: DeployPool;
  uploads: ReturnType<typeof uploadsInFlight>;
  limit: Limiter;
  secrets: Secrets;
  /** Whether it is the first time within `for_ms` that any worker is asked this. */
  spendOnce(secret: string, for_ms: number): Promise<boolean>;
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
  /** Headers of the answer, whatever it will be. */
  headers: Record<string, string>;
  /** What is to be done once the request is answered or refused. */
  after(end: () => void): void;
  cookie: SessionCookie;
  /** Of the API, as the client asked it. */
  origin: string;
  parts: ApiParts;
}

/** What a handler returns is the JSON body of a 200, or a whole answer of another kind. */
export type Handler = (ctx: Ctx) => Promise<unknown>;
/** `no_session`: whoever asks, their session is not looked at, so that a write by cookie needs no proof either. */
export type Route = readonly [
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  handler: Handler,
  opens?: "no_session",
];

const health: Handler = async () => ({ ok: true });

/** Clients hard-code none of these. */
const limits: Handler = async ({ parts: { config } }) => ({
  max_files: config.max_files,
  max_bytes: config.max_bytes,
  max_zip_bytes: config.max_zip_bytes,
  anonymous_ttl_ms: config.anonymous_ttl,
});

export const TABLE: readonly Route[] = [
  ["GET", "/healthz", health, "no_session"],
  ["GET", "/limits", limits, "no_session"],
  ["POST", "/challenge", makeChallenge, "no_session"],
  ["POST", "/sites", createSite],
  ["POST", "/sites/:id/deploys", redeploy],
  ["POST", "/sites/:id/rollback", rollback],
  ["GET", "/sites/:id", readSite],
  ["POST", "/sites/:id/claim", claim],
  ["POST", "/account/bulk-attach", bulkAttach],
  ["GET", "/account/sites", listSites],
  ["PATCH", "/account/sites/:id", changeSite],
  ["DELETE", "/account/sites/:id", deleteSite],
  ["POST", "/account/sites/bulk-delete", deleteSites],
  ["GET", "/account", readAccount],
  ["DELETE", "/account", deleteAccount],
  ["GET", "/account/sessions", listSessions],
  ["DELETE", "/account/sessions/:id", endSession],
  ["POST", "/auth/signup", signup, "no_session"],
  ["POST", "/auth/login", login, "no_session"],
  ["POST", "/auth/logout", logout],
  ["POST", "/auth/device/code", startDevice, "no_session"],
  ["POST", "/auth/device/token", pollDevice, "no_session"],
];
