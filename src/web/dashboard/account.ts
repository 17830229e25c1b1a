/** `/dashboard/account`: the account, the room that it takes up, its sessions, the deploy tokens of CI, the password, the deletion
 *  (WEB 8). */
import type { Route } from "../../routes/context.ts";
import { Refusal } from "../../base/errors.ts";
import { html, type Html } from "../../html/template.ts";
import { readUsage } from "../../routes/account.ts";
import { changePassword, forgetSession } from "../../routes/sign-in.ts";
import { unauthorized } from "../../routes/caller.ts";
import type { Account } from "../../store/people/accounts.ts";
import type { Session } from "../../store/people/sessions.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, badge, button, csrfField, field, linkButton } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { count, humanSize } from "../../base/units.ts";
import { ago, onDay, isolated } from "../words.ts";
import { deployTokensSection } from "./deploy-tokens.ts";
import { ACCOUNT, nameOf } from "./pages.ts";
import { pathOfTab } from "./site-frame.ts";

/** The most sessions that the list shows. A button ends all of them, also those that are not shown. */
const MOST_SESSIONS = 100;

export async function accountOf({ caller, parts }: SignedIn): Promise<Account> {
  const account = await parts.store.accounts.byId(caller.account_id);
  if (account === null) throw unauthorized("Your account is gone. Sign in with another one."); // deleted meanwhile
  return account;
}

const about = ({ email, account_id, created_at }: Account, now: number): Html =>
  html`<dl class="facts-list card">
    <dt>E-mail address</dt>
    <dd>${isolated(email)}</dd>
    <dt>Account</dt>
    <dd><code>${account_id}</code></dd>
    <dt>Since</dt>
    <dd>${onDay(created_at, now)}</dd>
  </dl>`;

/** Sites that the list of large ones names. */
const MOST_LARGE = 10;
/** From this part of the quota on the page says how room is made. */
const NEARLY_FULL = 0.8;

type Usage = Awaited<ReturnType<typeof readUsage>>;

function roomLine({ bytes, quota_bytes }: Usage): Html {
  if (quota_bytes === null) return html`<p>${humanSize(bytes)}, without a limit</p>`;
  return html`<p class="room">
    <meter
      aria-label="Room"
      min="0"
      max="${quota_bytes}"
      value="${Math.min(bytes, quota_bytes)}"
      high="${Math.floor(quota_bytes * NEARLY_FULL)}"
    ></meter>
    <span><b>${humanSize(bytes)}</b> of ${humanSize(quota_bytes)}</span>
  </p>`;
}

const makeRoom = ({ bytes, quota_bytes }: Usage): Html | false =>
  quota_bytes !== null &&
  bytes >= quota_bytes * NEARLY_FULL &&
  html`<p class="small">
    ${bytes >= quota_bytes ? "It is full: new content is refused." : "It is nearly full."} Delete versions that nobody
    needs, in the list of a site's versions below, or with <code>svc versions prune</code>.
  </p>`;

async function usageSection(ctx: SignedIn): Promise<Html> {
  const usage = await readUsage(ctx);
  const large = await ctx.parts.store.accounts.largestSites(ctx.caller.account_id, MOST_LARGE);
  const { sites, versions, previews, tokens, domains } = usage;
  return html`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <div class="card usage">
      ${roomLine(usage)}
      <p class="small dim">
        ${count(sites, "site")} · ${count(versions, "version")} · ${count(previews, "preview")} ·
        ${count(tokens, "deploy token")} · ${count(domains, "domain")}
      </p>
      ${makeRoom(usage)}
      ${
        large.length > 0 &&
        html`<h3>
            ${sites > large.length ? `The ${large.length} sites that take the most room` : "Where the room goes"}
          </h3>
          <ul class="large" role="list" aria-label="Largest sites">
            ${large.map(
              (site) =>
                html`<li>
                  <a class="cut" href="${pathOfTab(site.site_id, "versions")}"
                    ><span class="hidden">Versions of </span>${isolated(nameOf(site))}</a
                  >
                  <span class="dim">${count(site.stored_versions, "version")}</span>
                  <span class="size">${humanSize(site.stored_bytes)}</span>
                </li>`,
            )}
          </ul>`
      }
    </div>
  </section>`;
}

function sessionRow(
  { caller, parts }: SignedIn,
  { session_id, client, last_used_at, created_at }: Session,
  csrf: string,
) {
  const now = parts.now();
  const own = session_id === caller.session_id;
  // This request is itself a use of its session, which is written down only after the answer.
  const used = ago(own ? new Date(now).toISOString() : last_used_at, now);
  const device = deviceOf(client);
  const label = html`<span>End session<span class="hidden"> of ${isolated(device)}, ${used}</span></span>`;
  return html`<li>
    <div>
      <p class="titled">
        <span class="name cut" dir="auto" title="${client}">${device}</span>
        ${own && badge("This browser", "live")}
      </p>
      <p class="sub">Last used ${used} · Started ${ago(created_at, now)}</p>
    </div>
    <form method="post" action="${ACCOUNT}/sessions/${session_id}/end">
      ${csrfField(csrf)} ${button(label, { small: true })}
    </form>
  </li>`;
}

function sessions(ctx: SignedIn, all: readonly Session[], csrf: string): Html {
  const own = all.filter(({ session_id }) => session_id === ctx.caller.session_id);
  const shown = all.slice(0, MOST_SESSIONS);
  const rows = shown.includes(own[0]!) ? shown : [...shown.slice(0, -1), ...own];
  const more = all.length - rows.length;
  return html`<section aria-labelledby="sessions">
    <h2 id="sessions">Sessions</h2>
    <ul class="rows card pairs" role="list" aria-label="Sessions">
      ${rows.map((session) => sessionRow(ctx, session, csrf))}
    </ul>
    <div class="below">
      ${
        all.length > 1 &&
        html`<form method="post" action="${ACCOUNT}/sessions/end-others">
          ${csrfField(csrf)} ${button("End all other sessions", { small: true })}
        </form>`
      }
      ${more > 0 && html`<p class="small dim">And ${count(more, "older session")}.</p>`}
    </div>
  </section>`;
}

const password = (csrf: string, email: string, refusal: Refusal | undefined): Html =>
  html`<section class="card" aria-labelledby="password">
    <h2 id="password">Password</h2>
    <form class="fields" method="post" action="${ACCOUNT}/password">
      ${csrfField(csrf)}
      <input type="text" name="username" value="${email}" autocomplete="username" hidden />
      ${field({
        name: "current_password",
        label: "Current password",
        type: "password",
        refusal,
        attributes: html`autocomplete="current-password" required maxlength="1024"`,
      })}
      ${field({
        name: "new_password",
        label: "New password",
        type: "password",
        hint: "At least 10 characters. All other sessions end.",
        refusal,
        attributes: html`autocomplete="new-password" required maxlength="1024"`,
      })}
      ${button("Change password", { wide: true })}
    </form>
  </section>`;

const end = html`<section class="card" aria-labelledby="end">
  <h2 id="end">Delete</h2>
  <p class="small dim">Your sites are deleted with your account, and their addresses are never given to anyone else.</p>
  ${linkButton(`${ACCOUNT}/delete`, "Delete your account", { kind: "danger", small: true })}
</section>`;

/** The most that are counted. */
const MOST_COUNTED = 1000;

/** The page, also after a form of it was refused. */
async function accountPageOf(ctx: SignedIn, refusal?: Refusal): Promise<Response> {
  const account = await accountOf(ctx);
  const csrf = csrfOf(ctx)!;
  const all = await ctx.parts.store.sessions.list(account.account_id, MOST_COUNTED);
  const tokens = await ctx.parts.store.deploy_tokens.list(account.account_id);
  const now = ctx.parts.now();
  const body = html`<div class="pagehead"><h1>Account</h1></div>
    ${alertBox(refusal)}
    <div class="two">
      <div class="stack">
        ${about(account, now)} ${await usageSection(ctx)} ${sessions(ctx, all, csrf)}
        ${await deployTokensSection(ctx, tokens)}
      </div>
      <div class="side">${password(csrf, account.email, refusal)} ${end}</div>
    </div>`;
  return answerPage(ctx, { title: "Account", body, current: "account", width: "list", scripts: ["password"], refusal });
}

/** `GET /dashboard/account`. */
const showAccount = accountPage((ctx) => accountPageOf(ctx));

/** `POST …/sessions/:id/end`. One's own: a sign-out. */
const endOneSession = accountForm({
  page: () => ACCOUNT,
  async act(ctx) {
    const { account_id, session_id: own } = ctx.caller;
    const session_id = ctx.params.id!;
    const ended = await ctx.parts.store.sessions.end({ account_id, session_id });
    if (!ended) throw new Refusal("not_found", "Your account has no such session: it has ended already.");
    if (session_id !== own) return `${ACCOUNT}?done=session-ended`;
    forgetSession(ctx);
    return "/";
  },
  again: accountPageOf,
});

/** `POST …/sessions/end-others`. */
const endOtherSessions = accountForm({
  page: () => ACCOUNT,
  async act(ctx) {
    await ctx.parts.store.sessions.endOthers(ctx.caller);
    return `${ACCOUNT}?done=sessions-ended`;
  },
  again: accountPageOf,
});

/** `POST …/tokens/:id/revoke`. */
const revokeToken = accountForm({
  page: () => ACCOUNT,
  async act(ctx) {
    const revoked = await ctx.parts.store.deploy_tokens.revoke(ctx.caller, ctx.params.id!);
    if (!revoked) throw new Refusal("not_found", "Your account has no such deploy token: it has ended already.");
    return `${ACCOUNT}?done=token-revoked`;
  },
  again: accountPageOf,
});

/** `POST …/password`. */
const submitPassword = accountForm({
  page: () => ACCOUNT,
  async act(ctx) {
    await changePassword(ctx);
    return `${ACCOUNT}?done=password`;
  },
  again: accountPageOf,
});

/** The account's page and its forms. */
export const ACCOUNT_ROWS: readonly Route[] = [
  ["GET", "/dashboard/account", showAccount],
  ["POST", "/dashboard/account/sessions/end-others", endOtherSessions],
  ["POST", "/dashboard/account/sessions/:id/end", endOneSession],
  ["POST", "/dashboard/account/tokens/:id/revoke", revokeToken],
  ["POST", "/dashboard/account/password", submitPassword],
];

// The name of the device that a session is on, made of what its browser or program calls itself. That text is anybody's to
// write, so only words of our own and a program's version come out of it, or the text as it is.

/** Browsers by their part of the text: those that also name another one come before it. */
const BROWSERS: readonly (readonly [part: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|OPT)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

/** Systems, the narrower one first: Android is a Linux, too. */
const SYSTEMS: readonly (readonly [part: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMacintosh\b|\bMac OS X\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** The words of Node for systems, which `svc` sends. */
const PLATFORMS: Readonly<Record<string, string>> = { linux: "Linux", darwin: "macOS", win32: "Windows" };

const nameIn = (text: string, of: readonly (readonly [RegExp, string])[]): string | undefined =>
  of.find(([part]) => part.test(text))?.[1];

/** `Chrome on Linux`, `Safari on iPhone`, `svc 0.3.0 on Linux`. */
export function deviceOf(client: string): string {
  const [, version, platform = ""] = /^svc\/([\w.-]{1,40})(?: \((\w{1,20})\))?$/.exec(client) ?? [];
  const system = version === undefined ? nameIn(client, SYSTEMS) : PLATFORMS[platform];
  const program = version === undefined ? nameIn(client, BROWSERS) : `svc ${version}`;
  if (program === undefined) return client;
  return system === undefined ? program : `${program} on ${system}`;
}
