/** Lists that the server tells in pages, followed to their end. */
import { ask } from "../service/api.ts";
import type { Credential, Server } from "../saved/state.ts";
import type { OwnedSite, SiteRecord, VersionRow } from "../service/wire.ts";
import type { OpenedSite } from "./chosen-site.ts";

/** Newest first; the first of them came with the site. A page that leads nowhere is the last one. */
export async function* versionPages({ server, site_id, credential, record }: OpenedSite): AsyncGenerator<VersionRow[]> {
  for (let { versions, more } = record; ;) {
    yield versions;
    const before = versions.at(-1)?.version_id;
    if (!more || before === undefined) return;
    const path = `/sites/${site_id}?before=${encodeURIComponent(before)}`;
    ({ versions, more } = await ask<SiteRecord>(server, { method: "GET", path, credential, repeatable: true }));
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
    const page: { sites: OwnedSite[]; cursor?: string | null } = await ask(server, call);
    all.push(...page.sites);
    if (!page.cursor || page.cursor === at) return all;
    at = page.cursor;
  }
}
