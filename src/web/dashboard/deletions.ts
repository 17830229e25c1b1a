/** Deletions: of the account and all its sites, when its address and its password were typed (WEB 8); of one site, when its
 *  slug was typed (WEB 6); of one version (WEB 6); of several sites (WEB 5). */
import type { Route } from "../../routes/context.ts";
import { Refusal } from "../../base/errors.ts";
import type { Site, Version } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { answerRedirect } from "../../http/answers.ts";
import { stringMember } from "../../http/body.ts";
import { pathOf, queryOf } from "../../http/exchange.ts";
import { siteUrl, urlBeside } from "../../http/hosts.ts";
import { confirmPassword, forgetSession } from "../../routes/sign-in.ts";
import { refusals } from "../../store/refusals.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, button, csrfField, field, hiddenField, linkButton, rows } from "../parts.ts";
import { accountForm, accountPage, noSuchSite, type SignedIn } from "../who.ts";
import { count } from "../../base/units.ts";
import { ago, isolated, titled } from "../words.ts";
import { accountOf } from "./account.ts";
import { ACCOUNT, hrefOf, nameOf, ownSite, ownSiteOf, pathOfSite, pathOfVersion } from "./pages.ts";

const DELETE_ACCOUNT_TITLE = "Delete your account?";
const LONGEST_PASSWORD = 1024;

async function askForPassword(ctx: SignedIn, refusal?: Refusal): Promise<Response> {
  const { email, account_id } = await accountOf(ctx);
  const usage = await ctx.parts.store.accounts.usage(account_id);
  const sites = count(usage.sites, "site");
  const body = html`<div class="stack tight">
    <h1>${DELETE_ACCOUNT_TITLE}</h1>
    ${alertBox(refusal)}
    <p>
      It is deleted permanently, with ${sites} and ${count(usage.versions, "version")} of them. It cannot be undone:
    </p>
    <ul class="bullets">
      <li>people who open one of the sites find nothing there, and its address is never given to anyone else</li>
      <li>all sessions end, those of your programs too</li>
    </ul>
    <form class="fields" method="post" action="${ACCOUNT}/delete">
      ${csrfField(csrfOf(ctx)!)} ${confirmation(email, refusal)}
      ${field({
        name: "password",
        label: "Password",
        type: "password",
        refusal,
        attributes: html`autocomplete="current-password" required maxlength="${LONGEST_PASSWORD}"`,
      })}
      <p class="actions final">
        ${button(`Delete my account and ${sites}`, { kind: "danger" })}
        ${linkButton(ACCOUNT, "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title: DELETE_ACCOUNT_TITLE, body, current: "account", scripts: ["password"], refusal });
}

/** `GET …/delete`. */
const askToDeleteAccount = accountPage((ctx) => askForPassword(ctx));

/** `POST …/delete`. */
const deleteOwnAccount = accountForm({
  page: () => `${ACCOUNT}/delete`,
  async act(ctx, fields) {
    const { email } = await accountOf(ctx);
    refuseUnlessConfirmed(fields, email);
    const password = stringMember(Object.fromEntries(fields), "password", LONGEST_PASSWORD);
    await confirmPassword(ctx, ctx.caller, { field: "password", password });
    await ctx.parts.store.accounts.remove(ctx.caller);
    forgetSession(ctx);
    return "/?done=account-deleted";
  },
  again: (ctx, refusal) => askForPassword(ctx, refusal),
});

/** `/dashboard/sites/<site_id>/delete`: one site, when its slug was typed (WEB 6). */
function askForSlug(ctx: SignedIn, { site_id, slug, stored_versions }: Site, refusal?: Refusal): Response {
  const title = `Delete ${slug}?`;
  const url = siteUrl(ctx.parts.config, slug);
  const body = html`<div class="stack tight">
    <h1>${title}</h1>
    ${alertBox(refusal)}
    <p>${url} is deleted permanently. It cannot be undone:</p>
    <ul class="bullets">
      <li>${count(stored_versions, "version")}, with all their files</li>
      <li>all comments on them</li>
      <li>the address: people who open it find nothing there, and it is never given to anyone else</li>
    </ul>
    <form class="fields" method="post" action="${pathOfSite(site_id)}/delete">
      ${csrfField(csrfOf(ctx)!)} ${confirmation(slug, refusal)}
      <p class="actions final">
        ${button("Delete site", { kind: "danger" })} ${linkButton(pathOfSite(site_id), "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title, body, current: "sites", refusal });
}

/** `GET …/delete`. */
const askToDeleteSite = accountPage(async (ctx) => askForSlug(ctx, await ownSite(ctx)));

/** `POST …/delete`. */
const deleteOneSite = accountForm({
  page: ({ params }) => `${pathOfSite(params.id!)}/delete`,
  async act(ctx, fields) {
    const { site_id, slug } = await ownSite(ctx);
    refuseUnlessConfirmed(fields, slug);
    const [reason] = await ctx.parts.store.ownership.remove([site_id], ctx.caller);
    if (reason) throw noSuchSite();
    return "/dashboard?done=deleted";
  },
  again: async (ctx, refusal) => askForSlug(ctx, await ownSite(ctx), refusal),
});

/** `/dashboard/sites/<site_id>/versions/<version_id>/delete`: one version that is not live (WEB 6). */
const VERSION_WORD = "delete";

interface AskedVersion {
  site: Site;
  version: Version;
}

/** Throws if the site has no such version. */
async function ownVersion(ctx: SignedIn): Promise<AskedVersion> {
  const site = await ownSite(ctx);
  const version = await ctx.parts.store.versions.stored(site.site_id, ctx.params.version_id!);
  if (version === null) throw refusals.unknownVersion();
  return { site, version };
}

function askForVersion(ctx: SignedIn, { site, version }: AskedVersion, refusal?: Refusal): Response {
  const { site_id, slug } = site;
  const { version_id } = version;
  const title = `Delete version ${version_id}?`;
  const body = html`<div class="stack tight">
    <h1>Delete version <code>${version_id}</code>?</h1>
    ${alertBox(refusal)}
    <p>
      <strong>${titled(version.title)}</strong> of ${isolated(nameOf(site))}, made
      ${ago(version.created_at, ctx.parts.now())}, is deleted permanently. It cannot be undone:
    </p>
    <ul class="bullets">
      <li>nobody can open ${urlBeside(ctx.parts.config, version_id, slug)} or make it live again</li>
      <li>its files go, but for those that another version has too</li>
      <li>its receipt goes, and so do the previews that show it</li>
    </ul>
    <p>
      What is live stays as it is, and so do all comments. A browser or cache that was there may keep its copy for an
      hour.
    </p>
    <form class="fields" method="post" action="${pathOfVersion(site_id, version_id)}/delete">
      ${csrfField(csrfOf(ctx)!)} ${confirmation(VERSION_WORD, refusal)}
      <p class="actions final">
        ${button("Delete version", { kind: "danger" })} ${linkButton(pathOfSite(site_id), "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title, body, current: "sites", refusal });
}

/** `GET …/versions/:version_id/delete`. */
const askToDeleteVersion = accountPage(async (ctx) => askForVersion(ctx, await ownVersion(ctx)));

/** `POST …/versions/:version_id/delete`. */
const deleteOneVersion = accountForm({
  page: ({ params }) => `${pathOfVersion(params.id!, params.version_id!)}/delete`,
  async act(ctx, fields) {
    const { site, version } = await ownVersion(ctx);
    const { site_id } = site;
    refuseUnlessConfirmed(fields, VERSION_WORD);
    await ctx.parts.store.deleteVersion({ site_id, by: ctx.caller, version_id: version.version_id });
    return `${pathOfSite(site_id)}/versions?done=version-deleted`;
  },
  again: async (ctx, refusal) => askForVersion(ctx, await ownVersion(ctx), refusal),
});

/** The most sites that `/dashboard/delete` deletes at once, when their number was typed (WEB 5): as many as the API takes. */
const MOST = 100;

/** The list in which they were selected. */
function listOf(query: URLSearchParams, done = ""): string {
  const [q = "", sort = "", page = ""] = ["q", "sort", "page"].map((name) => query.get(name) ?? "");
  return hrefOf("/dashboard", { q, sort, page, done });
}

/** The sites of the caller that the ids name, each once. */
async function chosen(ctx: SignedIn, ids: readonly string[]): Promise<Site[]> {
  const wanted = [...new Set(ids)];
  if (wanted.length > MOST) {
    throw new Refusal("invalid_input", `Select at most ${MOST} sites at a time.`, { field: "site" });
  }
  const found = await Promise.all(wanted.map((site_id) => ownSiteOf(ctx, site_id)));
  return found.filter((site) => site !== null);
}

const wordFor = (sites: readonly Site[]): string => `delete ${count(sites.length, "site")}`;

const row = (site: Site): Html =>
  html`<div>
      <p class="name cut" dir="auto">${nameOf(site)}</p>
      <p class="sub">${isolated(site.slug)}</p>
    </div>
    <p class="small dim">${count(site.stored_versions, "version")}</p>`;

const form = (ctx: SignedIn, sites: readonly Site[], refusal?: Refusal): Html =>
  html`<form class="fields" method="post" action="${pathOf(ctx.request.url) + queryOf(ctx.request.url)}">
    ${csrfField(csrfOf(ctx)!)} ${sites.map(({ site_id }) => hiddenField("site", site_id))}
    ${confirmation(wordFor(sites), refusal)}
    <p class="actions final">
      ${button(`Delete ${count(sites.length, "site")}`, { kind: "danger" })}
      ${linkButton(listOf(ctx.query), "Cancel", { kind: "quiet" })}
    </p>
  </form>`;

function askForCount(ctx: SignedIn, sites: readonly Site[], refusal?: Refusal): Response {
  const title = sites.length === 0 ? "Delete sites" : `Delete ${count(sites.length, "site")}?`;
  const asked = html`<p>
      All their versions and comments are deleted permanently, and the addresses are never given to anyone else. It
      cannot be undone.
    </p>
    ${rows("Sites to delete", sites.map(row), "pairs")} ${form(ctx, sites, refusal)}`;
  const body = html`<div class="stack tight">
    <h1>${title}</h1>
    ${alertBox(refusal)}
    ${sites.length === 0 ? html`<p><a href="${listOf(ctx.query)}">Back to your sites</a></p>` : asked}
  </div>`;
  return answerPage(ctx, { title, body, current: "sites", refusal });
}

/** `GET /dashboard/delete?site=…`. */
const askToDeleteSites = accountPage(async (ctx) => {
  try {
    const sites = await chosen(ctx, ctx.query.getAll("site"));
    return sites.length === 0 ? answerRedirect(listOf(ctx.query, "none"), ctx.exchange) : askForCount(ctx, sites);
  } catch (error) {
    if (error instanceof Refusal && error.code === "invalid_input") return askForCount(ctx, [], error);
    throw error;
  }
});

/** `POST /dashboard/delete`. */
const deleteChosenSites = accountForm({
  page: ({ request }) => pathOf(request.url) + queryOf(request.url),
  async act(ctx, fields) {
    const sites = await chosen(ctx, fields.getAll("site"));
    if (sites.length === 0) return listOf(ctx.query, "none");
    refuseUnlessConfirmed(fields, wordFor(sites));
    const ids = sites.map(({ site_id }) => site_id);
    await ctx.parts.store.ownership.remove(ids, ctx.caller);
    return "/dashboard?done=deleted";
  },
  again: async (ctx, refusal, fields) => {
    const sites = await chosen(ctx, fields.getAll("site")).catch(() => []);
    return askForCount(ctx, sites, refusal);
  },
});

/** Refuses a deletion without its word, which is never typed by accident. */
function refuseUnlessConfirmed(fields: URLSearchParams, word: string): void {
  if ((fields.get("confirm") ?? "").trim() === word) return;
  throw new Refusal("invalid_input", `Nothing was deleted. Type ${word} to confirm.`, { field: "confirm" });
}

/** The word that a deletion asks for: `Type ‹word› to confirm`. */
const confirmation = (word: string, refusal?: Refusal): Html =>
  field({
    name: "confirm",
    label: html`Type <code><bdi>${word}</bdi></code> to confirm`,
    refusal,
    class: "short",
    attributes: html`required autocomplete="off" autocapitalize="none" spellcheck="false"`,
  });

/** Each deletion is asked for on one page, which its form confirms. */
export const DELETION_ROWS: readonly Route[] = [
  ["GET", "/dashboard/delete", askToDeleteSites],
  ["POST", "/dashboard/delete", deleteChosenSites],
  ["GET", "/dashboard/sites/:id/delete", askToDeleteSite],
  ["POST", "/dashboard/sites/:id/delete", deleteOneSite],
  ["GET", "/dashboard/sites/:id/versions/:version_id/delete", askToDeleteVersion],
  ["POST", "/dashboard/sites/:id/versions/:version_id/delete", deleteOneVersion],
  ["GET", "/dashboard/account/delete", askToDeleteAccount],
  ["POST", "/dashboard/account/delete", deleteOwnAccount],
];
