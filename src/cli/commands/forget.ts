/** `svc forget`: removes this machine's links to a site. The site itself stays. */
import type { Context, CallWords } from "../command.ts";
import { Failure } from "../failure.ts";
import { findLink, linksOfSite, shownFrom } from "./find-link.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { text } from "../terminal/text.ts";

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
