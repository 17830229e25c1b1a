/** Lists that the server sends in pages, followed to their end. */
import { ask } from "../service/api.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { array, type Infer, object, pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";

const OWNED_SITE = pick(
  sites.ACCOUNT_SITES.required.sites.items,
  ...(["site_id", "slug", "label", "url", "created_at"] as const),
);
export type OwnedSite = Infer<typeof OWNED_SITE>;
const SITES_PAGE = object({ sites: array(OWNED_SITE) }, pick(sites.ACCOUNT_SITES, "cursor").required);

/** The account's sites, newest first. */
export async function allSites(server: Server, credential: Credential): Promise<OwnedSite[]> {
  const all: OwnedSite[] = [];
  for (let at: string | null = null; ;) {
    const path: string = at === null ? "/account/sites" : `/account/sites?cursor=${encodeURIComponent(at)}`;
    const call = { method: "GET", path, credential, repeatable: true } as const;
    const page: Infer<typeof SITES_PAGE> = await ask(server, call, SITES_PAGE);
    all.push(...page.sites);
    if (!page.cursor || page.cursor === at) return all;
    at = page.cursor;
  }
}
