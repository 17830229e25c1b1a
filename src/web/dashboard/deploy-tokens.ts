/** Deploy tokens: the list on the page of the account, and `/dashboard/account/tokens`, which makes one and shows it once. */
import { Refusal } from "../../base/errors.ts";
import type { Scope } from "../../base/tokens.ts";
import { html, type Html } from "../../html/template.ts";
import { readFormFields } from "../../http/body.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { LONGEST_TOKEN_NAME, makeDeployToken, MOST_SITES } from "../../routes/deploy-tokens.ts";
import type { DeployToken } from "../../store/people/deploy-tokens.ts";
import { isSessionEnded } from "../../store/refusals.ts";
import { answerPage, csrfOf } from "../frame.ts";
import {
  alertBox,
  button,
  checkbox,
  copyButton,
  csrfField,
  field,
  hiddenField,
  isAbout,
  linkButton,
  radios,
} from "../parts.ts";
import { accountPage, isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../who.ts";
import { ago, onDay, isolated } from "../words.ts";
import { ACCOUNT, nameOf } from "./pages.ts";
import { findSites } from "./sites.ts";

const MAKE_TOKEN = "/dashboard/account/tokens";
const TITLE = "Make a deploy token";

const SCOPES = [
  ["read", "Read", "Sees a site and its versions."],
  ["preview", "Previews", "Reads, and shows content beside what is live."],
  ["deploy", "Deploy", "All of that, and publishes and rolls back."],
  ["create", "New sites", "Makes new sites of your account. Goes with all sites alone."],
] as const;
const LIVES = [
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["366d", "A year"],
] as const;

/** Sites that are offered at once; the search finds the others. */
const OFFERED = 50;
const LONGEST_QUERY = 100;

/** The sites that were ticked, then those that match the search. */
async function offered(ctx: SignedIn, sent: URLSearchParams | undefined) {
  const q = (sent?.get("q") ?? "").trim().slice(0, LONGEST_QUERY);
  const found = await findSites(ctx, { q, sort: "deployed", page: 1, per_page: OFFERED });
  const ticked = await namesOf(ctx, sent?.getAll("site_ids").slice(0, MOST_SITES) ?? []);
  const others = found.rows.map(({ site }) => [site.site_id, nameOf(site)] as const);
  return { q, total: found.total, sites: new Map([...ticked, ...others]), ticked };
}

type Offered = Awaited<ReturnType<typeof offered>>;

const siteChoice = (site_id: string, name: string, checked: boolean): Html =>
  checkbox({ name: "site_ids", value: site_id, label: html`<span class="cut" dir="auto">${name}</span>`, checked });

/** The button that Enter in a field presses: else it would be "Search", as the first one of the form. Nobody sees, hears or reaches it,
 *  and it has no name: `isSearch` knows by the words which field it was. */
const onEnter = (q: string): Html =>
  html`${hiddenField("q_shown", q)}<button
      class="button unseen"
      tabindex="-1"
      aria-hidden="true"
      formnovalidate
    ></button>`;

/** Whether the form asks for other sites to choose from, by its button or by Enter in its box. */
const isSearch = (fields: URLSearchParams): boolean =>
  fields.has("find") || (!fields.has("make") && (fields.get("q") ?? "") !== (fields.get("q_shown") ?? ""));

/** The choice of sites: all, or those of a list. Without the choice, as programs send it, a list says it. */
function sitesField({ q, total, sites, ticked }: Offered, refusal: Refusal | undefined, some: boolean): Html {
  const which = [
    { name: "which", value: "all", label: "All sites, also new ones", checked: !some },
    { name: "which", value: "some", label: "Only these", checked: some, wrong: isAbout(refusal, "site_ids") },
  ];
  return html`<div class="of-sites">
    ${radios("Sites", which)}
    <div class="these card">
      ${
        total > OFFERED &&
        html`<p class="pair">
          ${onEnter(q)}
          <input class="field" type="search" name="q" value="${q}" aria-label="Search sites" dir="auto" />
          ${button("Search", { attributes: html`name="find" value="1" formnovalidate` })}
        </p>`
      }
      ${[...sites].map(([site_id, name]) => siteChoice(site_id, name, ticked.has(site_id)))}
      ${sites.size === 0 && html`<p class="small dim">No site has these words.</p>`}
    </div>
  </div>`;
}

function fieldsOf(refusal: Refusal | undefined, sent: URLSearchParams | undefined, sites: Offered): Html {
  const scopes = sent?.getAll("scopes") ?? ["deploy"];
  const life = sent?.get("expires_in") ?? "90d";
  return html`${field({
      name: "name",
      label: "Name",
      value: sent?.get("name") ?? "",
      hint: "What you know it by, such as the repository.",
      refusal,
      attributes: html`required maxlength="${2 * LONGEST_TOKEN_NAME}" dir="auto" autocomplete="off"`,
    })}
    <fieldset>
      <legend class="label">Permissions</legend>
      ${SCOPES.map(([value, label, hint], i) => {
        const wrong = i === 0 && isAbout(refusal, "scopes");
        return checkbox({ name: "scopes", value, label, hint, checked: scopes.includes(value), wrong });
      })}
    </fieldset>
    ${sitesField(sites, refusal, sent?.get("which") === "some")}
    ${radios(
      "Expires after",
      LIVES.map(([value, label]) => ({ name: "expires_in", value, label, checked: value === life })),
      refusal,
    )}`;
}

async function form(ctx: SignedIn, refusal?: Refusal, sent?: URLSearchParams): Promise<Response> {
  const sites = await offered(ctx, sent);
  const body = html`<div class="stack tight">
    <h1>${TITLE}</h1>
    ${alertBox(refusal)}
    <p>Your CI deploys with it, and opens nothing else of your account.</p>
    <form class="fields" method="post" action="${MAKE_TOKEN}">
      ${csrfField(csrfOf(ctx)!)} ${fieldsOf(refusal, sent, sites)}
      <p class="actions final">
        ${button("Make the token", { kind: "primary", attributes: html`name="make" value="1"` })}
        ${linkButton(ACCOUNT, "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title: TITLE, body, current: "account", refusal });
}

/** The refusals in words for a person, who knows no members of JSON. */
const SAID: Readonly<Record<string, string>> = {
  name: `a name has 1 to ${LONGEST_TOKEN_NAME} visible characters.`,
  scopes: "choose its permissions.",
  site_ids: `choose 1 to ${MOST_SITES} sites, all of them yours; New sites goes with all sites alone.`,
  expires_in: "choose when it expires.",
};

function inWords(refusal: Refusal): Refusal {
  const said = refusal.code === "invalid_input" ? SAID[String(refusal.details["field"])] : undefined;
  return said === undefined ? refusal : new Refusal(refusal.code, `Nothing was made: ${said}`, refusal.details);
}

type Made = Awaited<ReturnType<typeof makeDeployToken>>;

function shownOnce(ctx: SignedIn, { token, name, expires_at }: Made): Response {
  const until = onDay(new Date(expires_at).toISOString(), ctx.parts.now());
  const body = html`<div class="stack tight">
    <h1>Copy your token now</h1>
    <p role="status">
      The token <b dir="auto">${name}</b> is shown this once. Put it among the secrets of your CI, as
      <code>SVC_TOKEN</code>. It ends on ${until}.
    </p>
    <div>
      <label class="label" for="deploy-token">Deploy token</label>
      <p class="pair">
        <input class="field mono" id="deploy-token" readonly autocomplete="off" value="${token}" />
        ${copyButton("Copy token", "deploy-token")}
      </p>
    </div>
    <p class="actions final">${linkButton(ACCOUNT, "Done", { kind: "primary", attributes: html`data-once` })}</p>
  </div>`;
  return answerPage(ctx, { title: "Your deploy token", body, current: "account", scripts: ["copy", "once"] });
}

/** The form's fields as the members that the API takes. */
function sentAs(fields: URLSearchParams): Record<string, unknown> {
  const ids = fields.get("which") === "all" ? [] : fields.getAll("site_ids");
  const some = fields.get("which") === "some" || ids.length > 0;
  return {
    name: fields.get("name"),
    scopes: fields.getAll("scopes"),
    expires_in: fields.get("expires_in"),
    ...(some && { site_ids: ids }),
  };
}

/** `GET …/tokens`. */
const showMakeToken = accountPage(async (ctx) => form(ctx));

/** `POST …/tokens`. The answer is a page itself, without a redirect: no other page has the token. */
async function makeToken(ctx: Ctx): Promise<Response> {
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, MAKE_TOKEN);
  const fields = await readFormFields(ctx.request);
  if (isSearch(fields)) return form(ctx, undefined, fields);
  try {
    return shownOnce(ctx, await makeDeployToken(ctx, async () => sentAs(fields)));
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, MAKE_TOKEN);
    if (!isShownAgain(error)) throw error;
    return form(ctx, inWords(error), fields);
  }
}

const used = ({ last_used_at }: DeployToken, now: number): Html =>
  last_used_at === null ? html`Never used` : html`Last used ${ago(last_used_at, now)}`;

/** The names of those of the sites that are the account's. */
async function namesOf({ caller, parts }: SignedIn, ids: readonly string[]): Promise<Map<string, string>> {
  const sites = await Promise.all([...new Set(ids)].map((id) => parts.store.sites.byId(id)));
  const own = sites.filter((site) => site?.owner_account_id === caller.account_id);
  return new Map(own.map((site) => [site!.site_id, nameOf(site!)]));
}

/** So many sites of a token are named, the rest is counted. */
const NAMED = 2;

function places({ site_ids }: DeployToken, names: ReadonlyMap<string, string>): Html {
  if (site_ids === null) return html`All sites`;
  const known = site_ids.slice(0, NAMED).map((id) => isolated(names.get(id) ?? "a deleted site"));
  const more = site_ids.length - known.length;
  return html`${known.map((name, i) => html`${i > 0 && ", "}${name}`)}${more > 0 && ` and ${more} more`}`;
}

const MAY: Readonly<Record<Scope, string>> = {
  read: "Reads",
  preview: "Previews",
  deploy: "Deploys",
  create: "Makes new sites",
};

const may = ({ scopes }: DeployToken): string =>
  scopes.map((scope, i) => (i === 0 ? MAY[scope] : MAY[scope].toLowerCase())).join(", ");

interface RowLook {
  names: ReadonlyMap<string, string>;
  csrf: string;
  now: number;
}

function row(token: DeployToken, { names, csrf, now }: RowLook): Html {
  const { token_id, name, expires_at } = token;
  const label = html`<span>Revoke<span class="hidden"> ${isolated(name)}</span></span>`;
  return html`<li>
    <div>
      <p class="titled"><span class="name cut" dir="auto">${name}</span></p>
      <p class="sub">
        ${may(token)} · ${places(token, names)} · Until ${onDay(new Date(expires_at).toISOString(), now)} ·
        ${used(token, now)}
      </p>
    </div>
    <form method="post" action="${MAKE_TOKEN}/${token_id}/revoke">
      ${csrfField(csrf)} ${button(label, { small: true })}
    </form>
  </li>`;
}

/** The deploy tokens of an account on its page: the scopes, the sites and the end of each, and a button to revoke it. */
export async function deployTokensSection(ctx: SignedIn, tokens: readonly DeployToken[]): Promise<Html> {
  const names = await namesOf(
    ctx,
    tokens.flatMap(({ site_ids }) => site_ids?.slice(0, NAMED) ?? []),
  );
  const look = { names, csrf: csrfOf(ctx)!, now: ctx.parts.now() };
  return html`<section aria-labelledby="deploy-tokens">
    <h2 id="deploy-tokens">Deploy tokens</h2>
    ${
      tokens.length === 0
        ? html`<p class="small dim">CI deploys with one: it has its permissions and its sites, and ends by itself.</p>`
        : html`<ul class="rows card pairs" role="list" aria-label="Deploy tokens">
            ${tokens.map((token) => row(token, look))}
          </ul>`
    }
    <div class="below">${linkButton(MAKE_TOKEN, "Make a deploy token", { small: true })}</div>
  </section>`;
}

/** The page that makes a deploy token. */
export const DEPLOY_TOKEN_ROWS: readonly Route[] = [
  ["GET", "/dashboard/account/tokens", showMakeToken],
  ["POST", "/dashboard/account/tokens", makeToken],
];
