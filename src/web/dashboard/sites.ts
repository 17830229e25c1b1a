/** `/dashboard`: an account's sites, a page of them at a time (WEB 5). */
import { Refusal } from "../../base/errors.ts";
import { count, figure, UNIT_MS } from "../../base/units.ts";
import { createGate } from "../../run/gate.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import { siteState, type SiteState } from "../../base/site-state.ts";
import type { AskedSites, OwnedSite } from "../../store/account-sites.ts";
import { answerPage } from "../frame.ts";
import { installLine } from "../package.ts";
import { badge, button, command, hiddenField, icon, linkButton, siteLink } from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { ago, isolated, titled } from "../words.ts";
import { commentsPath, placeHref } from "./comment-lists.ts";
import { hrefOf, nameOf, pageField, pageOf, pagesNav, pathOfSite } from "./pages.ts";
import { looks, thumbnail } from "./seen.ts";
import { heldBadge, STATE_BADGES } from "./state-badges.ts";

const PER_PAGE = 50;
const LONGEST_QUERY = 100;
const SORTS = { deployed: "Last deployed", created: "Last made", name: "Name" } as const;
const isSort = (text: string): text is keyof typeof SORTS => Object.hasOwn(SORTS, text);

type Filter = Pick<AskedSites, "q" | "sort">;

function filterOf(query: URLSearchParams): Filter {
  const sort = query.get("sort") ?? "";
  const q = [...(query.get("q") ?? "").trim()].slice(0, LONGEST_QUERY).join("");
  return { q, sort: isSort(sort) ? sort : "deployed" };
}

/** The filter as the links and forms of the page keep it: default values are left out. */
const fieldsOf = ({ q, sort }: Filter, page: number): Record<string, string> => ({
  q,
  sort: sort === "deployed" ? "" : sort,
  page: pageField(page),
});

const search = ({ q, sort }: Filter): Html =>
  html`<form class="toolbar" role="search" action="/dashboard">
    <input
      class="field search"
      type="search"
      name="q"
      aria-label="Search sites"
      placeholder="Search label, address or title"
      maxlength="${LONGEST_QUERY}"
      value="${q}"
      dir="auto"
    />
    <select class="field" name="sort" aria-label="Sort by">
      ${Object.entries(SORTS).map(
        ([value, words]) => html`<option value="${value}" ${value === sort && html`selected`}>${words}</option>`,
      )}
    </select>
    ${button("Search")}
  </form>`;

/** The badge of a site that needs attention. */
function rowBadge(state: SiteState, warned: number): Html | null {
  if (state !== "live") return STATE_BADGES[state];
  return warned > 0 ? badge(count(warned, "warning"), "warn") : null;
}

const NOTES = [
  ["pending", "to approve", "warn"],
  ["reported", "reported", "warn"],
  ["open", "open", ""],
] as const;

/** The badges of what was said on the site's pages: each leads to the box to answer. */
const noteBadges = ({ site_id }: OwnedSite["site"], notes: OwnedSite["notes"]): Html[] =>
  NOTES.filter(([show]) => notes[show] > 0).map(([show, words, kind]) => {
    const href = show === "open" ? commentsPath(site_id) : placeHref(site_id, { show, cursor: "" });
    const amount = notes[show] > 99 ? "99+" : notes[show];
    return html`<a class="badge ${kind}" href="${href}">${amount} ${words}</a>`;
  });

/** The time that the list is sorted by. When the site was made is said besides if it was deployed a day or more after that. */
function times({ site, live }: OwnedSite, sort: Filter["sort"], now: number): Html {
  const made = html`<span>Made ${ago(site.created_at, now)}</span>`;
  if (sort === "created") return made;
  const apart = Math.abs(Date.parse(live.created_at) - Date.parse(site.created_at)) > UNIT_MS.d;
  return html`<span>Deployed ${ago(live.created_at, now)}</span> ${apart && made}`;
}

/** A title that only repeats the name says nothing. */
const titleBeside = (title: string | null, name: string): Html | false =>
  title?.trim() !== name && html` · ${titled(title)}`;

function row(ctx: SignedIn, one: OwnedSite, sort: Filter["sort"]): Html {
  const { parts } = ctx;
  const { site, live, notes } = one;
  const [now, name, url] = [parts.now(), nameOf(site), siteUrl(parts.config, site.slug)];
  return html`<li>
    <label class="pick"
      ><input type="checkbox" name="site" value="${site.site_id}" aria-label="Select ${name}"
    /></label>
    ${looks(ctx) && thumbnail(site.site_id, site.live_version_id, live.pictured)}
    <div>
      <a class="name cut" href="${pathOfSite(site.site_id)}" dir="auto">${name}</a>
      <p class="sub">${siteLink(url, new URL(url).host)}${titleBeside(live.title, name)}</p>
    </div>
    <div class="facts-of">
      ${heldBadge(site)} ${rowBadge(siteState(site, now), live.warned + (looks(ctx) ? live.seen_warned : 0))}
      ${noteBadges(site, notes)}
      <p class="when">${times(one, sort, now)}</p>
    </div>
  </li>`;
}

const empty = ({ parts }: SignedIn): Html =>
  html`<div class="card empty">
    ${icon("folder", 40)}
    <h2>No sites yet</h2>
    <p>Publish a folder, and it is listed here: yours for good, with every version of it.</p>
    ${linkButton("/", "Publish your first site", { kind: "primary" })}
    <p class="dim small">From a terminal with Node 18 or later, installed and signed in once:</p>
    ${command("first-site", `${installLine(parts.config.base_url)}\nsvc login\nsvc ./my-site`, "the commands")}
  </div>`;

const NO_MATCH = html`<div class="card empty">
  ${icon("search", 40)}
  <p>No label, address or title has these words.</p>
  <p><a href="/dashboard">Show all sites</a></p>
</div>`;

type SitesFound = Awaited<ReturnType<SignedIn["parts"]["store"]["ownership"]["page"]>>;

const list = (ctx: SignedIn, filter: Filter, { rows, page, pages }: SitesFound): Html =>
  html`<form action="/dashboard/delete" data-select>
    ${Object.entries(fieldsOf(filter, page)).map(([name, value]) => value !== "" && hiddenField(name, value))}
    <div class="card sites${looks(ctx) && " pictured"}">
      <div class="all" data-select-all></div>
      <ul class="rows" role="list" aria-label="Sites">
        ${rows.map((one) => row(ctx, one, filter.sort))}
      </ul>
    </div>
    <div class="selected" data-selected>
      <span class="scripted" role="status" data-select-count></span>
      ${button(html`Delete<span data-select-word> selected</span>…`, { kind: "danger", small: true })}
      ${button("Cancel", { kind: "quiet", small: true, attributes: html`type="button" data-select-none hidden` })}
    </div>
    <div class="below">${pagesNav(page, pages, (to) => hrefOf("/dashboard", fieldsOf(filter, to)))}</div>
  </form>`;

const summary = ({ matching, total }: SitesFound, { q }: Filter): Html =>
  html`<p class="dim" role="status">
    ${q === "" ? count(total, "site") : html`${figure(matching)} of ${count(total, "site")} match “${isolated(q)}”`}
  </p>`;

const busy = (): Refusal =>
  new Refusal("unavailable", "Too many searches are under way. Try again in a moment.", {}, { "retry-after": "2" });
/** A search looks at all of an account's sites, slice by slice, and other requests wait for a slice. Through this gate
 *  they wait for one, not for one of each search. Measured with 10,000 sites: 50 searches at once made any page take
 *  half a second. */
const searching = createGate({ width: 1, ms: 10_000, most: [64, 8], late: busy });

export async function findSites({ caller: { account_id }, parts }: SignedIn, asked: AskedSites): Promise<SitesFound> {
  const page = () => parts.store.ownership.page(account_id, asked);
  return asked.q === "" ? page() : searching.run(page, [account_id]);
}

/** `GET /dashboard?q=&sort=&page=`. */
export const showSites = accountPage(async (ctx) => {
  const filter = filterOf(ctx.query);
  const found = await findSites(ctx, { ...filter, page: pageOf(ctx.query), per_page: PER_PAGE });
  const { total, matching } = found;
  const body = html`<div class="pagehead">
      <div>
        <h1>Sites</h1>
        ${summary(found, filter)}
      </div>
      ${total > 0 && linkButton("/", "New site", { kind: "primary" })}
    </div>
    ${total === 0 ? empty(ctx) : html`${search(filter)} ${matching === 0 ? NO_MATCH : list(ctx, filter, found)}`}`;
  return answerPage(ctx, { title: "Sites", body, current: "sites", width: "list", scripts: ["select", "copy"] });
});
