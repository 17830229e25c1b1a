/** `svc open` shows a person the linked site, or the picture that the server's browser took of it; `svc forget` removes this machine's
 *  links to a site. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askBytes } from "../service/api.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure } from "../failure.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { text } from "../terminal/text.ts";
import { findLink, linksOfSite, shownFrom } from "./find-link.ts";
import { openBrowser, openFile } from "../terminal/open-browser.ts";
import { type ChosenSite, chooseSite, openSite, touchLink } from "./chosen-site.ts";

/** A server keeps at most two hundred kilobytes. */
const MOST_BYTES = 1 << 20;

/** The URL of the site. The server is not asked if a link has it. */
async function urlOf(context: Context, site: ChosenSite): Promise<string> {
  return site.link === null ? (await openSite(context, site, 1)).record.url : site.link.url;
}

/** Fetches the picture into a file that a viewer can read. */
async function fetchScreenshot(context: Context, site: ChosenSite): Promise<{ url: string; path: string }> {
  const opened = await openSite(context, site, 1);
  const { server, credential, record, site_id } = opened;
  touchLink(context, opened, record);
  const from = `/sites/${site_id}/screenshots/${record.live_version_id}`;
  const bytes = await askBytes(server, { method: "GET", path: from, credential, repeatable: true }, MOST_BYTES);
  const path = join(await mkdtemp(join(tmpdir(), "svc-")), "screenshot.webp");
  await writeFile(path, bytes, { mode: 0o600 });
  return { url: record.url, path };
}

export async function open(context: Context, given: CallWords): Promise<void> {
  const { env, terminal } = context;
  const site = chooseSite(context, given, given.argument);
  if (!given.has("screenshot")) {
    const url = await urlOf(context, site);
    const opened = await openBrowser(url, env, terminal);
    return given.json ? terminal.json({ ok: true, url, opened }) : terminal.result(url);
  }
  const { url, path } = await fetchScreenshot(context, site);
  const opened = await openFile(path, env, terminal);
  if (given.json) return terminal.json({ ok: true, url, opened, screenshot: path });
  terminal.result(path);
}

/** Live links only: those of expired sites are removed by the next change of the file. */
function chosen(context: Context, given: CallWords): Link[] {
  const site_id = given.value("site");
  if (site_id === undefined) return [findLink(context, given.argument)];
  return linksOfSite(context, site_id);
}

export async function forget(context: Context, given: CallWords): Promise<void> {
  const links = chosen(context, given);
  if (links.length === 0) throw new Failure("not_linked", `No folder is linked to ${given.value("site")}.`);
  const isChosen = (link: Link) => links.some((other) => isSamePlace(link, other) && link.site_id === other.site_id);
  const forgotten = context.links.remove(isChosen);
  if (given.json) return context.terminal.json({ ok: true, forgotten: forgotten.map(({ folder }) => folder) });
  for (const { folder, url } of forgotten) {
    context.terminal.say(text`Forgot that ${shownFrom(context.cwd, folder)} is ${url}. The site stays.`);
  }
}
