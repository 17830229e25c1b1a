/** `/dashboard/sites/<site_id>/domains`: the site's domains of its own: added, proved, made primary and removed (WEB 6, BEYOND 10). */
import { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { domainUrl } from "../../http/hosts.ts";
import type { Route } from "../../routes/context.ts";
import { addDomain, listDomains, verifyDomain } from "../../routes/names.ts";
import type { DomainChange } from "../../store/domains.ts";
import { csrfOf } from "../frame.ts";
import {
  alertBox,
  badge,
  button,
  command,
  copyButton,
  csrfField,
  field,
  icon,
  siteLink,
  visuallyHidden,
} from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { ago, onDay } from "../words.ts";
import { ownSite } from "./pages.ts";
import { answerSitePage, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

type DomainShown = Awaited<ReturnType<typeof listDomains>>[number];

const STATES = {
  active: badge("Active", "live"),
  pending: badge("Waits for its proof", "warn"),
  lapsed: badge("Lapsed", "bad"),
} as const;

/** One of the row's buttons: its name says what is done, its value to which domain. */
const act = (name: string, label: string, { domain }: DomainShown, kind: "plain" | "quiet" = "plain"): Html =>
  button(html`<span>${label}${visuallyHidden(domain)}</span>`, {
    kind,
    small: true,
    attributes: html`name="${name}" value="${domain}"`,
  });

function certificate({ tls }: DomainShown, now: number): Html | false {
  if (tls.state === "active" && tls.expires_at !== null)
    return html` · certificate until ${onDay(tls.expires_at, now)}`;
  if (tls.state === "pending") return html` · its certificate is on the way`;
  return tls.state === "failed" && html` · no certificate yet`;
}

/** Either of them proves it; they are copied into the DNS. */
const recordList = ({ domain, records }: DomainShown, at: number): Html =>
  html`<ul class="records" role="list" aria-label="Records of ${domain}">
    ${records.map(
      ({ type, name, value }, i) =>
        html`<li>
          <span class="badge">${type}</span>
          <p><span class="dim small">Name</span> <code>${name}</code></p>
          <p><span class="dim small">Value</span> <code id="record-${at}-${i}">${value}</code></p>
          ${copyButton(`Copy the value of ${type}`, `record-${at}-${i}`, { small: true, shown: "Copy" })}
        </li>`,
    )}
  </ul>`;

function proof(domain: DomainShown, at: number): Html {
  const gone = domain.state === "lapsed";
  return html`<p>
      ${
        gone
          ? "Its record was gone for too long, or another site proved it: nothing is shown there."
          : "Set one of these two records where the domain's DNS is kept, then look again."
      }
      The CNAME also leads visitors here; with the TXT record alone the domain needs an A or AAAA record of this server.
    </p>
    ${recordList(domain, at)}`;
}

function buttons(domain: DomainShown, may_change: boolean): Html | false {
  if (!may_change) return false;
  const active = domain.state === "active";
  return html`<p class="acts">
    ${!active && act("verify", "Look again", domain)}
    ${active && !domain.primary && act("primary", "Make primary", domain)}
    ${domain.primary && act("no-primary", "No longer primary", domain)}
    ${domain.tls.state === "active" && !domain.hsts && act("hsts", "Insist on https", domain)}
    ${domain.hsts && act("no-hsts", "No longer insist on https", domain)} ${act("remove", "Remove", domain, "quiet")}
  </p>`;
}

function domainCard(ctx: SignedIn, domain: DomainShown, at: number, may_change: boolean): Html {
  const now = ctx.parts.now();
  const { state, primary, hsts, tls, checked_at } = domain;
  const name = state === "active" ? siteLink(domainUrl(ctx.parts.config, domain.domain), domain.domain) : domain.domain;
  return html`<li>
    <div class="domain">
      <p class="titled">
        <span class="name cut">${name}</span> ${STATES[state]} ${primary && badge("Primary")}
        ${hsts && badge("https only")}
      </p>
      <p class="sub">
        ${checked_at === null ? "Its records were not seen yet" : html`Proof looked up ${ago(checked_at, now)}`}${certificate(domain, now)}
      </p>
      ${tls.error !== null && html`<p class="small warned">${tls.error}</p>`}
      ${
        state === "active"
          ? html`<details>
              <summary>Its records</summary>
              ${recordList(domain, at)}
            </details>`
          : proof(domain, at)
      }
      ${buttons(domain, may_change)}
    </div>
  </li>`;
}

const noDomains = (site_id: string): Html =>
  html`<div class="card empty">
    ${icon("share", 40)}
    <h2>No domain of its own yet</h2>
    <p>Add one such as <code>www.example.org</code>: you get a record to set in its DNS, and the site is there too.</p>
    <p class="dim small">From a terminal:</p>
    ${command("add-domain", `svc domain add www.example.org --site ${site_id}`)}
  </div>`;

function addForm(site: Site, ctx: SignedIn, refused?: RefusedDomain): Html {
  return html`<section class="card" aria-labelledby="add">
    <h2 id="add">Add a domain</h2>
    <form class="fields" method="post" action="${pathOfTab(site.site_id, "domains")}">
      ${csrfField(csrfOf(ctx)!)}
      ${field({
        name: "domain",
        label: "Domain",
        value: refused?.domain ?? "",
        refusal: refused?.refusal,
        hint: html`As in the address bar: <code>www.example.org</code>. <a href="/docs/domains">How it works</a>`,
        attributes: html`required maxlength="260" autocomplete="off" autocapitalize="none" spellcheck="false"
        inputmode="url"`,
      })}
      ${button("Add the domain")}
    </form>
  </section>`;
}

interface RefusedDomain {
  refusal: Refusal;
  /** As it was typed. */
  domain: string;
}

async function domainsPage(ctx: SignedIn, site: Site, refused?: RefusedDomain): Promise<Response> {
  const domains = await listDomains(ctx.parts, site);
  const may_change = siteState(site, ctx.parts.now()) === "live";
  const list = html`<form method="post" action="${pathOfTab(site.site_id, "domains")}">
    ${csrfField(csrfOf(ctx)!)}
    <ul class="rows card" role="list" aria-label="Domains">
      ${domains.map((domain, at) => domainCard(ctx, domain, at, may_change))}
    </ul>
  </form>`;
  const body = html`${alertBox(refused?.refusal)} ${heldNotice(ctx, site)}
    <div class="stack">
      ${domains.length === 0 ? noDomains(site.site_id) : list}
      <div class="narrow">${may_change && addForm(site, ctx, refused)}</div>
    </div>`;
  return answerSitePage(ctx, site, { tab: "domains", body, refusal: refused?.refusal });
}

/** `GET …/domains`. */
const showDomains = accountPage(async (ctx) => domainsPage(ctx, await ownSite(ctx)));

const CHANGES: Readonly<Record<string, DomainChange>> = {
  primary: { primary: true },
  "no-primary": { primary: false },
  hsts: { hsts: true },
  "no-hsts": { hsts: false },
};

/** `POST …/domains`: the button that was pressed says what is done. */
const changeDomains = accountForm({
  page: ({ params }) => pathOfTab(params.id!, "domains"),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const { site_id } = site;
    const by = ctx.caller;
    const { domains } = ctx.parts.store;
    const done = (code: string) => `${pathOfTab(site_id, "domains")}?done=${code}`;
    const removed = fields.get("remove");
    if (removed !== null) {
      await domains.remove({ site_id, domain: removed, by });
      return done("domain-removed");
    }
    const verified = fields.get("verify");
    if (verified !== null) {
      await verifyDomain(ctx, site, verified, by);
      return done("domain-active");
    }
    for (const [name, wanted] of Object.entries(CHANGES)) {
      const domain = fields.get(name);
      if (domain === null) continue;
      await domains.set({ site_id, domain, by }, wanted);
      return done("saved");
    }
    const { domain } = await addDomain(ctx, site, fields.get("domain") ?? "", by);
    return done(domain.state === "active" ? "domain-active" : "domain-added");
  },
  again: async (ctx, refusal, sent) =>
    domainsPage(ctx, await ownSite(ctx), { refusal, domain: sent.get("domain") ?? "" }),
});

export const DOMAIN_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/domains", showDomains],
  ["POST", "/dashboard/sites/:id/domains", changeDomains],
];
