/** `sites`, `reports`, `audit`: what there is, what was reported, what was done. */
import type { Config } from "../config/index.ts";
import { siteUrl } from "../http/hosts.ts";
import { siteState } from "../site-state.ts";
import type { ListedSite, Quarantined, Report } from "../store/upkeep.ts";
import { visible } from "../visible.ts";
import type { Command } from "./command.ts";
import { counted, instant, json, table } from "./print.ts";

const OPTIONS = { "--json": null };

const siteRow = (config: Config, site: ListedSite) => ({
  site_id: site.site_id,
  slug: site.slug,
  url: siteUrl(config, site.slug),
  label: site.label,
  state: siteState(site, Date.now()),
  disabled_reason: site.disabled_reason,
  owner_account_id: site.owner_account_id,
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
            row.owner_account_id,
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

/** A report is prose: a block of lines, each of them safe to print. */
function reportText(report: Report, state: string): string {
  const { report_id, created_at, slug, site_id, reason, text, email } = report;
  const lines = [
    `${report_id}  ${created_at}  ${slug} (${site_id}, ${state})`,
    `  reason: ${visible(reason)}`,
    ...(email === null ? [] : [`  email:  ${visible(email)}`]),
    ...(text === null ? [] : text.split(/\r?\n/).map((line) => `  | ${visible(line)}`)),
  ];
  return `${lines.join("\n")}\n\n`;
}

/** What the abuse scan found: the sentences name file and signal. */
const quarantineText = ({ slug, site_id, created_at, signals }: Quarantined, state: string): string =>
  [
    `in quarantine  ${created_at}  ${slug} (${site_id}, ${state})`,
    ...signals.map((signal) => `  signal: ${visible(signal)}`),
    `  svc-server clear ${slug} ends it.\n\n`,
  ].join("\n");

const reports: Command = {
  name: "reports",
  arguments: [],
  options: OPTIONS,
  summary: "list what visitors reported, and the sites in quarantine, newest last",
  more: "A site answers reports at POST /_svc/report. `state` is what the site is now. A site is in quarantine while its pages look suspicious: they load from and send to nothing but the site until `clear`.",
  async run({ switches, open, print, note }) {
    const operations = open();
    const states = new Map((await operations.listing()).map((site) => [site.site_id, siteState(site, Date.now())]));
    const rows = await operations.reports();
    const held = await operations.quarantined();
    const stateOf = ({ site_id }: { site_id: string }) => states.get(site_id) ?? "gone";
    if (switches.has("--json")) {
      print(
        json([
          ...rows.map((row) => ({ kind: "report", ...row, state: stateOf(row) })),
          ...held.map((row) => ({ kind: "quarantine", ...row, state: stateOf(row) })),
        ]),
      );
    } else {
      for (const row of rows) print(reportText(row, stateOf(row)));
      for (const row of held) print(quarantineText(row, stateOf(row)));
      note(`${counted(rows.length, "report")}, ${counted(held.length, "site")} in quarantine`);
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

export const LISTINGS: readonly Command[] = [sites, reports, audit];
