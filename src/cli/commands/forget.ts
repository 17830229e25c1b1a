/** `svc forget`: this machine no longer knows the site. The site itself stays. */
import { JSON_FLAG, QUIET_FLAG, SITE_FLAG, type Command, type Context, type Given } from "../command.ts";
import { Failure } from "../failure.ts";
import { findLink, linksOfSite, shownFrom } from "./find-link.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { text } from "../terminal/text.ts";

/** Live links alone: those of expired sites are removed by the next change of the file. */
function chosen(context: Context, given: Given): Link[] {
  const site_id = given.value("site");
  if (site_id === undefined) return [findLink(context, given.argument)];
  return linksOfSite(context, site_id);
}

async function run(context: Context, given: Given): Promise<void> {
  const links = chosen(context, given);
  if (links.length === 0) throw new Failure("not_linked", `No folder is linked to ${given.value("site")}.`);
  const isChosen = (link: Link) => links.some((other) => isSamePlace(link, other));
  const forgotten = context.links.remove(isChosen);
  if (given.json) return context.terminal.json({ ok: true, forgotten: forgotten.map(({ folder }) => folder) });
  for (const { folder, url } of forgotten) {
    context.terminal.say(text`Forgot that ${shownFrom(context.cwd, folder)} is ${url}. The site stays.`);
  }
}

export const forget: Command = {
  name: "forget",
  argument: "[path]",
  summary: "Forget the link between a folder and its site",
  details: ["The site stays as it is. The saved manage_token is lost: keep it if the site is to be updated."],
  flags: [{ ...SITE_FLAG, help: "forget all folders linked to this site" }, JSON_FLAG, QUIET_FLAG],
  run,
};
