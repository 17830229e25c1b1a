/** Finds the site that a path or the current directory is linked to. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { quoted } from "../../client/build-dir.ts";
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";

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

const isChosenByVariable = ({ chosen_by }: Server): boolean => chosen_by === "DEPLOY_URL";

/** Links that count here: those of the server that DEPLOY_URL names; without it those of the default server, or all if it has
 *  none. */
function ofServer(links: Link[], server: Server): Link[] {
  const own = links.filter((link) => link.origin === server.origin);
  return isChosenByVariable(server) || own.length > 0 ? own : links;
}

/** All links to a site that count here: it may have been deployed from several folders, and from one that has another
 *  site by now. */
export function linksOfSite({ links, server }: Context, site_id: string): Link[] {
  const { live, replaced } = links.read();
  const known = [...live, ...replaced].filter((link) => link.site_id === site_id);
  return ofServer(known, server);
}

export const isLinkOf =
  (site_id: string, { origin }: Pick<Server, "origin">) =>
  (link: Link): boolean =>
    link.site_id === site_id && link.origin === origin;

const isBelow = (folder: string, above: string): boolean =>
  folder.startsWith(above.endsWith(sep) ? above : above + sep);

/** Whether a link belongs to a path; without a path, to the current directory or a folder below it. */
export function isAt({ folder }: Link, cwd: string, path: string | undefined): boolean {
  const key = linkKey(cwd, path);
  return folder === key || (path === undefined && isBelow(folder, key));
}

/** Whether the path is the build folder that was deployed the last time the link's project was. */
export const isBuiltAt = ({ folder, built }: Link, cwd: string, path: string | undefined): boolean =>
  built === linkKey(cwd, path) && built !== folder;

/** The links of that very place, else those whose looked-up folder it is, else without a path those of what is inside. */
function atPath(links: Link[], cwd: string, path: string | undefined): Link[] {
  const key = linkKey(cwd, path);
  const exact = links.filter(({ folder }) => folder === key);
  if (exact.length > 0) return exact;
  const built = links.filter((link) => isBuiltAt(link, cwd, path));
  return built.length > 0 ? built : links.filter((link) => isAt(link, cwd, path));
}

/** A path for a person whose shell is in `cwd`. */
export const shownFrom = (cwd: string, path: string): string => relative(cwd, path) || ".";

/** How to name a site if the place does not: most commands take `--site`. */
interface Ways {
  none: string;
  several: string;
}
const BY_FLAG: Ways = {
  none: "name a site: --site <id>",
  several: "Give --site and the id of one, or run it in one of these folders.",
};

function severalLinks(links: Link[], cwd: string, { several }: Ways): Failure {
  const list = links.map(({ folder, url, site_id }) => `${shownFrom(cwd, folder)} (${url}, ${site_id})`).join(", ");
  return new Failure("several_links", `Several sites were deployed from here: ${list}. ${several}`);
}

/** A command as it is typed, with the path if there is one. */
export const commandFor = (command: string, path: string | undefined): string =>
  path === undefined ? command : `${command} ${quoted(path)}`;

/** The links of a place on the server in use. If there are none and DEPLOY_URL is not set, those on any server. */
function linksAt(links: Link[], { cwd, server }: Context, path: string | undefined): Link[] {
  const own = links.filter(({ origin }) => origin === server.origin);
  const found = atPath(own, cwd, path);
  return found.length > 0 || isChosenByVariable(server) ? found : atPath(links, cwd, path);
}

/** The link of the nearest folder above a place. */
function linkAbove(links: Link[], { cwd, server }: Context, path: string | undefined): Link | undefined {
  const key = linkKey(cwd, path);
  const above = ofServer(links, server).filter(({ folder }) => isBelow(key, folder));
  return above.sort((a, b) => b.folder.length - a.folder.length)[0];
}

/** Says why a place has no link that counts. */
function notLinked(context: Context, path: string | undefined, { none }: Ways): Failure {
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
  const above = linkAbove(live, context, path);
  const rest =
    above === undefined
      ? `. Deploy it: ${deploy}, or ${none}`
      : `${projectAbove(context, above)} For a new site: ${deploy}`;
  return new Failure("not_linked", `Nothing was deployed ${place} yet${rest}`);
}

/** The project's site, and the command that updates it. */
function projectAbove({ cwd }: Context, { folder, url }: Link): string {
  const shown = shownFrom(cwd, folder);
  const here = shown === ".";
  const update = commandFor(svc("update"), here ? undefined : shown);
  return `, but ${here ? "this folder" : shown} is ${url} (${update} updates it).`;
}

/** The one link that a path, or the current directory, means. */
export function findLink(context: Context, path: string | undefined, ways = BY_FLAG): Link {
  const found = linksAt(context.links.read().live, context, path);
  if (new Set(found.map(({ folder }) => folder)).size > 1) throw severalLinks(found, context.cwd, ways);
  if (found[0] === undefined) throw notLinked(context, path, ways);
  return found[0];
}
