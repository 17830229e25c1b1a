/** `/dashboard/delete`: several sites at once, when their number was typed (WEB 5). */
import { Refusal } from "../../base/errors.ts";
import { html, type Html } from "../../html/template.ts";
import { answerRedirect } from "../../http/answers.ts";
import { pathOf, queryOf } from "../../http/exchange.ts";
import type { Site } from "../../base/types.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, button, confirmation, csrfField, hiddenField, linkButton, rows } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { count } from "../wording/amounts.ts";
import { theirs } from "../words.ts";
import { refuseUnlessConfirmed } from "./confirmed.ts";
import { nameOf, ownSiteOf } from "./own.ts";
import { hrefOf } from "./pages.ts";

/** Also the most that the API takes at once. */
const MOST = 100;

/** The list in which they were selected. */
function listOf(query: URLSearchParams, done = ""): string {
  const [q = "", sort = "", page = ""] = ["q", "sort", "page"].map((name) => query.get(name) ?? "");
  return hrefOf("/dashboard", { q, sort, page, done });
}

/** Those of the ids that are the caller's, each once. */
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
      <p class="sub">${theirs(site.slug)}</p>
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

function page(ctx: SignedIn, sites: readonly Site[], refusal?: Refusal): Response {
  const title = sites.length === 0 ? "Delete sites" : `Delete ${count(sites.length, "site")}?`;
  const asked = html`<p>
      All their versions and comments go, and nobody gets these addresses again. It cannot be undone.
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
export const askToDeleteSites = accountPage(async (ctx) => {
  try {
    const sites = await chosen(ctx, ctx.query.getAll("site"));
    return sites.length === 0 ? answerRedirect(listOf(ctx.query, "none"), ctx.exchange) : page(ctx, sites);
  } catch (error) {
    if (error instanceof Refusal && error.code === "invalid_input") return page(ctx, [], error);
    throw error;
  }
});

/** `POST /dashboard/delete`. */
export const deleteChosenSites = accountForm({
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
    return page(ctx, sites, refusal);
  },
});
