/** `svc versions`: what can be rolled back to, newest first. */
import type { Context, Given } from "../command.ts";
import { chooseSite, openSite, touchLink } from "./chosen-site.ts";
import { allVersions, versionPages } from "./pages.ts";

export async function versions(context: Context, given: Given): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, given.argument));
  touchLink(context, opened, opened.record);
  const { site_id, live_version_id } = opened.record;
  if (given.json) {
    const rows = (await allVersions(opened)).map(({ version_id, created_at }) => ({ version_id, created_at }));
    return context.terminal.json({ ok: true, site_id, live_version_id, versions: rows });
  }
  for await (const page of versionPages(opened)) {
    for (const { version_id, created_at } of page) {
      context.terminal.result(`${version_id} ${created_at}${version_id === live_version_id ? " [live]" : ""}`);
    }
  }
}
