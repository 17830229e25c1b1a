/** Errors on the API host as a browser gets them: a page in the frame of all others, on every path (CONTRACT 3). */
import { type ErrorCode, type Refusal, withAppeal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import type { RequestContext } from "../http/context.ts";
import { pathOf } from "../http/exchange.ts";
import { callerOf } from "../routes/caller.ts";
import type { ApiParts } from "../routes/context.ts";
import { decodePath } from "../base/percent.ts";
import type { Caller } from "../routes/caller.ts";
import { visible } from "../base/visible.ts";
import { answerPage, type PageRequest } from "./frame.ts";
import { alertBox, linkButton } from "./parts.ts";

/** The headings of error pages. The refusal's sentence follows. */
const HEADINGS: Partial<Record<ErrorCode, string>> = {
  not_found: "There is no such page",
  unknown_site: "There is no such site",
  unknown_version: "Unknown version",
  method_not_allowed: "This page takes no such request",
  cross_origin: "Nothing was changed",
  unauthorized: "Sign in first",
  forbidden: "This is not yours to do",
  rate_limited: "Wait a moment",
  unavailable: "Not right now",
};

const ANONYMOUS: Caller = { kind: "anonymous" };

function wayOn(path: string, refusal: Refusal): Html {
  if (refusal.code === "unauthorized") return linkButton("/signin", "Sign in");
  return path.startsWith("/dashboard")
    ? linkButton("/dashboard", "Go to your sites")
    : linkButton("/", "Go to the start page");
}

/** The sentence for a person who opened an address in a browser, without the API's words. */
function sentence({ request }: PageRequest, { code, message }: Refusal): Html | string {
  const path = pathOf(request.url);
  const here = html`<code dir="auto">${visible(decodePath(path) ?? path)}</code>`;
  if (code === "not_found") return html`Nothing is at ${here}. Check the spelling.`;
  if (code === "method_not_allowed" && path.startsWith("/dashboard/"))
    return html`${here} takes what a form sends, and shows nothing. Nothing was changed.`;
  if (code === "method_not_allowed")
    return html`${here} is an address for programs, and shows nothing. <a href="/docs/http-api">The manual</a> has what
      they send there.`;
  if (code === "unauthorized")
    return html`What is at ${here} is for programs with a token, and for people who are signed in.`;
  return message;
}

const titleOf = (code: ErrorCode, changes: boolean): string =>
  code === "method_not_allowed" && !changes ? "There is no page here" : (HEADINGS[code] ?? "That did not work");

function pageOf(asked: PageRequest, refusal: Refusal): Response {
  const { request, exchange } = asked;
  const changes = request.method !== "GET" && request.method !== "HEAD";
  const title = titleOf(refusal.code, changes);
  const body = html`<div class="stack tight error">
    <p class="dim small mono">${refusal.status}</p>
    <h1>${title}</h1>
    ${changes ? alertBox(refusal) : html`<p class="lead dim">${sentence(asked, refusal)}</p>`}
    <p>${wayOn(pathOf(request.url), refusal)}</p>
    <p class="dim small mono">${exchange.request_id}</p>
  </div>`;
  Object.assign(asked.headers, refusal.headers);
  const response = answerPage(asked, {
    title: changes ? `Error: ${title}` : title,
    body,
    status: refusal.status,
    said: null,
  });
  for (const [name, value] of Object.entries(asked.headers)) response.headers.set(name, value);
  return response;
}

/** Makes the page of a refusal, for any caller. */
export function createErrorPage(parts: ApiParts) {
  return async (context: RequestContext, refusal: Refusal): Promise<Response> => {
    // If the store itself fails, the page is the one for strangers.
    const caller = await callerOf(context.request, parts.store, context.cookie).catch(() => ANONYMOUS);
    return pageOf({ ...context, caller, headers: {}, parts }, withAppeal(refusal, parts.config.contact));
  };
}
