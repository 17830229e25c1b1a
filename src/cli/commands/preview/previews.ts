/** `svc previews`: what is shown beside the live version, newest first. */
import type { Context, Given } from "../../command.ts";
import { svc } from "../../invocation.ts";
import { ask } from "../../service/api.ts";
import { PREVIEWS, type PreviewRow } from "../../service/wire-preview.ts";
import { columns } from "../../terminal/table.ts";
import { text } from "../../terminal/text.ts";
import { age, duration } from "../../terminal/units.ts";
import { chooseSite, type OpenedSite, openSite, touchLink } from "../chosen-site.ts";
import { endOf, forSite } from "./asking.ts";

/** A person reads how long ago and for how long, a program when. */
function rowsFor({ terminal, now }: Context, site: OpenedSite, previews: readonly PreviewRow[]): string[] {
  if (!terminal.resultIsRead) {
    return previews.map(({ name, url, version_id, expires_at }) =>
      [name ?? "-", url, version_id, new Date(endOf(expires_at, site)).toISOString()].join(" "),
    );
  }
  const rows = previews.map(({ name, url, created_at, expires_at }) => [
    name ?? "-",
    url,
    age(now() - Date.parse(created_at)),
    duration(endOf(expires_at, site) - now()),
  ]);
  return columns([["NAME", "URL", "DEPLOYED", "ENDS IN"], ...rows]);
}

export async function previews(context: Context, given: Given): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, given.argument), 1);
  const { server, credential, site_id, record } = opened;
  const call = { method: "GET", path: `/sites/${site_id}/previews`, credential, repeatable: true } as const;
  const body = await ask(server, call, PREVIEWS).catch(forSite(context, opened));
  touchLink(context, opened, record);
  if (given.json) return context.terminal.json({ ok: true, ...body });
  if (body.previews.length === 0)
    return context.terminal.say(text`No previews of ${record.url}: ${svc("preview")} makes one.`);
  for (const row of rowsFor(context, opened, body.previews)) context.terminal.result(row);
}
