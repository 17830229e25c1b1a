/** The site that a command is about, and the credentials for it; and all sites of an account. */
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { commandFor, findLink, isLinkOf, linkKey, linksOfSite, shownFrom } from "./find-link.ts";
import { svc } from "../invocation.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { issuer, type Server } from "../saved/server.ts";
import { OWN_LINK, session, type Credential } from "../saved/state.ts";
import { otherWays } from "../service/which-server.ts";
import { array, type Infer, object, pick, type Shape } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { SITE_RECORD } from "../service/wire.ts";

export interface ChosenSite {
  site_id: string;
  /** The link that it was found by, or a link of this machine to the site named by `--site`. */
  link: Link | null;
  server: Server;
  /** The narrowest first. */
  credentials: Credential[];
}

/** A site with a credential that the server accepted, and the server's record of it. */
export interface OpenedSite extends ChosenSite {
  credential: Credential;
  record: SiteRecord;
}

function credentialsFor(context: Context, server: Server, flag: string | undefined, link: Link | null): Credential[] {
  if (flag !== undefined) return [{ token: flag, from: "--token" }];
  const own = link?.manage_token ? [{ token: link.manage_token, from: OWN_LINK }] : [];
  const account = session(context.env, server.origin);
  return account === null ? own : [...own, account];
}

/** The link and the server of a site named by its id. */
export function namedSite(context: Context, site_id: string, asked = "--site"): { link: Link | null; server: Server } {
  if (!/^[\w-]+$/.test(site_id)) throw usage(`${asked} wants an id such as site_…, not ${site_id}.`);
  const known = linksOfSite(context, site_id);
  const here = linkKey(context.cwd);
  const link = known.find(({ folder }) => folder === here) ?? known[0] ?? null;
  return { link, server: link === null ? context.server : serverOf(context, link) };
}

export const serverOf = (context: Context, link: Link): Server =>
  link.origin === context.server.origin ? context.server : issuer(link.origin, "link");

export function chooseSite(context: Context, given: CallWords, path: string | undefined): ChosenSite {
  const named = given.value("site");
  const token = given.value("token");
  if (named !== undefined) {
    const { link, server } = namedSite(context, named);
    return { site_id: named, link, server, credentials: credentialsFor(context, server, token, link) };
  }
  const link = findLink(context, path);
  const server = serverOf(context, link);
  return { site_id: link.site_id, link, server, credentials: credentialsFor(context, server, token, link) };
}

/** The same as with `--site`. */
export function chooseById(context: Context, given: CallWords, site_id: string): ChosenSite {
  const value = (flag: string) => (flag === "site" ? site_id : given.value(flag));
  return chooseSite(context, { ...given, value }, undefined);
}

/** Whether a host is one of the site's: its own, or that of a version or a preview. */
function isHostOf(host: string, url: string): boolean {
  const own = new URL(url).host;
  return host === own || host.endsWith(`--${own}`);
}

/** A site that this machine deployed, else one of the account's. `command` is the one that names it by its id. */
export async function siteAt(context: Context, given: CallWords, host: string, command: string): Promise<ChosenSite> {
  const { links, server, env } = context;
  const link = links.read().live.find(({ url }) => isHostOf(host, url));
  const site_id = link?.site_id ?? (await ownedAt(context, host));
  if (site_id === undefined) {
    const account = session(env, server.origin) === null ? "" : `, and your account on ${server.origin} has none`;
    throw new Failure(
      "unknown_site",
      `No site with the address ${host} was deployed from this machine${account}. Name the site: ${command}`,
    );
  }
  return chooseById(context, given, site_id);
}

async function ownedAt({ env, server }: Context, host: string): Promise<string | undefined> {
  const credential = session(env, server.origin);
  if (credential === null) return undefined;
  return (await allSites(server, credential)).find(({ url }) => isHostOf(host, url))?.site_id;
}

/** Removes the links to a site that is gone; the failure names the command of a fresh deploy. */
export function siteGone({ links, cwd }: Context, { site_id, server }: ChosenSite): Failure {
  let dropped: Link[] = [];
  try {
    dropped = links.remove(isLinkOf(site_id, server));
  } catch {
    // The links may stay: the person must get the sentence.
  }
  const link = dropped[0];
  const command = commandFor(svc(), link === undefined || link.looked_up ? undefined : shownFrom(cwd, link.folder));
  const forgotten = link === undefined ? "" : " The link to it was dropped.";
  return new Failure(
    "unknown_site",
    `The site is gone: it has expired or was deleted.${forgotten} Deploy it afresh: ${command}`,
  );
}

function noToken(server: Server): Failure {
  const ways = "give --token <manage_token>, run it where the site was deployed, or sign in to the account that has it";
  const sentence = `This needs the site's manage_token: ${ways}. The server is ${server.origin}.`;
  return new Failure("unauthorized", `${sentence} ${otherWays(server)}`.trim());
}

/** Asks for the site with each credential in turn, until one is accepted. `limit` is how many of its versions are wanted;
 *  `shape` is what the command reads of the answer, if that is not all. */
export async function openSite(
  context: Context,
  site: ChosenSite,
  limit?: number,
  shape: Shape<unknown> = SITE_RECORD,
): Promise<OpenedSite> {
  const path = `/sites/${site.site_id}${limit === undefined ? "" : `?limit=${limit}`}`;
  if (site.credentials.length === 0) {
    throw noToken(site.server);
  }
  let refused: unknown;
  for (const credential of site.credentials) {
    try {
      const record = await ask(site.server, { method: "GET", path, credential, repeatable: true }, shape);
      return { ...site, credential, record: record as SiteRecord };
    } catch (error) {
      refused ??= error;
      if (!(error instanceof ApiFailure)) throw error;
      if (error.code === "unknown_site") throw siteGone(context, site);
      if (error.status !== 401) throw error;
    }
  }
  throw refused;
}

/** Saves that the link was used, and what the server says of the site: a site claimed elsewhere no longer expires. */
export function touchLink(
  context: Context,
  { link, credential, credentials }: OpenedSite,
  fresh: Pick<SiteRecord, "url" | "expires_at"> & { manage_token?: string | null; built?: string | null },
): void {
  if (link === null) return;
  const { url, expires_at, built = link.built } = fresh;
  // The link's token has ended if the server refused it and accepted another credential.
  const refused = link.manage_token === credentials[0]?.token && credential !== credentials[0];
  const manage_token = (refused ? null : link.manage_token) ?? fresh.manage_token ?? null;
  try {
    const used = { ...link, manage_token, url, expires_at, built, used_at: context.now() };
    // Edited in its place: a link that was replaced does not take its folder back.
    context.links.edit((other) => (isSamePlace(other, link) && other.site_id === link.site_id ? used : other));
  } catch {
    // The command itself has done its work: a link that cannot be saved is no failure of it.
  }
}

/** The command as it is typed from here. The site of this folder needs no `--site`. */
export function rollbackCommand({ cwd }: Context, { link, site_id }: ChosenSite, version?: string): string {
  const site = link?.folder === linkKey(cwd) ? undefined : `--site ${site_id}`;
  return svc(["rollback", version, site].filter((word) => word !== undefined).join(" "));
}

type SiteRecord = Infer<typeof SITE_RECORD>;

const OWNED_SITE = pick(
  sites.ACCOUNT_SITES.required.sites.items,
  ...(["site_id", "slug", "label", "url", "created_at"] as const),
);
export type OwnedSite = Infer<typeof OWNED_SITE>;
const SITES_PAGE = object({ sites: array(OWNED_SITE) }, pick(sites.ACCOUNT_SITES, "cursor").required);

/** The account's sites, newest first. The server sends them in pages, which are followed to their end. */
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
