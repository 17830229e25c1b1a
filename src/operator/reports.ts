/** `reports`, `reports close` and `audit`: what visitors reported and the abuse scan found, and what operators did. */
import { siteState } from "../base/site-state.ts";
import type { Operations } from "../store/operations.ts";
import type { ListedReport } from "../store/reports.ts";
import type { Quarantined } from "../store/moderation.ts";
import { visible } from "../base/visible.ts";
import { JSON_FLAG, type OperatorCommand } from "./command.ts";
import { counted, json, list } from "./print.ts";

/** A report as a block of lines, each of them safe to print. */
function reportText(report: ListedReport, state: string): string {
  const { report_id, created_at, slug, site_id, reason, text, email, closed_at } = report;
  const lines = [
    `${report_id}  ${created_at}  ${slug} (${site_id}, ${state})`,
    `  reason: ${visible(reason)}`,
    ...(email === null ? [] : [`  email:  ${visible(email)}`]),
    ...(text === null ? [] : text.split(/\r?\n/).map((line) => `  | ${visible(line)}`)),
    ...(closed_at === null ? [] : [`  closed: ${closed_at}`]),
  ];
  return `${lines.join("\n")}\n\n`;
}

/** The findings of the abuse scan; their sentences name file and signal. */
const quarantineText = ({ slug, site_id, created_at, signals }: Quarantined, state: string): string =>
  [
    `in quarantine  ${created_at}  ${slug} (${site_id}, ${state})`,
    ...signals.map((signal) => `  signal: ${visible(signal)}`),
    `  svc-server clear ${slug} ends it.\n\n`,
  ].join("\n");

/** The states of these sites; one that is gone has none. */
async function statesOf({ sites }: Operations, site_ids: readonly string[]) {
  const states = new Map<string, ReturnType<typeof siteState>>();
  for (const site_id of new Set(site_ids)) {
    const site = await sites.byId(site_id);
    if (site !== null) states.set(site_id, siteState(site, Date.now()));
  }
  return states;
}

const reports: OperatorCommand = {
  name: "reports",
  arguments: [],
  flags: [{ name: "all" }, JSON_FLAG],
  summary: "list the open reports of visitors, and the sites in quarantine, newest last",
  details: [
    "A site answers reports at POST /_svc/report. `state` is what the site is now. `reports close` takes one off the list, and --all lists the closed ones too; those of a site that is deleted or swept drop out. A site is in quarantine while its pages look suspicious: they load from and send to nothing but the site until `clear`.",
  ],
  async run({ open, print, note }, given) {
    const operations = await open();
    const all = given.has("all");
    const asked = (await operations.reports()).filter(({ closed_at }) => all || closed_at === null);
    const held = await operations.quarantined();
    const states = await statesOf(
      operations,
      [...asked, ...held].map(({ site_id }) => site_id),
    );
    const rows = asked.filter(({ site_id }) => states.has(site_id));
    const stateOf = ({ site_id }: { site_id: string }) => states.get(site_id)!;
    if (given.json) {
      const shown = rows.map(({ closed_at, ...row }) => ({
        kind: "report",
        ...row,
        ...(all && { closed_at }),
        state: stateOf(row),
      }));
      print(json([...shown, ...held.map((row) => ({ kind: "quarantine", ...row, state: stateOf(row) }))]));
    } else {
      for (const row of rows) print(reportText(row, stateOf(row)));
      for (const row of held) print(quarantineText(row, stateOf(row)));
      const open = rows.filter(({ closed_at }) => closed_at === null).length;
      const way = open === 0 ? "" : "; svc-server reports close <report_id> takes a report off the list";
      note(`${counted(rows.length, "report")}, ${counted(held.length, "site")} in quarantine${way}`);
    }
  },
};

const close: OperatorCommand = {
  name: "reports close",
  arguments: ["<report_id>"],
  flags: [],
  summary: "take a report off the list: you are done with it",
  details: ["The site is left as it is. `reports --all` lists what was closed."],
  async run({ open, note }, { argument: report_id }) {
    const closed = await (await open()).closeReport(report_id!);
    note(`${report_id} ${closed ? "is closed." : "was closed already."}`);
  },
};

export const REPORTS: readonly OperatorCommand[] = [reports, close];

export const audit: OperatorCommand = {
  name: "audit",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "list what operators did, what was deleted, and who claimed or rolled back, newest last",
  details: [
    "The actor is `operator`, `server` (a backup by itself), `expiry`, an account_id, the token_id of a deploy token, or `manage_token`. Of rollbacks, promotes and changes of comments each site keeps the last twenty of each kind.",
  ],
  async run(context, given) {
    await list(context, given, await (await context.open()).audit(), {
      TIME: (row) => row.at,
      ACTOR: (row) => row.actor,
      ACTION: (row) => row.action,
      "SITE OR ACCOUNT": (row) => row.site_id ?? row.account_id,
      REASON: (row) => row.reason,
    });
  },
};
