/** The frame of every page on the API host (WEB 1): banner, main, footer; plain HTML that works without script. */
import packageJson from "../../package.json" with { type: "json" };
import type { Refusal } from "../base/errors.ts";
import { contactLink } from "../html/document.ts";
import { html, type Html } from "../html/template.ts";
import { answerCodedText } from "../http/answers.ts";
import { csrfToken } from "../http/csrf.ts";
import { isTrustworthy } from "../http/hosts.ts";
import type { Ctx } from "../routes/context.ts";
import { ACCOUNT_STYLE_PATH, ICON_PATH, scriptPath, STYLE_PATH } from "./assets.ts";
import type { ScriptName } from "./built.ts";
import { MARK } from "./mark.ts";
import { csrfField, hiddenField, statusBox } from "./parts.ts";

/** The request that a page answers, also one that failed before a handler had it. */
export type PageRequest = Pick<Ctx, "request" | "exchange" | "caller" | "query" | "headers" | "origin" | "parts">;

interface PageContent {
  /** The page to which the banner's "Sign in" and "Create an account" come back. */
  next?: string;
  /** The title of the tab, before ` · svc`. */
  title: string;
  /** The title has `svc: ` before it. */
  home?: boolean;
  /** Begins with the one h1. */
  body: Html;
  status?: number;
  /** The link of the banner that leads to this page or to the list that it belongs to. */
  current?: "sites" | "account" | "docs";
  scripts?: readonly ScriptName[];
  /** `text`: 44rem; `list`: 64rem; `form`: one card. */
  width?: "text" | "list" | "form" | "form wide";
  /** The reason why the last try failed. The title, the status and its headers follow it; the alert is in the body
   *  (parts.ts). */
  refusal?: Refusal;
  /** The good news, in a status before the body. If it is missing, the code of `?done=` decides. */
  said?: Html | string | null;
  /** More for the head. */
  head?: Html | false;
  /** True if search engines may list the page. */
  index?: boolean;
}

const menuLink = (href: string, word: string, current: boolean): Html =>
  html`<a href="${href}" ${current && html`aria-current="page"`}>${word}</a>`;

function signedOut({ parts }: PageRequest, { current, next }: PageContent): Html {
  const back = next === undefined ? "" : `?${new URLSearchParams({ next })}`;
  return html`${menuLink("/docs", "Docs", current === "docs")} ${menuLink(`/signin${back}`, "Sign in", false)}
  ${parts.config.signup === "open" && html`<a class="button small" href="/signup${back}">Create an account</a>`}`;
}

const signedIn = (csrf: string, { current }: PageContent): Html =>
  html`${menuLink("/dashboard", "Sites", current === "sites")}
    ${menuLink("/dashboard/account", "Account", current === "account")} ${menuLink("/docs", "Docs", current === "docs")}
    <form method="post" action="/auth/logout">
      ${csrfField(csrf)} ${hiddenField("next", "/")}
      <button class="button small">Sign out</button>
    </form>`;

/** The proof that a form or script of a page of ours makes a write; null if nobody is signed in. */
export const csrfOf = ({ caller, parts }: Pick<Ctx, "caller" | "parts">): string | null =>
  caller.kind === "account" ? csrfToken(parts.secrets.csrf, caller.session_id) : null;

function banner(asked: PageRequest, page: PageContent): Html {
  const csrf = csrfOf(asked);
  return html`<header class="top">
    <a class="brand" href="/">${MARK} svc</a>
    <nav class="menu" aria-label="Main">${csrf === null ? signedOut(asked, page) : signedIn(csrf, page)}</nav>
  </header>`;
}

/** The id of the last element. Browsers that can wait for it with the first paint do so: parts that come later would
 *  push those that are already there (WEB 10). */
const END = "page-end";

const footer = ({ parts: { config } }: PageRequest): Html =>
  html`<footer class="foot">
    <div>
      <a href="/llms.txt">llms.txt</a> <span>svc ${packageJson.version}</span>
      ${config.contact !== null && html`<span>${contactLink(config.contact)}</span>`}
    </div>
  </footer>`;

const head = (title: string, { head: more, scripts = [], current }: PageContent): Html =>
  html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="stylesheet" href="${STYLE_PATH}" />
    ${(current === "sites" || current === "account") && html`<link rel="stylesheet" href="${ACCOUNT_STYLE_PATH}" />`}
    <link rel="icon" href="${ICON_PATH}" type="image/svg+xml" />
    <link rel="expect" href="#${END}" blocking="render" />
    ${more} ${scripts.map((name) => html`<script src="${scriptPath(name)}" defer></script>`)}`;

function documentOf(asked: PageRequest, page: PageContent, title: string): string {
  const { refusal, body, width = "text" } = page;
  const said = page.said === undefined && !refusal ? saidBy(asked.query.get("done")) : (page.said ?? null);
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head(title, page)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        ${banner(asked, page)}
        <main id="main" class="${width}" tabindex="-1">${said !== null && statusBox(said)} ${body}</main>
        ${footer(asked)}
        <div id="${END}" hidden></div>
      </body>
    </html> `.text;
}

const titleOf = ({ title, refusal, home }: PageContent): string =>
  `${refusal ? "Error: " : ""}${home ? `svc: ${title}` : `${title} · svc`}`;

/** A whole page. */
export function answerPage(asked: PageRequest, page: PageContent): Response {
  const { refusal, index = false } = page;
  if (refusal) Object.assign(asked.headers, refusal.headers);
  const text = documentOf(asked, page, titleOf(page));
  const headers = pageHeaders({ origin: asked.origin, index });
  return answerCodedText(text, asked, headers, page.status ?? refusal?.status ?? 200);
}

/** The sentences for the fixed codes of `?done=` (WEB 1.4): no text of an address is ever shown. */
const SAID = {
  deployed: "The new version is live.",
  unchanged: "No changes: this version is live already.",
  saved: "The settings are saved.",
  shut: "Visitors need the password from now on.",
  opened: "Everybody may see the site now.",
  renamed: "The site has a new address. The former one leads to it.",
  deleted: "It is deleted.",
  "version-deleted": "The version is deleted: nothing is at its address any more.",
  "preview-ended": "The preview has ended: nothing is at its address any more.",
  counting: "Visits are counted from now on.",
  "not-counting": "Visits are not counted any more, and what was counted is deleted.",
  "domain-added": "The domain is added. Set one of its records, then look again.",
  "domain-active": "The domain is proved: the site is there too.",
  "domain-removed": "The domain is removed: nothing of this site is there any more.",
  none: "No site was selected.",
  password: "Your password is changed. All other sessions have ended.",
  "session-ended": "The session has ended.",
  "sessions-ended": "All other sessions have ended.",
  "token-revoked": "The deploy token is revoked: nothing deploys with it any more.",
  "agent-revoked": "The agent's token is revoked: nothing is read or answered with it any more.",
  "webhook-removed": "The webhook is removed: nothing is sent to it any more.",
  "comments-on": "Comments are on: anyone may write, and everybody sees it at once.",
  "comment-approved": "Approved: everybody sees it.",
  rejected: "Hidden: nobody sees it any more.",
  "all-rejected": "Hidden: nobody sees any of them any more.",
  replied: "Your reply is on the page.",
  resolved: "The thread is resolved.",
  reopened: "The thread is open again.",
  "comment-deleted": "The comment is deleted.",
  resent: "The letter is sent again.",
  "account-deleted": "Your account and its sites are deleted.",
} as const;
type Done = keyof typeof SAID;

const isDone = (code: string): code is Done => Object.hasOwn(SAID, code);

/** The sentence for a code of `?done=`; null for any other text. */
const saidBy = (code: string | null): string | null => (code !== null && isDone(code) ? SAID[code] : null);

/** The headers of every page (WEB 1.6): code, frames and windows of others are kept away, and no cache keeps the page.
 *  */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pageHeaders = ({ origin, index }: { origin: string; index: boolean }) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  ...(isTrustworthy(origin) && { "cross-origin-opener-policy": "same-origin" }),
  ...(!index && { "x-robots-tag": "noindex" }),
});
