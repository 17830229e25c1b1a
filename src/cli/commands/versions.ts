/** `svc versions`: what can be rolled back to, newest first. */
import type { Context, Given } from "../command.ts";
import { chooseSite, openSite, touchLink } from "./chosen-site.ts";
import type { VersionRow } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { cyan, dim, yellow } from "../terminal/text.ts";
import { sayWithMark } from "../terminal/with-mark.ts";
import { allVersions, versionPages } from "./pages.ts";

/** What a browser saw go wrong, below the version's row. */
function tellSeen(terminal: Terminal, { render }: VersionRow): void {
  for (const { message, fix_recipe } of render?.warnings ?? []) {
    sayWithMark(terminal, yellow("!"), message);
    sayWithMark(terminal, cyan("→"), fix_recipe, dim, "    ");
  }
}

export async function versions(context: Context, given: Given): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, given.argument));
  touchLink(context, opened, opened.record);
  const { site_id, live_version_id } = opened.record;
  if (given.json) {
    const rows = (await allVersions(opened)).map(({ version_id, created_at, render }) => ({
      version_id,
      created_at,
      ...(render && { render }),
    }));
    return context.terminal.json({ ok: true, site_id, live_version_id, versions: rows });
  }
  for await (const page of versionPages(opened)) {
    for (const row of page) {
      const { version_id, created_at } = row;
      context.terminal.result(`${version_id} ${created_at}${version_id === live_version_id ? " [live]" : ""}`);
      if (!given.quiet) tellSeen(context.terminal, row);
    }
  }
}
