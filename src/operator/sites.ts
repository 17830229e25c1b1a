/** `sites`, and `disable`, `enable`, `freeze`, `unfreeze`, `clear`, `rename`, `delete`: the sites, and what an operator does to one. */
import { hostParser, siteUrl } from "../http/hosts.ts";
import { type Config, ConfigError } from "../config/index.ts";
import { type Operations, readBrands } from "../store/operations.ts";
import type { ListedSite, SiteAct, SiteSort } from "../store/moderation.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { brandNames } from "../base/brand-list.ts";
import { faultOfName } from "../base/slugs.ts";
import { siteState } from "../base/site-state.ts";
import { isSiteId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import { humanSize } from "../base/units.ts";
import { type CallWords, JSON_FLAG, type OperatorCommand } from "./command.ts";
import { listPages } from "./print.ts";

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
  live_bytes: site.live_bytes,
  stored_bytes: site.stored_bytes,
  stored_disk: site.stored_disk,
});

const SORTS: readonly SiteSort[] = ["created", "stored", "live", "name"];

function sortOf(given: CallWords): SiteSort {
  const word = given.value("sort") ?? "created";
  const found = SORTS.find((sort) => sort === word);
  if (found === undefined) throw new ConfigError(`--sort is one of ${SORTS.join(", ")}, not ${JSON.stringify(word)}.`);
  return found;
}

function limitOf(given: CallWords): number {
  const text = given.value("limit");
  if (text === undefined) return Infinity;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new ConfigError(`--limit is a whole number from 1 on, not ${JSON.stringify(text)}.`);
}

/** Rows that are in memory at a time. */
const PAGE = 1000;

/** The list, a page at a time: each begins behind the last row of the one before, whatever comes or goes meanwhile. */
async function* pagesOf({ listing }: Operations, sort: SiteSort, limit: number) {
  let last: Awaited<ReturnType<Operations["listing"]>>[number] | null = null;
  for (let left = limit; left > 0;) {
    const page = await listing(sort, Math.min(PAGE, left), last);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    left -= page.length;
    last = page.at(-1)!;
  }
}

const sites: OperatorCommand = {
  name: "sites",
  arguments: [],
  flags: [{ name: "sort", value: "order" }, { name: "limit", value: "n" }, JSON_FLAG],
  summary: "list all sites, newest last, or those that store most first",
  details: [
    "OWNER is the address of its account. LIVE is what its live version holds, STORED what all its versions do (files that they share are stored once), DISK what that takes on the disk. --sort stored and --sort live begin with the largest, --sort name goes by slug, --sort created is the order without it.",
  ],
  async run(context, given) {
    const [sort, limit] = [sortOf(given), limitOf(given)];
    const settings = await context.config();
    const operations = await context.open();
    async function* pages() {
      for await (const page of pagesOf(operations, sort, limit)) yield page.map((site) => siteRow(settings, site));
    }
    await listPages(context, given, pages, {
      SITE: (row) => row.site_id,
      URL: (row) => row.url,
      STATE: (row) => row.state,
      OWNER: (row) => row.owner_email ?? row.owner_account_id,
      VERSIONS: (row) => row.versions,
      LIVE: (row) => humanSize(row.live_bytes),
      STORED: (row) => humanSize(row.stored_bytes),
      DISK: (row) => humanSize(row.stored_disk),
      CREATED: (row) => row.created_at,
      EXPIRES: (row) => instant(row.expires_at),
    });
  },
};

interface ActWording {
  summary: string;
  more: string;
  done: string;
  /** For a site that needed no change. */
  already: string;
}

const WITH_ACCOUNT =
  "stays disabled with its account: svc-server account enable <email> ends that (sites lists the addresses).";

function actOnSite(
  action: SiteAct["action"],
  { summary, more, done, already }: ActWording,
  flags: OperatorCommand["flags"] = [],
): OperatorCommand {
  return {
    name: action,
    arguments: ["<site>"],
    flags,
    summary,
    details: [`<site> is a site_id, a slug or a URL. ${more}`],
    async run({ open, note }, given) {
      const operations = await open();
      const { site_id, slug } = await siteNamed(given.argument!, operations);
      const act: SiteAct =
        action === "disable" ? { action, site_id, reason: given.value("reason")! } : { action, site_id };
      const changed = await operations.actOnSite(act);
      const site = action === "enable" ? await operations.sites.byId(site_id) : null;
      const now = site?.disabled_with_account ? WITH_ACCOUNT : changed ? done : already;
      note(`${slug} (${site_id}) ${now}`);
    },
  };
}

/** An operator's name obeys the form, and is no other site's; nothing is counted (BEYOND 17). */
const rename: OperatorCommand = {
  name: "rename",
  arguments: ["<site>", "<slug>"],
  flags: [],
  summary: "give a site another name: its former ones lead there for good",
  details: [
    "<site> is a site_id, a slug or a URL. The name has 3 to 40 of a to z, 0 to 9 and single hyphens between them, is not kept for the service, names no brand of brands.txt, and no other site has it or had it. A former name of the site can be given back to it.",
  ],
  async run(context, given) {
    const [named, slug] = given.all as [string, string];
    const settings = await context.config();
    const operations = await context.open();
    const { site_id, slug: before } = await siteNamed(named, operations);
    if ((await operations.standingOfName(site_id, slug)) === "free") refuseUnfit(slug, settings);
    const { changed } = await operations.rename({ site_id, slug, by: "operator" });
    context.print(`${siteUrl(settings, slug)}\n`);
    context.note(
      changed ? `${before} (${site_id}) is ${slug} now: ${before} leads there.` : `It had that name already.`,
    );
  },
};

function refuseUnfit(slug: string, settings: Config): void {
  const fault = faultOfName(slug, { ...settings, brands: brandNames(readBrands(settings.data_dir)) });
  if (fault !== null) throw new Error(`${JSON.stringify(slug)} cannot be a name. ${fault.message}`);
}

export const SITES: readonly OperatorCommand[] = [
  sites,
  rename,
  actOnSite(
    "disable",
    {
      summary: "answer 451 with a public reason instead of the site's pages",
      more: "The reason is shown to visitors. Deploys, rollbacks and comments are refused meanwhile.",
      done: "is disabled: its next visitor sees the reason.",
      already: "was disabled for this reason already.",
    },
    [{ name: "reason", value: "text", required: true }],
  ),
  actOnSite("enable", {
    summary: "end that: the site has the state it had before",
    more: "A site that was frozen before is frozen again.",
    done: "is enabled again.",
    already: "was not disabled.",
  }),
  actOnSite("freeze", {
    summary: "keep a site as it is: served, but no deploys, rollbacks, comments",
    more: "Claim, label, deletion and expiry go on.",
    done: "is frozen.",
    already: "was frozen already.",
  }),
  actOnSite("unfreeze", {
    summary: "end that",
    more: "",
    done: "takes changes again.",
    already: "was not frozen.",
  }),
  actOnSite("clear", {
    summary: "end a site's quarantine: its pages may load and send again",
    more: "What it has now does not bring the quarantine back; other suspicious content does. `reports` lists the sites in quarantine.",
    done: "is cleared: its pages are served like any other's.",
    already: "was not in quarantine.",
  }),
  actOnSite("delete", {
    summary: "remove a site with all its versions, for good",
    more: "It cannot be undone. The slug is never given out again; the files go with the next sweeps.",
    done: "is deleted.",
    already: "was gone already.",
  }),
];

/** Refuses a host of another server: its first label could be the slug of another site here. */
function slugOfHost(host: string, address: ServerAddress | null): string {
  if (address === null) return host.split(".", 1)[0]!.split("--").at(-1)!;
  const found = hostParser(address)(host);
  if (found.kind === "site") return found.slug;
  throw new Error(`${host} is no site of this server: its sites are at *.${address.sites_domain}.`);
}

/** The name of a host in a link or as it is written, without its port. */
function hostIn(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url?.hostname ?? text.toLowerCase().split("/", 1)[0]!.replace(/:\d+$/, "");
}

function slugOf(text: string, address: ServerAddress | null): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url) return slugOfHost(url.host, address);
  const host = text.toLowerCase().split("/", 1)[0]!;
  return host.includes(".") ? slugOfHost(host, address) : host.split("--").at(-1)!;
}

/** By a former name, too: reports and links have those. */
async function namedNow(slug: string, { sites }: Operations): Promise<Site | null> {
  return (await sites.bySlug(slug)) ?? sites.bySlug((await sites.movedTo(slug)) ?? slug);
}

/** The site that `<site>` names: a site_id, a slug, or the URL of a page, at a domain of its own too. Throws a sentence if it is gone or never was. */
async function siteNamed(text: string, operations: Operations): Promise<Site> {
  const { sites } = operations;
  const at = isSiteId(text) ? null : await operations.siteAtDomain(hostIn(text));
  const slug = isSiteId(text) ? null : (at?.slug ?? slugOf(text, await operations.serverAddress()));
  const site = slug === null ? await sites.byId(text) : await namedNow(slug, operations);
  if (site) return site;
  const gone = slug === null ? null : await sites.tombstone(slug);
  throw new Error(
    gone
      ? `The site ${gone.slug} is gone: ${gone.reason} at ${gone.gone_at}.`
      : `There is no site ${JSON.stringify(text)}: give its site_id, slug or URL (svc-server sites lists them).`,
  );
}

/** Epoch milliseconds as ISO 8601. */
const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
