/** The way of a zip to the server's answer, with the proofs that the server asks for. Trouble that the page can end by itself
 *  is never shown. */
import type { Challenge } from "../../../client/challenge.ts";
import type { LocalSite } from "./local-sites.ts";
import { type Answer, type Remedy, remedyOf, SIGNED_OUT } from "./refusals.ts";
import type { Setup } from "./setup.ts";
import { proved, Unreachable } from "./worker-calls.ts";

/** The target of a deploy: a site of the account, one of this browser, or a new one. */
export type Target = { kind: "new" } | { kind: "owned"; site_id: string } | { kind: "local"; site: LocalSite };

interface Delivery {
  zip: Blob;
  target: Target;
  /** The same for each try of one drop: an answer that got lost makes no second site. */
  key: string;
  /** True if somebody who is signed in publishes without their account all the same. */
  without_account: boolean;
  signal: AbortSignal;
  /** Called once for each stage. */
  stage(name: "Proving this is no robot" | "Uploading" | "Publishing"): void;
  progress(part: number | null): void;
  /** Whether anything is left to cancel. */
  cancellable(yes: boolean): void;
}

export const withAccount = ({ target, without_account }: Pick<Delivery, "target" | "without_account">): boolean =>
  target.kind !== "local" && !without_account;

const addressOf = (target: Target): string =>
  target.kind === "new" ? "/sites" : `/sites/${target.kind === "local" ? target.site.site_id : target.site_id}/deploys`;

function headersOf(delivery: Delivery, { csrf }: Setup, proof: string | null): Record<string, string> {
  const { target, key } = delivery;
  return {
    accept: "application/json",
    "content-type": "application/zip",
    "idempotency-key": key,
    // The token has priority over the cookie: the site has no owner, whether somebody is signed in or not.
    ...(target.kind === "local" && { authorization: `Bearer ${target.site.manage_token}` }),
    ...(withAccount(delivery) && csrf !== null && { "svc-csrf": csrf }),
    ...(proof !== null && { "svc-challenge": proof }),
  };
}

/** A new challenge, or the answer that refused it. */
async function challenge({ signal, stage, progress, cancellable }: Delivery): Promise<Answer | null> {
  stage("Proving this is no robot");
  progress(null);
  cancellable(true);
  return upload({
    url: "/challenge",
    headers: { accept: "application/json" },
    body: new Blob(),
    signal,
    progress() {},
    sent() {},
  });
}

async function send(delivery: Delivery, setup: Setup, proof: string | null): Promise<Answer | null> {
  const { zip, target, signal, stage, progress, cancellable } = delivery;
  stage("Uploading");
  progress(0);
  cancellable(true);
  return upload({
    url: addressOf(target),
    headers: headersOf(delivery, setup, proof),
    body: zip,
    signal,
    progress,
    sent() {
      cancellable(false);
      progress(null);
      stage("Publishing");
    },
  });
}

async function attempt(delivery: Delivery, setup: Setup, proving: boolean): Promise<Answer | null> {
  if (!proving) return send(delivery, setup, null);
  const asked = await challenge(delivery);
  if (asked?.status !== 200) return asked;
  return send(delivery, setup, await proved(setup.worker, asked.body as unknown as Challenge, delivery.signal));
}

/** The number of times that each remedy is tried for one press of a button. */
const MOST_REMEDIES: Readonly<Record<Remedy, number>> = { proof: 3, token: 1, wait: 3 };

/** Delivers the zip and returns the answer that counts; null if none came. */
export async function deliver(delivery: Delivery, setup: Setup): Promise<Answer | null> {
  const left: Record<Remedy, number> = { ...MOST_REMEDIES };
  const anonymous = !withAccount(delivery) || setup.csrf === null;
  let proving = setup.challenge && anonymous && delivery.target.kind === "new";
  for (;;) {
    const answer = await attempt(delivery, setup, proving);
    const remedy = remedyOf(answer);
    if (remedy === null || left[remedy]-- === 0) return answer;
    if (remedy === "proof") proving = true;
    else if (remedy === "wait") await waitFor(answer!, delivery);
    else if (!withAccount(delivery)) return answer;
    else if (!(await renewToken(setup, delivery.signal))) return SIGNED_OUT;
  }
}

async function waitFor({ retry_after }: Answer, { signal, cancellable }: Delivery): Promise<void> {
  cancellable(true);
  await pause((retry_after ?? 1) * 1000, signal);
}

/** Takes a new token from the page; false if the session has ended. */
export async function renewToken(setup: Setup, signal: AbortSignal): Promise<boolean> {
  setup.csrf = await freshToken(signal);
  return setup.csrf !== null;
}

/** The token that this page would have now; null if the session has ended. Throws `Unreachable` if the server does not
 *  say. */
async function freshToken(signal: AbortSignal): Promise<string | null> {
  const { pathname } = location;
  const response = await fetch(pathname, { headers: { accept: "text/html" }, signal });
  if (response.status >= 500) throw new Unreachable();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector<HTMLElement>("[data-zone]")?.dataset["csrf"] || null;
}

/** The version that a site of this browser serves now. With it a deploy of the same files is distinguished from a new
 *  version. Null if the server refuses the site's token. */
export async function liveVersion({ site_id, manage_token }: LocalSite, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(`/sites/${site_id}?limit=1`, {
    headers: { accept: "application/json", authorization: `Bearer ${manage_token}` },
    credentials: "omit",
    signal,
  });
  if (!response.ok) return null;
  const { live_version_id } = (await response.json()) as { live_version_id?: unknown };
  return typeof live_version_id === "string" ? live_version_id : null;
}

interface Upload {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Blob;
  signal: AbortSignal;
  /** From 0 to 1, as the bytes go out. */
  progress(part: number): void;
  /** The last byte is out: nothing is left to cancel. */
  sent(): void;
}

function json(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function answerOf(xhr: XMLHttpRequest): Answer {
  const wait = Number(xhr.getResponseHeader("retry-after") ?? NaN);
  return {
    status: xhr.status,
    body: json(xhr.responseText),
    request_id: xhr.getResponseHeader("x-request-id"),
    retry_after: Number.isFinite(wait) && wait >= 0 ? wait : null,
    receipt: xhr.getResponseHeader("svc-receipt"),
  };
}

/** Uploads by XMLHttpRequest, which alone reports progress and needs no secure context. Returns the server's answer; null
 *  if none came. Throws if `signal` ended it. */
function upload({ url, headers, body, signal, progress, sent }: Upload): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const stop = () => xhr.abort();
    xhr.open("POST", url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded, total }) => total > 0 && progress(loaded / total);
    xhr.upload.onload = sent;
    xhr.onload = () => resolve(answerOf(xhr));
    xhr.onerror = () => resolve(null);
    xhr.onabort = () => reject(signal.reason as Error);
    xhr.onloadend = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    xhr.send(body);
  });
}

/** `until` an abort, or for so long. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
