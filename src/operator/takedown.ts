/** `disable`, `enable`, `freeze`, `unfreeze`, `clear`, `delete`: what an operator does to one site. */
import type { SiteAct } from "../store/moderation.ts";
import type { Command } from "./command.ts";
import { siteNamed } from "./site-named.ts";

interface Wording {
  summary: string;
  more: string;
  done: string;
  /** Said where there was nothing to change. */
  already: string;
}

const REASON = "--reason";
const WITH_ACCOUNT =
  "stays disabled with its account: svc-server account enable <email> ends that (sites lists the addresses).";

function command(
  action: SiteAct["action"],
  options: Command["options"],
  { summary, more, done, already }: Wording,
): Command {
  return {
    name: action,
    arguments: ["site"],
    options,
    summary,
    more: `<site> is a site_id, a slug or a URL. ${more}`,
    async run({ arguments: [named], options, open, note }) {
      const operations = open();
      const { site_id, slug } = await siteNamed(named!, operations);
      const act: SiteAct =
        action === "disable" ? { action, site_id, reason: options.get(REASON)! } : { action, site_id };
      const changed = await operations.actOnSite(act);
      const site = action === "enable" ? await operations.sites.byId(site_id) : null;
      const now = site?.disabled_with_account ? WITH_ACCOUNT : changed ? done : already;
      note(`${slug} (${site_id}) ${now}`);
      return 0;
    },
  };
}

export const TAKEDOWN: readonly Command[] = [
  command(
    "disable",
    { [REASON]: "text" },
    {
      summary: "answer 451 with a public reason instead of the site's pages",
      more: "The reason is shown to visitors. Deploys, rollbacks and comments are refused meanwhile.",
      done: "is disabled: its next visitor sees the reason.",
      already: "was disabled for this reason already.",
    },
  ),
  command(
    "enable",
    {},
    {
      summary: "end that: the site has the state it had before",
      more: "A site that was frozen before is frozen again.",
      done: "is enabled again.",
      already: "was not disabled.",
    },
  ),
  command(
    "freeze",
    {},
    {
      summary: "keep a site as it is: served, but no deploys, rollbacks, comments",
      more: "Claim, label, deletion and expiry go on.",
      done: "is frozen.",
      already: "was frozen already.",
    },
  ),
  command(
    "unfreeze",
    {},
    {
      summary: "end that",
      more: "",
      done: "takes changes again.",
      already: "was not frozen.",
    },
  ),
  command(
    "clear",
    {},
    {
      summary: "end a site's quarantine: its pages may load and send again",
      more: "What it has now does not bring the quarantine back; other suspicious content does. `reports` lists the sites in quarantine.",
      done: "is cleared: its pages are served like any other's.",
      already: "was not in quarantine.",
    },
  ),
  command(
    "delete",
    {},
    {
      summary: "remove a site with all its versions, for good",
      more: "It cannot be undone. The slug is never given out again; the files go with the next sweeps.",
      done: "is deleted.",
      already: "was gone already.",
    },
  ),
];
