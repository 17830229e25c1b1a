/** Finds the site that a path or the current directory is linked to. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { quoted } from "../../client/build-dir.ts";
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/state.ts";

/** The name of a path in a link. Symbolic links on the way to it are followed, so that one place has one name; a link
 *  at its end is not. */
export function linkKey(cwd: string, path = "."): string {
  const absolute = resolve(cwd, path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

/** Links that count here: those of the server that DEPLOY_URL names; without it those of the default server, or all
 *  where it has none. */
function ofServer(links: Link[], { origin, named }: Server): Link[] {
  const own = links.filter((link) => link.origin === origin);
  return named || own.length > 0 ? own : links;
}

/** All links to a site that count here: it may have been deployed from several folders. */
export const linksOfSite = ({ links, server }: Context, site_id: string): Link[] =>
  ofServer(
    links.read().live.filter((link) => link.site_id === site_id),
    server,
  );

export const isLinkOf =
  (site_id: string, { origin }: Server) =>
  (link: Link): boolean =>
    link.site_id === site_id && link.origin === origin;

/** Whether a link is that of a path; without a path, whether it is of the current directory or below it. */
export function liesAt({ folder }: Link, cwd: string, path: string | undefined): boolean {
  const key = linkKey(cwd, path);
  return folder === key || (path === undefined && folder.startsWith(key.endsWith(sep) ? key : key + sep));
}

/** With a path: the links of that path. Without: those of the current directory, else of the one linked path inside. */
function atPath(links: Link[], cwd: string, path: string | undefined): Link[] {
  const key = linkKey(cwd, path);
  const exact = links.filter(({ folder }) => folder === key);
  return exact.length > 0 ? exact : links.filter((link) => liesAt(link, cwd, path));
}

/** A path for a person who stands in `cwd`. */
export const shownFrom = (cwd: string, path: string): string => relative(cwd, path) || ".";

function severalLinks(links: Link[], cwd: string): Failure {
  const list = links.map(({ folder, url }) => `${shownFrom(cwd, folder)} (${url})`).join(", ");
  return new Failure(
    "several_links",
    `Several sites were deployed from here: ${list}. Name the path or give --site <id>.`,
  );
}

/** A command as it is typed, with the path if there is one. */
export const commandFor = (command: string, path: string | undefined): string =>
  path === undefined ? command : `${command} ${quoted(path)}`;

/** The links of a place on the server in use. Where there is none and DEPLOY_URL is not set: those on any server. */
function linksAt(links: Link[], { cwd, server }: Context, path: string | undefined): Link[] {
  const own = links.filter(({ origin }) => origin === server.origin);
  const found = atPath(own, cwd, path);
  return found.length > 0 || server.named ? found : atPath(links, cwd, path);
}

/** Why a place has no link that counts. */
function notLinked(context: Context, path: string | undefined): Failure {
  const { live, expired, broken } = context.links.read();
  const place = path === undefined ? "here" : `from ${path}`;
  const deploy = commandFor(svc(), path);
  if (linksAt(expired, context, path).length > 0) {
    return new Failure("site_expired", `The site that was deployed ${place} has expired. Deploy it afresh: ${deploy}`);
  }
  const { origin } = atPath(live, context.cwd, path)[0] ?? {};
  if (origin !== undefined) {
    const asked = context.server.origin;
    return new Failure("not_linked", `What was deployed ${place} is on ${origin}, and DEPLOY_URL names ${asked}.`);
  }
  if (broken !== null) return new Failure("not_linked", `${broken} cannot be read: what it linked is not known.`);
  return new Failure(
    "not_linked",
    `Nothing was deployed ${place} yet. Deploy it: ${deploy}, or name a site: --site <id>`,
  );
}

/** The one link that a path, or the current directory, stands for. */
export function findLink(context: Context, path: string | undefined): Link {
  const found = linksAt(context.links.read().live, context, path);
  if (new Set(found.map(({ folder }) => folder)).size > 1) throw severalLinks(found, context.cwd);
  if (found[0] === undefined) throw notLinked(context, path);
  return found[0];
}
