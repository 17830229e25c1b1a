/** `svc forget`: this machine no longer knows the site. The site itself stays. */
import { JSON_FLAG, QUIET_FLAG, SITE_FLAG, type Command, type Context, type Given } from "../command.ts";
import { Failure } from "../failure.ts";
import { findLink, ofServer, shownFrom } from "./find-link.ts";
import type { Link } from "../saved/links.ts";
import { text } from "../terminal/text.ts";

/** Links of an expired site can be forgotten too, but they are gone with the next change anyway. */
function chosen(context: Context, given: Given): Link[] {
  const site_id = given.value("site");
  if (site_id === undefined) return [findLink(context, given.argument)];
  return ofServer(
    context.links.read().live.filter((link) => link.site_id === site_id),
    context.server,
  );
}

async function run(context: Context, given: Given): Promise<void> {
  const links = chosen(context, given);
  if (links.length === 0) throw new Failure("not_linked", `No folder is linked to ${given.value("site")}.`);
  const isChosen = (link: Link) => links.some((l) => l.folder === link.folder && l.origin === link.origin);
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
