/** Lists that the server sends in pages, followed to their end. */
import { ask } from "../service/api.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { SITES_PAGE, type OwnedSite } from "../service/wire.ts";

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
