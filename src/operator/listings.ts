/** `sites` and `audit`: what there is, what was done. */
import type { Config } from "../config/index.ts";
import { siteUrl } from "../http/hosts.ts";
import { siteState } from "../base/site-state.ts";
import type { ListedSite } from "../store/moderation.ts";
import type { Command } from "./command.ts";
import { instant, JSON_OPTION, list } from "./print.ts";

const siteRow = (config: Config, site: ListedSite) => ({
  site_id: site.site_id,
  slug: site.slug,
  url: siteUrl(config, site.slug),
  label: site.label,
  state: siteState(site, Date.now()),
  disabled_reason: site.disabled_reason,
  owner_account_id: site.owner_account_id,
  owner_email: site.owner_email,
  created_at: site.created_at,
  expires_at: site.expires_at,
  live_version_id: site.live_version_id,
  versions: site.versions,
  bytes: site.bytes,
});

const sites: Command = {
  name: "sites",
  arguments: [],
  options: JSON_OPTION,
  summary: "list all sites, newest last",
  more: "OWNER is the address of its account.",
  async run(call) {
    const settings = await call.config();
    const rows = (await call.open().listing()).map((site) => siteRow(settings, site));
    list(call, rows, {
      SITE: (row) => row.site_id,
      URL: (row) => row.url,
      STATE: (row) => row.state,
      OWNER: (row) => row.owner_email ?? row.owner_account_id,
      VERSIONS: (row) => row.versions,
      BYTES: (row) => row.bytes,
      CREATED: (row) => row.created_at,
      EXPIRES: (row) => instant(row.expires_at),
    });
    return 0;
  },
};

const audit: Command = {
  name: "audit",
  arguments: [],
  options: JSON_OPTION,
  summary: "list what operators did and what was deleted, newest last",
  more: "The actor is `operator`, `expiry` or the account_id of the owner.",
  async run(call) {
    list(call, await call.open().audit(), {
      TIME: (row) => row.at,
      ACTOR: (row) => row.actor,
      ACTION: (row) => row.action,
      "SITE OR ACCOUNT": (row) => row.site_id ?? row.account_id,
      REASON: (row) => row.reason,
    });
    return 0;
  },
};

export const LISTINGS: readonly Command[] = [sites, audit];
