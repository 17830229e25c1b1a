/** `svc delete`: deletes sites of the account for good, with their versions and comments. */
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";
import { ask } from "../service/api.ts";
import type { Credential } from "../saved/state.ts";
import { requireSession } from "../service/which-server.ts";
import { DELETED } from "../service/wire.ts";
import { bold, green, text } from "../terminal/text.ts";
import { readTyped } from "../terminal/input.ts";
import { duration, moment } from "../terminal/units.ts";
import { allSites, type OwnedSite, serverOf } from "./chosen-site.ts";
import { findLink, isLinkOf } from "./find-link.ts";

/** Whether a site_id, a slug, or a URL with or without its scheme names the site. The path of a URL does not count. */
function isNamed(written: string, { site_id, url }: { site_id: string; url: string }): boolean {
  const { host } = new URL(url);
  if (written === site_id || written.toLowerCase() === host.slice(0, host.indexOf("."))) return true;
  const address = /^https?:\/\//i.test(written) ? written : `http://${written}`;
  return URL.canParse(address) && new URL(address).host === host;
}

/** The link of this machine to the site that is named. */
function linkNamed({ links }: Context, written: string): Link | undefined {
  const { live, replaced } = links.read();
  return [...live, ...replaced].find((link) => isNamed(written, link));
}

/** The sites that were named, and the one server that has them: a command asks only one. */
function chosen(context: Context, given: CallWords): { written: readonly string[]; server: Server } {
  if (given.all.length === 0) {
    const named = svc("delete <site>");
    const link = findLink(context, undefined, {
      none: `name the site: ${named}`,
      several: `Name those that go: ${named}`,
    });
    return { written: [link.site_id], server: serverOf(context, link) };
  }
  const { chosen_by } = context.server;
  const linked = chosen_by === "DEPLOY_URL" ? [] : given.all.map((written) => linkNamed(context, written));
  const servers = linked.map((link) => (link === undefined ? context.server : serverOf(context, link)));
  if (new Set(servers.map(({ origin }) => origin)).size > 1) {
    throw usage("These sites are on different servers: delete those of one at a time.");
  }
  return { written: [...new Set(given.all)], server: servers[0] ?? context.server };
}

/** Says when an anonymous site ends by itself, as no one may delete it. Null for any other site. */
function endOfAnonymous(context: Context, { origin }: Server, written: string): string | null {
  const link = linkNamed(context, written);
  const at = context.now();
  if (link?.origin !== origin || link.expires_at === null) return null;
  const end = `${moment(link.expires_at, at)}, ${duration(link.expires_at - at)} from now`;
  const sentence = `${link.url} has no owner, so nobody can delete it: it ends by itself on ${end}.`;
  return `${sentence} To delete it now, make it yours first: ${svc(`claim ${link.site_id}`)}`;
}

/** The account's credential. Without one, the sentence also says what becomes of the site. */
function accountFor(context: Context, server: Server, written: readonly string[]): Credential {
  try {
    return requireSession(context.env, server, "delete");
  } catch (error) {
    const end = written.map((one) => endOfAnonymous(context, server, one)).find((one) => one !== null);
    throw end === undefined ? error : new Failure("unauthorized", `${(error as Failure).message} ${end}`);
  }
}

function notYours(context: Context, server: Server, written: string): Failure {
  const end = endOfAnonymous(context, server, written);
  if (end !== null) return new Failure("not_owned", end);
  const sentence = `Your account on ${server.origin} has no site ${written}: nothing was deleted.`;
  return new Failure("unknown_site", `${sentence} ${svc("list")} shows what it has.`);
}

/** Has a person type the slug of each, before the first one is deleted. */
async function confirm({ terminal }: Context, sites: readonly OwnedSite[]): Promise<void> {
  for (const { slug, url, label } of sites) {
    terminal.insist(text`\n  ${bold(url)}${label === null ? "" : ` (${label})`}`);
    terminal.insist(text`  goes for good, with its versions and comments. Nobody gets its address again.`);
    const typed = await readTyped(terminal, `  Type ${slug} to delete it: `, "shown");
    if (typed.trim() !== slug) throw new Failure("not_confirmed", `That is not ${slug}: nothing was deleted.`);
  }
}

const MOST_AT_ONCE = 100;

/** Deletes the sites and resolves to the site_ids that are gone. */
async function deleteAll(server: Server, credential: Credential, site_ids: readonly string[]): Promise<string[]> {
  const deleted: string[] = [];
  for (let at = 0; at < site_ids.length; at += MOST_AT_ONCE) {
    const json = { site_ids: site_ids.slice(at, at + MOST_AT_ONCE) };
    const call = { method: "POST", path: "/account/sites/bulk-delete", credential, json, repeatable: true } as const;
    deleted.push(...(await ask(server, call, DELETED)).deleted);
  }
  return deleted;
}

function dropLinks({ links }: Context, server: Server, site_ids: readonly string[]): void {
  try {
    links.remove((link) => site_ids.some((site_id) => isLinkOf(site_id, server)(link)));
  } catch {
    // The sites are gone: that a link could not be dropped is no failure of it.
  }
}

export async function remove(context: Context, given: CallWords): Promise<void> {
  const { terminal } = context;
  if (!given.has("yes") && !terminal.interactive) {
    throw usage(`${svc("delete")} asks on a terminal. A program says --yes: ${svc("delete <site> --yes")}`);
  }
  const { written, server } = chosen(context, given);
  const credential = accountFor(context, server, written);
  const owned = await allSites(server, credential);
  const sites = written.map((one) => {
    const site = owned.find((candidate) => isNamed(one, candidate));
    if (site === undefined) throw notYours(context, server, one);
    return site;
  });
  const unique = [...new Set(sites)];
  if (!given.has("yes")) await confirm(context, unique);
  const ids = unique.map(({ site_id }) => site_id);
  const deleted = await deleteAll(server, credential, ids);
  dropLinks(context, server, deleted);
  if (deleted.length < ids.length) {
    const left = unique.filter(({ site_id }) => !deleted.includes(site_id)).map(({ url }) => url);
    throw new Failure("unknown_site", `The server did not find ${left.join(", ")}: somebody else may have deleted it.`);
  }
  if (given.json) return terminal.json({ ok: true, deleted });
  for (const { url } of unique) terminal.say(text`  ${green("✓")} Deleted ${url}`);
  for (const site_id of deleted) terminal.result(site_id);
}
