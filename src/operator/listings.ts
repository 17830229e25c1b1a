/** `sites` and `audit`: what there is, what was done. */
import type { Config } from "../config/index.ts";
import { siteUrl } from "../http/hosts.ts";
import { siteState } from "../site-state.ts";
import type { ListedSite } from "../store/upkeep.ts";
import type { Command } from "./command.ts";
import { instant, json, table } from "./print.ts";

const OPTIONS = { "--json": null };

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
  options: OPTIONS,
  summary: "list all sites, newest last",
  more: "OWNER is the address of its account.",
  async run({ config, switches, open, print }) {
    const settings = await config();
    const rows = (await open().listing()).map((site) => siteRow(settings, site));
    if (switches.has("--json")) print(json(rows));
    else {
      print(
        table(
          ["SITE", "URL", "STATE", "OWNER", "VERSIONS", "BYTES", "CREATED", "EXPIRES"],
          rows.map((row) => [
            row.site_id,
            row.url,
            row.state,
            row.owner_email ?? row.owner_account_id,
            row.versions,
            row.bytes,
            row.created_at,
            instant(row.expires_at),
          ]),
        ),
      );
    }
    return 0;
  },
};

const audit: Command = {
  name: "audit",
  arguments: [],
  options: OPTIONS,
  summary: "list what operators did and what was deleted, newest last",
  more: "The actor is `operator`, `expiry` or the account_id of the owner.",
  async run({ switches, open, print }) {
    const rows = await open().audit();
    if (switches.has("--json")) print(json(rows));
    else {
      print(
        table(
          ["TIME", "ACTOR", "ACTION", "SITE OR ACCOUNT", "REASON"],
          rows.map((row) => [row.at, row.actor, row.action, row.site_id ?? row.account_id, row.reason]),
        ),
      );
    }
    return 0;
  },
};

export const LISTINGS: readonly Command[] = [sites, audit];
