/** `/dashboard/sites/<site_id>/changes`: what one version has otherwise than another, line by line (WEB 6). */
import { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site, Version } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import type { Route } from "../../routes/context.ts";
import { compareUploads } from "../../store/index.ts";
import { refusals } from "../../store/refusals.ts";
import type { Changes, StoredFile, StoredManifest } from "../../store/versions.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { button, csrfField, linkButton } from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { figure } from "../../base/units.ts";
import { dayTimeWords, isolated } from "../words.ts";
import {
  type DiffRoom,
  fileCard,
  type FilePair,
  lineCounts,
  PICTURE_BYTES,
  pictureType,
  plusMinus,
  type ShownFile,
  shownOf,
} from "./changed-file.ts";
import { hrefOf, nameOf, ownSite, pageField, pageOf, pagesNav, pathOfSite, pathOfVersion } from "./pages.ts";
import { versionUrl } from "./site-versions.ts";

/** To choose from: the newest; what is compared is among them in any case. */
const MOST_CHOICES = 1000;
/** Files whose lines one page shows, and lines and bytes that it reads for them; the rest have pages of their own. */
const ROOM: DiffRoom = { files: 100, lines: 8000, bytes: 2 << 20 };
/** Files of one page. */
const MOST_FILES = 200;
/** Rows of one file before the rest is folded away, and on the file's own page. */
const ROWS = 60;
const ALL_ROWS = 4100;

/** The two versions that are compared. */
interface ComparedPair {
  /** Null: everything is added. */
  from: Version | null;
  to: Version;
}

async function named({ parts }: SignedIn, { site_id }: Site, version_id: string): Promise<Version> {
  const version = await parts.store.versions.get(site_id, version_id);
  if (version === null) throw refusals.unknownVersion();
  return version;
}

async function pairOf(ctx: SignedIn, site: Site): Promise<ComparedPair> {
  const asked = (name: string) => ctx.query.get(name) || null;
  const to = await named(ctx, site, asked("to") ?? site.live_version_id);
  const from = asked("from");
  if (from !== null) return { from: await named(ctx, site, from), to };
  return { from: await ctx.parts.store.versions.before(site.site_id, to.version_id), to };
}

function choice(
  { parts }: SignedIn,
  name: "from" | "to",
  label: string,
  versions: readonly Version[],
  { chosen, live }: { chosen: Version | null; live: string },
) {
  const option = ({ version_id, created_at }: Version) =>
    html`<option value="${version_id}" ${version_id === chosen?.version_id && html`selected`}>
      ${dayTimeWords(created_at, parts.now())} · ${version_id.slice(0, 8)}${version_id === live && ", live"}
    </option>`;
  return html`<div>
    <label class="label" for="${name}">${label}</label>
    <select class="field" id="${name}" name="${name}">
      ${name === "from" && html`<option value="">The version before</option>`} ${versions.map(option)}
    </select>
  </div>`;
}

async function compareForm(ctx: SignedIn, site: Site, { from, to }: ComparedPair): Promise<Html> {
  const { versions } = await ctx.parts.store.versions.list(site.site_id, { limit: MOST_CHOICES, before: null });
  const listed = new Set(versions.map(({ version_id }) => version_id));
  const older = [to, from].filter((version) => version !== null && !listed.has(version.version_id)) as Version[];
  const all = [...versions, ...older];
  const live = site.live_version_id;
  return html`<form class="toolbar compare" action="${pathOfSite(site.site_id)}/changes">
    ${choice(ctx, "from", "From", all, { chosen: from, live })} ${choice(ctx, "to", "To", all, { chosen: to, live })}
    ${button("Compare")}
  </form>`;
}

/** The manifests of both; the one before is empty where everything is added. */
interface BothManifests {
  before: StoredManifest;
  after: StoredManifest;
}

async function manifestsOf({ parts }: SignedIn, { site_id }: Site, { from, to }: ComparedPair): Promise<BothManifests> {
  const read = (version: Version) => parts.store.versions.manifest(site_id, version.version_id);
  const [before, after] = [from === null ? (new Map() as StoredManifest) : await read(from), await read(to)];
  if (before === null || after === null) throw refusals.unknownVersion();
  return { before, after };
}

/** Files of a change, in the order in which they are read: what changed, what came, what went. */
const pairsOf = ({ added, changed, removed }: Changes, { before, after }: BothManifests): FilePair[] =>
  [...changed, ...added, ...removed].map((file) => ({
    path: file.path,
    before: file.before === null ? null : before.get(file.path)!,
    after: file.after === null ? null : after.get(file.path)!,
  }));

/** The path at which what became of an uploaded file is seen: of Markdown, its page. */
const pageIn =
  (files: StoredManifest) =>
  (path: string): string => {
    const page = path.replace(/\.(?:md|markdown)$/i, ".html");
    return page !== path && files.get(page)?.made ? page.replace(/\.html$/, "") : path;
  };

/** The two versions with the files of each, and those of the site that their own addresses do not show. */
interface Compared extends ComparedPair {
  manifests: BothManifests;
  withheld: ReadonlySet<string>;
}

async function cardsOf(ctx: SignedIn, site: Site, compared: Compared, files: readonly FilePair[]) {
  const { from, to, manifests, withheld } = compared;
  const { store } = ctx.parts;
  const hostOf = (version: Version | null) =>
    version === null || withheld.has(version.version_id) ? null : versionUrl(ctx, site, version.version_id);
  const versions = { before: from ?? to, after: to };
  const contents = {
    read: store.blobs.read,
    begins: async (file: StoredFile) => (await store.blobs.open(file)).slice(0, PICTURE_BYTES).bytes(),
    picture: (which: "before" | "after", path: string) =>
      hrefOf(`${pathOfVersion(site.site_id, versions[which].version_id)}/picture`, { path }),
  };
  const alone = ctx.query.has("file");
  const room = alone ? { files: 1, lines: Infinity, bytes: Infinity } : { ...ROOM };
  const shown: { card: Html; of: ShownFile }[] = [];
  for (const file of files) {
    const of = await shownOf(file, contents, room);
    const links = {
      before_url: hostOf(from),
      after_url: hostOf(to),
      pageOf: pageIn(file.after === null ? manifests.before : manifests.after),
      whole: hrefOf(`${pathOfSite(site.site_id)}/changes`, {
        from: from?.version_id ?? "",
        to: to.version_id,
        file: file.path,
      }),
    };
    shown.push({ of, card: fileCard(file, of, links, alone ? ALL_ROWS : ROWS) });
  }
  return shown;
}

/** "2 changed, 1 added, 1 removed, 8 the same +7 lines −2 lines". */
function summary({ added, changed, removed, unchanged }: Changes, shown: readonly { of: ShownFile }[]): Html {
  const kinds = [
    changed.length > 0 && `${figure(changed.length)} changed,`,
    added.length > 0 && `${figure(added.length)} added,`,
    removed.length > 0 && `${figure(removed.length)} removed,`,
  ].filter((kind) => kind !== false);
  const lines = { added: 0, removed: 0 };
  for (const { of } of shown) {
    const counts = lineCounts(of);
    lines.added += counts.added;
    lines.removed += counts.removed;
  }
  return html`<p class="sum" role="status">
    <span><strong>${kinds.join(" ")}</strong> ${figure(unchanged)} the same</span> ${plusMinus(lines, "line")}
    ${lines.added + lines.removed > 0 && html`<span class="dim">in the texts below</span>`}
  </p>`;
}

/** The buttons beside the heading: what can be done with the version that is looked at. */
function actions(ctx: SignedIn, site: Site, { to, withheld }: Compared): Html {
  const open = !withheld.has(to.version_id);
  const may = to.version_id !== site.live_version_id && siteState(site, ctx.parts.now()) === "live";
  return html`<form class="actions" method="post" action="${pathOfSite(site.site_id)}/rollback">
    ${csrfField(csrfOf(ctx)!)}
    ${
      open &&
      linkButton(versionUrl(ctx, site, to.version_id), "Open this version", { attributes: html`rel="noopener"` })
    }
    ${
      may &&
      button("Make this version live", {
        kind: "primary",
        attributes: html`name="version_id" value="${to.version_id}"`,
      })
    }
  </form>`;
}

/** The files of the page that is asked for: one alone, or so many of a list. */
function filesOf(ctx: SignedIn, all: readonly FilePair[]): { files: readonly FilePair[]; page: number; pages: number } {
  const file = ctx.query.get("file");
  if (file !== null) return { files: all.filter(({ path }) => path === file), page: 1, pages: 1 };
  const pages = Math.max(1, Math.ceil(all.length / MOST_FILES));
  const page = Math.min(pageOf(ctx.query), pages);
  return { files: all.slice((page - 1) * MOST_FILES, page * MOST_FILES), page, pages };
}

/** `GET …/changes?from=&to=&file=&page=`. */
const showChanges = accountPage(async (ctx) => {
  const site = await ownSite(ctx);
  const pair = await pairOf(ctx, site);
  const manifests = await manifestsOf(ctx, site, pair);
  const changes = compareUploads(manifests.before.values(), manifests.after.values());
  const all = pairsOf(changes, manifests);
  const withheld = new Set(await ctx.parts.store.versions.withheld(site.site_id));
  const compared = { ...pair, manifests, withheld };
  const { files, page, pages } = filesOf(ctx, all);
  const shown = await cardsOf(ctx, site, compared, files);
  const href = (fields: Record<string, string>) =>
    hrefOf(`${pathOfSite(site.site_id)}/changes`, {
      from: pair.from?.version_id ?? "",
      to: pair.to.version_id,
      ...fields,
    });
  const name = nameOf(site);
  const body = html`<p class="crumb">
      <a href="/dashboard">Sites</a> / <a href="${pathOfSite(site.site_id)}">${isolated(name)}</a>
    </p>
    <div class="pagehead">
      <div><h1>Changes</h1></div>
      ${actions(ctx, site, compared)}
    </div>
    ${await compareForm(ctx, site, pair)}
    ${all.length === 0 ? html`<p role="status">The two versions hold the same files.</p>` : summary(changes, shown)}
    ${shown.map(({ card }) => card)} ${pagesNav(page, pages, (to) => href({ page: pageField(to) }))}
    ${ctx.query.has("file") && html`<p><a href="${href({})}">All changes</a></p>`}`;
  return answerPage(ctx, { title: `Changes in ${name}`, body, current: "sites", width: "list" });
});

// The pictures of "Changes": of the owner's own uploads, and of nothing that could be more than a picture.

/** `GET …/versions/<version_id>/picture?path=`. */
const showPicture = accountPage(async (ctx) => {
  const { parts, params, query, exchange } = ctx;
  const site = await ownSite(ctx);
  const { versions, blobs } = parts.store;
  const file = await versions.upload(site.site_id, params.version_id!, query.get("path") ?? "");
  const content = file && (await blobs.open(file));
  const type = content && pictureType(await content.slice(0, PICTURE_BYTES).bytes());
  if (!content || !type) throw new Refusal("not_found", "There is no picture of that path in this version.");
  exchange.bytes = content.size;
  return new Response(content, {
    headers: {
      "content-type": type,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-store",
      "x-request-id": exchange.request_id,
    },
  });
});

export const CHANGES_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/changes", showChanges],
  ["GET", "/dashboard/sites/:id/versions/:version_id/picture", showPicture],
];
