/** `svc versions` lists what can be rolled back to, newest first; `svc rollback` makes one of them live again. */
import type { Context, CallWords } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask } from "../service/api.ts";
import { ROLLED_BACK, VERSION_IDS, type VersionRow, VERSIONS_PAGE } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { columns, cut, cyan, dim, green, text, yellow, sayWithMark } from "../terminal/text.ts";
import { age } from "../terminal/units.ts";
import { chooseSite, openSite, rollbackCommand, touchLink, type OpenedSite } from "./chosen-site.ts";
import { versionUrl } from "./receipt.ts";

const TITLE_WIDTH = 40;

/** Tells below a version's row what a browser saw go wrong. */
function tellSeen(terminal: Terminal, { render }: VersionRow): void {
  for (const { message, fix_recipe } of render?.warnings ?? []) {
    sayWithMark(terminal, yellow("!"), message);
    sayWithMark(terminal, cyan("→"), fix_recipe, dim, "    ");
  }
}

/** The rows of the list: a person reads a title and an age, a program the row of SPEC. */
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

async function versions(context: Context, given: CallWords): Promise<void> {
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

function named(versions: readonly VersionRow[], written: string): string {
  const ids = versions.map(({ version_id }) => version_id);
  const prefix = written.toLowerCase();
  if (ids.includes(prefix)) return prefix;
  const matches = prefix === "" ? [] : ids.filter((id) => id.startsWith(prefix));
  if (matches.length === 1) return matches[0]!;
  if (matches.length === 0)
    throw new Failure("unknown_version", `Unknown version ${written}. ${svc("versions")} lists them.`);
  throw new Failure("ambiguous_version", `${written} could be ${matches.join(" or ")}. Give more of it.`);
}

/** The version immediately before the live one. */
function previous(versions: readonly VersionRow[], live_version_id: string): string {
  const before = versions[versions.findIndex(({ version_id }) => version_id === live_version_id) + 1];
  if (before !== undefined) return before.version_id;
  const only = versions.length === 1;
  const why = `${only ? "The site has only one version" : "The live version is the oldest"}: there is none to go back to.`;
  throw new Failure("no_previous_version", only ? why : `${why} ${svc("rollback <version>")} goes to any.`);
}

/** `svc rollback`: makes an earlier version live again. Nothing is deleted, so the way forward stays open. */
async function rollback(context: Context, given: CallWords): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, undefined), undefined, VERSION_IDS);
  const { record, server, credential } = opened;
  const versions = await allVersions(opened);
  const version_id =
    given.argument === undefined ? previous(versions, record.live_version_id) : named(versions, given.argument);
  const path = `/sites/${opened.site_id}/rollback`;
  const call = { method: "POST", path, credential, json: { version_id }, repeatable: true } as const;
  const body = await ask(server, call, ROLLED_BACK);
  touchLink(context, opened, { url: body.url, expires_at: record.expires_at ?? opened.link?.expires_at ?? null });
  if (given.json) return context.terminal.json(body);
  const changed = body.version_id !== body.previous_version_id;
  const is_live = changed ? `Version ${body.version_id} is live` : "No changes (already live)";
  context.terminal.say(text`\n  ${green("✓")} ${is_live}`);
  context.terminal.url(body.url);
  if (!changed) return;
  // Newest first.
  const place = (id: string) => versions.findIndex((version) => version.version_id === id);
  const way = place(version_id) > place(body.previous_version_id) ? "Forward" : "Back";
  const command = rollbackCommand(context, opened, body.previous_version_id);
  context.terminal.say(dim(text`  ${way} again: ${command}\n`));
}

async function allVersions(opened: OpenedSite): Promise<VersionRow[]> {
  const all: VersionRow[] = [];
  for await (const page of versionPages(opened)) all.push(...page);
  return all;
}

/** The pages of a site's versions, newest first; the first page came with the site. A page that leads nowhere is the last. */
async function* versionPages({ server, site_id, credential, record }: OpenedSite): AsyncGenerator<VersionRow[]> {
  for (let { versions, more } = record; ;) {
    yield versions;
    const before = versions.at(-1)?.version_id;
    if (!more || before === undefined) return;
    const path = `/sites/${site_id}?before=${encodeURIComponent(before)}`;
    ({ versions, more } = await ask(server, { method: "GET", path, credential, repeatable: true }, VERSIONS_PAGE));
    if (versions.at(-1)?.version_id === before) return;
  }
}

/** The commands about the versions of a site. */
export const VERSION_COMMANDS = { versions, rollback };
