/** `svc list`: the account's sites, newest first. */
import type { Context, Given } from "../../command.ts";
import { svc } from "../../invocation.ts";
import { requireSession } from "../../service/which-server.ts";
import { columns, cut } from "../../terminal/table.ts";
import { text } from "../../terminal/text.ts";
import { age } from "../../terminal/units.ts";
import { allSites } from "../pages.ts";

/** A person's name for a site; the whole of it is in the JSON. */
const NAME_WIDTH = 32;

export async function list({ server, env, terminal, now }: Context, given: Given): Promise<void> {
  const credential = requireSession(env, server, "list");
  const sites = await allSites(server, credential);
  if (given.json || !terminal.resultIsRead) return terminal.json(sites);
  if (sites.length === 0) return terminal.say(text`No sites yet on ${server.origin}: ${svc()} makes one.`);
  const rows = sites.map(({ label, slug, url, created_at }) => [
    cut(label ?? slug, NAME_WIDTH),
    url,
    age(now() - Date.parse(created_at)),
  ]);
  for (const row of columns([["NAME", "URL", "CREATED"], ...rows])) terminal.result(row);
}
