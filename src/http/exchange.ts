/** The exchange of a request and its answer: the facts of HTTP that routes, serving and the log share. */
import type { ErrorCode } from "../base/errors.ts";
import { newRequestId } from "../base/tokens.ts";
import { visible } from "../base/visible.ts";
import type { HostTraffic } from "../run/bulletin.ts";

/** The other end of a connection. To ask for its address costs a tenth of a small request, so it is asked for only when
 *  it is needed. */
export interface Peer {
  /** The address of the socket's other end: `-` once it is closed, null on a unix socket. */
  address(): string | null;
  /** Seconds without traffic before the connection is cut, for this request. */
  extendTimeout(seconds: number): void;
  /** So many answers are under way that each must hold little: over HTTP/2 a connection has a hundred of them. */
  crowded(): boolean;
}

/** The facts of a deploy that the log's line has in addition to those of the request, as far as they are known. */
export interface DeployFacts {
  /** The name of the line: a deploy goes live, a preview is shown next to the live version. */
  event: "deploy" | "preview";
  /** `anonymous`, `manage_token`, the account_id or a deploy token's id; null for a credential that is unknown here. */
  by: string | null;
  site_id?: string;
  slug?: string;
  /** Milliseconds from the first byte of the upload that was read to the last. */
  receiving_ms?: number;
  done?: {
    version_id: string;
    /** The size of the upload. */
    files: number;
    bytes: number;
    /** Milliseconds. */
    stages: Readonly<Record<string, number>>;
    healed: readonly string[];
    warnings: readonly string[];
  };
}

/** A change of what a site shows, or of whose it is, without an upload: the log has a line for it (CONTRACT 7). */
export interface ChangeFacts {
  event: "rollback" | "promote" | "claim";
  by: string | null;
  site_id: string;
  slug: string;
  /** The versions that were live before and after; a claim moves none. */
  from?: string;
  version_id?: string;
}

/** A site whose visits are counted, as far as that needs to know it (BEYOND 11). */
export interface CountedSite {
  readonly site_id: string;
  readonly slug: string;
  /** Its domains: a visitor who comes from one of them was here before. */
  domains: readonly string[];
}

/** One request on its way through: what error pages and the access log need to know of it. */
export class Exchange {
  /** Bytes of the Response's body: 0 for a 304. The code that makes the Response sets it; an answer to HEAD sends no
   *  body all the same. */
  bytes = 0;
  /** Asked of the API's host: set as soon as that is known. */
  on_api = false;
  /** The site is in quarantine: whatever it is answered with leads nowhere else. */
  held = false;
  /** The site wants a password: no cache may keep the answer for others. */
  shut = false;
  /** The client may see a site that wants a password. */
  admitted = false;
  /** The host is a domain whose owner wants https alone. */
  insists = false;
  /** The code of the refusal that is the answer. */
  code: ErrorCode | null = null;
  /** Null if the request is neither a deploy nor a preview. */
  deploy: DeployFacts | null = null;
  /** Null until the request has changed a site in one of these ways. */
  change: ChangeFacts | null = null;
  /** The count of its host's bytes; null for a host that is none here. */
  traffic: HostTraffic | null = null;
  /** The site whose visit it is, if it is one: its live host answers with a page, or with none. */
  counted: CountedSite | null = null;
  /** Values of Set-Cookie, for the answer whatever it will be. */
  cookies: string[] | null = null;
  #request_id: string | undefined;
  #address: string | null = null;
  /** The start, by the clock of `performance.now()`; 0 until it is first asked for. */
  started = 0;
  constructor(readonly peer: Peer) {}
  /** The peer's, asked once: a client that leaves takes it along. */
  address(): string | null {
    return (this.#address ??= this.peer.address());
  }
  /** Milliseconds since it began. */
  elapsed_ms(): number {
    return performance.now() - this.started;
  }
  setCookie(value: string): void {
    (this.cookies ??= []).push(value);
  }
  /** Made when first asked: most answers of a site never show it. */
  get request_id(): string {
    return (this.#request_id ??= newRequestId());
  }
}

/** The path of a request as Bun parsed it: still percent-encoded, without query. Slicing costs a fiftieth of `new URL`. */
export function pathOf(url: string): string {
  // Without a usable Host, Bun's `request.url` is the bare target (BUN 2).
  const start = url.charCodeAt(0) === 47 ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  const fragment = url.indexOf("#", start);
  const end = query === -1 ? fragment : fragment === -1 ? query : Math.min(query, fragment);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/** `?…` of a request, or the empty string. */
export function queryOf(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? "" : url.slice(query);
}

/** A browser's navigation, as against a program: its errors are pages, not JSON. */
export const wantsHtml = (request: Request): boolean => request.headers.get("accept")?.includes("text/html") ?? false;

const LONGEST_CLIENT = 200;

/** The name that a client gives itself, for the list of sessions and the page that approves a device. It is never
 *  believed. */
export const clientOf = ({ headers }: Request): string =>
  visible(headers.get("user-agent")?.trim() ?? "").slice(0, LONGEST_CLIENT) || "unknown";
