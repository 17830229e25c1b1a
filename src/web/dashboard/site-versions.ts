/** The list "Versions" of a site's page: each can be opened, compared, made live again and deleted. */
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { RenderBrief } from "../../store/renders.ts";
import type { ListPage } from "../../store/versions.ts";
import type { Site, Version } from "../../base/types.ts";
import { humanSize } from "../../base/units.ts";
import { badge, button, csrfField, linkButton, visuallyHidden } from "../parts.ts";
import type { SignedIn } from "../who.ts";
import { count } from "../browser/wording.ts";
import { ago, titled } from "../words.ts";
import { hrefOf, pageField, pagesNav, pathOfSite, pathOfVersion } from "./pages.ts";
import { looks, thumbnail } from "./seen.ts";

type ListedVersion = Version & { live: boolean };

/** The address at which a version is seen as it is, live or not. */
export const versionUrl = ({ parts }: SignedIn, { slug }: Pick<Site, "slug">, version_id: string): string =>
  siteUrl(parts.config, `${version_id}--${slug}`);

const QUIET = { kind: "quiet", small: true } as const;

const openButton = (ctx: SignedIn, site: Site, version_id: string): Html =>
  linkButton(versionUrl(ctx, site, version_id), html`<span>Open${visuallyHidden(`version ${version_id}`)}</span>`, {
    ...QUIET,
    attributes: html`rel="noopener"`,
  });

/** Leads to the page that asks first. */
const deleteButton = ({ site_id }: Site, version_id: string): Html =>
  linkButton(
    `${pathOfVersion(site_id, version_id)}/delete`,
    html`<span>Delete${visuallyHidden(version_id)}</span>`,
    QUIET,
  );

const makeLive = (version_id: string): Html =>
  button(html`<span>Make${visuallyHidden(version_id)} live</span>`, {
    small: true,
    attributes: html`name="version_id" value="${version_id}"`,
  });

interface KnownOfVersions {
  /** A browser's findings by version; null if the server has no browser. */
  seen: ReadonlyMap<string, RenderBrief> | null;
  /** Those that their own addresses do not show, for a secret was seen in them. */
  withheld: ReadonlySet<string>;
}

function row(
  ctx: SignedIn,
  { site, may_change, seen, withheld }: Versions & KnownOfVersions,
  version: ListedVersion,
): Html {
  const { version_id, title, created_at, files, bytes, live } = version;
  const changes = hrefOf(`${pathOfSite(site.site_id)}/changes`, { to: version_id });
  const render = seen?.get(version_id);
  const warned = render?.warnings.length ?? 0;
  const hidden = withheld.has(version_id);
  return html`<li>
    ${seen && thumbnail(site.site_id, version_id, render?.pictured ?? false)}
    <div>
      <p class="titled">
        <span class="name cut">${titled(title)}</span> ${live && badge("Live", "live")}
        ${hidden && badge("Withheld", "warn")} ${warned > 0 && badge(count(warned, "warning"), "warn")}
      </p>
      <p class="sub">
        <code>${version_id}</code> · ${ago(created_at, ctx.parts.now())} · ${count(files, "file")}, ${humanSize(bytes)}
      </p>
      ${hidden && html`<p class="small dim">A secret was seen in it, so its own address shows it to nobody.</p>`}
    </div>
    <div class="acts">
      ${linkButton(changes, html`<span>Changes${visuallyHidden(`in ${version_id}`)}</span>`, QUIET)}
      ${!hidden && openButton(ctx, site, version_id)} ${may_change && !live && deleteButton(site, version_id)}
      ${may_change && !live && makeLive(version_id)}
    </div>
  </li>`;
}

interface Versions {
  site: Site;
  versions: ListPage<ListedVersion>;
  csrf: string;
  /** Whether another one may be made live. */
  may_change: boolean;
}

export async function versionsSection(ctx: SignedIn, asked: Versions): Promise<Html> {
  const { site, csrf } = asked;
  const { rows, page, pages } = asked.versions;
  const ids = rows.map(({ version_id }) => version_id);
  const seen = looks(ctx) ? await ctx.parts.store.renders.ofVersions(site.site_id, ids) : null;
  const withheld = new Set(await ctx.parts.store.versions.withheld(site.site_id));
  const path = pathOfSite(site.site_id);
  return html`<section aria-labelledby="versions">
    <h2 id="versions">Versions</h2>
    <form method="post" action="${path}/rollback">
      ${csrfField(csrf)}
      <ul class="rows card ver${seen && " pictured"}" role="list" aria-label="Versions">
        ${rows.map((version) => row(ctx, { ...asked, seen, withheld }, version))}
      </ul>
    </form>
    ${pagesNav(page, pages, (to) => hrefOf(path, { page: pageField(to) }))}
  </section>`;
}
