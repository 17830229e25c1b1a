/** `svc versions`: what can be rolled back to, newest first. */
import type { Context, Given } from "../command.ts";
import { chooseSite, openSite, touchLink } from "./chosen-site.ts";
import { versionUrl } from "./deploy-json.ts";
import type { VersionRow } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { columns, cut } from "../terminal/table.ts";
import { cyan, dim, yellow } from "../terminal/text.ts";
import { age } from "../terminal/units.ts";
import { sayWithMark } from "../terminal/with-mark.ts";
import { allVersions, versionPages } from "./pages.ts";

const TITLE_WIDTH = 40;

/** What a browser saw go wrong, below the version's row. */
function tellSeen(terminal: Terminal, { render }: VersionRow): void {
  for (const { message, fix_recipe } of render?.warnings ?? []) {
    sayWithMark(terminal, yellow("!"), message);
    sayWithMark(terminal, cyan("→"), fix_recipe, dim, "    ");
  }
}

/** A person reads what it was and how long ago, a program SPEC's row. */
function rowsFor({ terminal, now }: Context, page: readonly VersionRow[], live: string): string[] {
  const mark = (version_id: string) => (version_id === live ? "[live]" : "");
  if (!terminal.resultIsRead) {
    return page.map(({ version_id, created_at }) => `${version_id} ${created_at} ${mark(version_id)}`.trimEnd());
  }
  return columns(
    page.map(({ version_id, title, created_at }) => [
      version_id,
      cut(title ?? "-", TITLE_WIDTH),
      age(now() - Date.parse(created_at)),
      mark(version_id),
    ]),
  );
}

export async function versions(context: Context, given: Given): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, given.argument));
  touchLink(context, opened, opened.record);
  const { site_id, live_version_id, url } = opened.record;
  if (given.json) {
    const rows = (await allVersions(opened)).map(({ version_id, created_at, title, render }) => ({
      version_id,
      created_at,
      title,
      version_url: versionUrl(url, version_id),
      ...(render && { render }),
    }));
    return context.terminal.json({ ok: true, site_id, live_version_id, versions: rows });
  }
  for await (const page of versionPages(opened)) {
    const rows = rowsFor(context, page, live_version_id);
    for (const [i, row] of page.entries()) {
      context.terminal.result(rows[i]!);
      if (!given.has("quiet")) tellSeen(context.terminal, row);
    }
  }
}
