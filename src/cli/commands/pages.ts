/** Lists that the server sends in pages, followed to their end. */
import { ask } from "../service/api.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { VERSIONS_PAGE, type VersionRow, SITES_PAGE, type OwnedSite } from "../service/wire.ts";
import type { OpenedSite } from "./chosen-site.ts";

/** The pages of a site's versions, newest first; the first page came with the site. A page that leads nowhere is the last. */
export async function* versionPages({ server, site_id, credential, record }: OpenedSite): AsyncGenerator<VersionRow[]> {
  for (let { versions, more } = record; ;) {
    yield versions;
    const before = versions.at(-1)?.version_id;
    if (!more || before === undefined) return;
    const path = `/sites/${site_id}?before=${encodeURIComponent(before)}`;
    ({ versions, more } = await ask(server, { method: "GET", path, credential, repeatable: true }, VERSIONS_PAGE));
    if (versions.at(-1)?.version_id === before) return;
  }
}

export async function allVersions(opened: OpenedSite): Promise<VersionRow[]> {
  const all: VersionRow[] = [];
  for await (const page of versionPages(opened)) all.push(...page);
  return all;
}

/** The account's sites, newest first. */
export async function allSites(server: Server, credential: Credential): Promise<OwnedSite[]> {
  const all: OwnedSite[] = [];
  for (let at: string | null = null; ;) {
    const path: string = at === null ? "/account/sites" : `/account/sites?cursor=${encodeURIComponent(at)}`;
    const call = { method: "GET", path, credential, repeatable: true } as const;
    const page: NonNullable<(typeof SITES_PAGE)["of"]> = await ask(server, call, SITES_PAGE);
    all.push(...page.sites);
    if (!page.cursor || page.cursor === at) return all;
    at = page.cursor;
  }
}
