/** After a deploy the place knows its site. */
import type { Context } from "../command.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import type { DeployResult } from "../service/wire.ts";
import { text, yellow } from "../terminal/text.ts";
import type { Content } from "./content.ts";
import { isBuiltAt, linkKey } from "./find-link.ts";

/** The link that this place had: its own, else that of the project whose build folder it is. */
function linkBefore({ links, cwd, server }: Context, path: string | undefined): Link | undefined {
  const place = { folder: linkKey(cwd, path), origin: server.origin };
  const live = links.read().live.filter(({ origin }) => origin === server.origin);
  return live.find((other) => isSamePlace(place, other)) ?? live.find((other) => isBuiltAt(other, cwd, path));
}

/** Where the link cannot be saved, the token is told now, or it would be lost. Returns what was linked before. */
export function linkTo(
  context: Context,
  path: string | undefined,
  { location }: Content,
  result: DeployResult,
): Link | undefined {
  const { url, site_id, manage_token, claim_token = null, expires_at } = result;
  const before = linkBefore(context, path);
  const looked_up = path === undefined;
  const place = { folder: linkKey(context.cwd, path), origin: context.server.origin };
  const how = { looked_up, built: looked_up ? location : null, used_at: context.now() };
  try {
    context.links.save({ ...place, ...how, url, site_id, manage_token, claim_token, expires_at });
    return before;
  } catch (error) {
    const { terminal } = context;
    terminal.say(text`  ${yellow("!")} This folder could not be linked to the site: ${(error as Error).message}`);
    if (manage_token !== null) terminal.say(text`    Keep its manage_token to update it: ${manage_token}`);
    return undefined;
  }
}
