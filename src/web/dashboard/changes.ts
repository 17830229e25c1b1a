/** `/dashboard/sites/<site_id>/changes`: what one version has otherwise than another (WEB 6). */
import { html, type Html } from "../../html/template.ts";
import { encodePath } from "../../base/percent.ts";
import { refusals } from "../../store/refusals.ts";
import type { ChangedFile, Changes } from "../../store/versions.ts";
import type { Site, Version } from "../../base/types.ts";
import { humanSize } from "../../base/units.ts";
import { answerPage } from "../frame.ts";
import { button, linkButton, siteLink } from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { figure } from "../browser/wording.ts";
import { moment, isolated } from "../words.ts";
import { nameOf, ownSite, pathOfSite } from "./pages.ts";
import { versionUrl } from "./site-versions.ts";

/** To choose from: the newest; what is compared is among them in any case. */
const MOST_CHOICES = 1000;

/** The two versions that are compared. */
interface Pair {
  /** Null: everything is added. */
  from: Version | null;
  to: Version;
}

async function named({ parts }: SignedIn, { site_id }: Site, version_id: string): Promise<Version> {
  const version = await parts.store.versions.get(site_id, version_id);
  if (version === null) throw refusals.unknownVersion();
  return version;
}

async function pairOf(ctx: SignedIn, site: Site): Promise<Pair> {
  const asked = (name: string) => ctx.query.get(name) || null;
  const to = await named(ctx, site, asked("to") ?? site.live_version_id);
  const from = asked("from");
  if (from !== null) return { from: await named(ctx, site, from), to };
  return { from: await ctx.parts.store.versions.before(site.site_id, to.version_id), to };
}

function choice(
  name: "from" | "to",
  label: string,
  versions: readonly Version[],
  chosen: Version | null,
  live: string,
) {
  const option = ({ version_id, created_at }: Version) =>
    html`<option value="${version_id}" ${version_id === chosen?.version_id && html`selected`}>
      ${moment(created_at)}, ${version_id}${version_id === live && ", live"}
    </option>`;
  return html`<div>
    <label class="label" for="${name}">${label}</label>
    <select class="field" id="${name}" name="${name}">
      ${name === "from" && html`<option value="">The version before</option>`} ${versions.map(option)}
    </select>
  </div>`;
}

async function compareForm({ parts }: SignedIn, site: Site, { from, to }: Pair): Promise<Html> {
  const { versions } = await parts.store.versions.list(site.site_id, { limit: MOST_CHOICES, before: null });
  const listed = new Set(versions.map(({ version_id }) => version_id));
  const older = [to, from].filter((version) => version !== null && !listed.has(version.version_id)) as Version[];
  const all = [...versions, ...older];
  return html`<form class="toolbar compare" action="${pathOfSite(site.site_id)}/changes">
    ${choice("from", "From", all, from, site.live_version_id)} ${choice("to", "To", all, to, site.live_version_id)}
    ${button("Compare")}
  </form>`;
}

/** `1.2 KB → 3.4 KB (+2.2 KB)`. */
function sizes({ before, after }: ChangedFile): string {
  if (before === null || after === null) return humanSize(before ?? after ?? 0);
  const more = after - before;
  return `${humanSize(before)} → ${humanSize(after)} (${more < 0 ? "−" : "+"}${humanSize(Math.abs(more))})`;
}

/** `at`: the host of a version that has the files; null if the version is withheld. */
const filesOf = (heading: string, files: readonly ChangedFile[], at: string | null): Html =>
  html`<section>
    <h2>${heading} (${figure(files.length)})</h2>
    ${
      files.length > 0 &&
      html`<ul class="rows card paths" role="list" aria-label="${heading}">
        ${files.map(
          (file) =>
            html`<li>
              ${at === null ? isolated(file.path) : siteLink(`${at}/${encodePath(file.path)}`, file.path, html`dir="auto"`)}
              <span class="size">${sizes(file)}</span>
            </li>`,
        )}
      </ul>`
    }
  </section>`;

async function told(
  ctx: SignedIn,
  site: Site,
  { from, to }: Pair,
  { added, changed, removed, unchanged }: Changes,
): Promise<Html> {
  if (added.length + changed.length + removed.length === 0) {
    return html`<p role="status">The two versions hold the same files.</p>`;
  }
  const withheld = await ctx.parts.store.versions.withheld(site.site_id);
  const hostOf = ({ version_id }: Version) =>
    withheld.includes(version_id) ? null : versionUrl(ctx, site, version_id);
  const counts = [
    `${figure(added.length)} added`,
    `${figure(changed.length)} changed`,
    `${figure(removed.length)} removed`,
    `${figure(unchanged)} unchanged`,
  ];
  return html`<p role="status">${counts.join(", ")}</p>
    ${filesOf("Added", added, hostOf(to))} ${filesOf("Changed", changed, hostOf(to))}
    ${filesOf("Removed", removed, hostOf(from ?? to))}`;
}

/** `GET …/changes?from=&to=`. */
export const showChanges = accountPage(async (ctx) => {
  const site = await ownSite(ctx);
  const pair = await pairOf(ctx, site);
  const { from, to } = pair;
  const changes = await ctx.parts.store.versions.compare(site.site_id, from?.version_id ?? null, to.version_id);
  if (changes === null) throw refusals.unknownVersion();
  const body = html`<div class="pagehead">
      <div>
        <p class="small dim">${isolated(nameOf(site))}</p>
        <h1>Changes</h1>
      </div>
      ${linkButton(pathOfSite(site.site_id), "Back to the site")}
    </div>
    ${await compareForm(ctx, site, pair)}
    <div class="stack">${await told(ctx, site, pair, changes)}</div>`;
  return answerPage(ctx, { title: `Changes in ${nameOf(site)}`, body, current: "sites", width: "list" });
});
