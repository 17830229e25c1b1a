/** An answer that is no success, in words for the person who typed the command. */
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import { isDeployToken, OWN_LINK, SAVED_SESSION, type Credential } from "../saved/state.ts";
import { otherWays, throughProxy } from "./which-server.ts";
import { duration } from "../terminal/units.ts";

/** The failure of a call, with the status, the code and the body of the answer. */
export class ApiFailure extends Failure {
  constructor(
    readonly status: number,
    code: string,
    message: string,
    readonly body: unknown = null,
    /** Seconds, of a call that came too often. */
    readonly retry_s: number | null = null,
  ) {
    super(code, message);
  }
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" ");

/** The failure if what answers is no svc server, or not the API of one. */
export const unexpected = (server: Server, status: number, sentence: string): ApiFailure =>
  new ApiFailure(status, "unexpected_answer", joined(sentence, otherWays(server)));

/** Statuses of a proxy in front of the server, with what to do. */
const BY_A_PROXY: Readonly<Record<number, string>> = {
  502: "A proxy in front of it does not reach the server. If the server is yours, see whether svc-server runs.",
  503: "A proxy in front of it, or the server, takes no requests now. Try again in a minute.",
  504: "A proxy in front of it waited too long for the server. Try again in a minute.",
};

/** The failure for an answer that is not the API's: a page, a redirect, a proxy's. */
export function strange(server: Server, { status, headers }: Response): ApiFailure {
  const moved = headers.get("location");
  const target = moved !== null && URL.canParse(moved, server.base) ? new URL(moved, server.base) : null;
  const hint =
    target === null
      ? (BY_A_PROXY[status] ?? "Is it the address of an svc server?")
      : `It points to ${target.href}: if that is your server, its address is ${target.origin}.`;
  return unexpected(
    server,
    status,
    `${server.origin} answered ${status}${throughProxy(server)} without saying why. ${hint}`,
  );
}

/** Whether the code shows that a site answered: a site gives it for any path, the API host for no path that the CLI asks for.
 *  But the API host says too that something below a site (a comment, a token) is not there, and an older one says it of
 *  deploy tokens. */
const isOfASite = (code: string, path: string): boolean =>
  code === "unknown_host" ||
  code === "method_not_allowed" ||
  (code === "not_found" && !/^\/(?:sites\/[^/]+\/|account\/tokens(?:\/|$))/.test(path));

/** The address one name up: the server's, for sites below `*.localhost` and most other domains of sites. */
function above(origin: string): string | null {
  const url = new URL(origin);
  const parent = url.hostname.slice(url.hostname.indexOf(".") + 1);
  if (parent === url.hostname || /^[\d.]+$/.test(url.hostname)) return null;
  url.hostname = parent;
  return url.origin;
}

function aSite(server: Server, status: number): ApiFailure {
  if (server.base !== server.origin) {
    const path = server.base.slice(server.origin.length);
    const sentence = `${server.base} is no svc server: its address may be ${server.origin}, without ${path}.`;
    return unexpected(server, status, sentence);
  }
  const parent = above(server.origin);
  const guess = parent === null ? "" : ` It may be ${parent}.`;
  return unexpected(
    server,
    status,
    `${server.origin} is the address of a site, not of its server.${guess} The server's is the one that you sign in at.`,
  );
}

/** Refusals of 401 or 403 that are about the content or the site, not about the credential. */
const CONTENT_CODES = new Set([
  "abuse_rejected",
  "account_required",
  "challenge_failed",
  "owner_required",
  "quota_exceeded",
  "site_frozen",
]);

/** Words that mean something only to the writer of a request; a person typed a command. */
const OF_REQUESTS =
  /\b(headers?|Authorization|Bearer|Content-Type|If-Match|Idempotency-Key|credential|GET|POST|PUT|PATCH)\b/;

/** The API's sentences without those about requests. */
const forPeople = (error: string): string =>
  error
    .split(/(?<=[.!?]) /)
    .filter((sentence) => !OF_REQUESTS.test(sentence))
    .join(" ");

function aboutTheToken(server: Server, status: number, credential: Credential | null): string {
  const from = credential ? `The token came from ${credential.from}.` : "No token was sent.";
  if (status !== 401) return from;
  const again = credential?.from === SAVED_SESSION ? `Sign in again: ${svc("login")}` : "";
  return joined(from, again, `The server is ${server.origin}.`, otherWays(server));
}

/** Says how long to wait only once: in the API's words, or here if it is known to the second. */
function untilWhen(error: string, later: number | null): string {
  if (later === null) return error;
  const what = /\b(wait|again|seconds?)\b/i.test(error) ? "Too many tries for now." : error;
  return joined(what, `Try again in ${waiting(later)}.`);
}

/** For a deploy token that has ended, whatever was asked with it. */
const ENDED = `The server does not take this deploy token: it has expired or was revoked, or what you ask needs your account. ${svc("token create")} makes another.`;

/** The manage_token of a folder's own link does not end by itself while the site is there. */
const CLAIMED = `The token that was saved here has ended, most likely because the site was claimed in a browser. Was that you? ${svc("login")}, then the same command again. If not, ${svc("<path>")} makes a new site.`;

interface RefusedCall {
  path: string;
  credential: Credential | null;
}

export function refusal(server: Server, asked: RefusedCall, response: Response, body: unknown): ApiFailure {
  const { error, code } = Object(body) as { error?: unknown; code?: unknown };
  const { status } = response;
  if (typeof error !== "string" || typeof code !== "string") return strange(server, response);
  if (isOfASite(code, asked.path)) return aSite(server, status);
  if (status === 429) {
    const after = response.headers.get("retry-after");
    const seconds = after === null || !/^\d+$/.test(after) ? null : Number(after);
    return new ApiFailure(status, code, untilWhen(error, seconds), null, seconds);
  }
  const isAboutTheToken = (status === 401 || status === 403) && !CONTENT_CODES.has(code);
  const unknown = "The server does not know this token: it is mistyped, or what it stood for has ended.";
  const forbidden = status === 401 ? unknown : "The server does not let you do this.";
  const ended = status === 401 && asked.credential !== null && isDeployToken(asked.credential.token);
  // Made-up words of a server are told as they are: only its own sentence about tokens is put in other words.
  if (status === 401 && asked.credential?.from === OWN_LINK && forPeople(error) === "") {
    const set = process.env["SVC_TOKEN"] ? "SVC_TOKEN is set and opens it no more: unset it first." : "";
    return new ApiFailure(status, code, joined(CLAIMED, set), body);
  }
  if (code === "account_required") {
    return new ApiFailure(status, code, joined(error, `${svc("login")} signs you in.`, otherWays(server)), body);
  }
  const said = ended ? ENDED : forPeople(error) || (isAboutTheToken ? forbidden : error);
  return new ApiFailure(
    status,
    code,
    isAboutTheToken ? joined(said, aboutTheToken(server, status, asked.credential)) : said,
    body,
  );
}

/** A wait: `7 s` up to two minutes, then as `duration` has it. */
const waiting = (in_seconds: number): string => (in_seconds < 120 ? `${in_seconds} s` : duration(in_seconds * 1000));
