/** `svc rollback`: an earlier version is live again. Nothing is deleted, so the way forward stays open. */
import { ask } from "../service/api.ts";
import type { Context, Given } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import { chooseSite, openSite, rollbackCommand, touchLink } from "./chosen-site.ts";
import { allVersions } from "./pages.ts";
import { dim, green, text } from "../terminal/text.ts";
import { ROLLED_BACK, VERSION_IDS, type VersionRow } from "../service/wire.ts";

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
  const why = versions.length === 1 ? "The site has only one version" : "The live version is the oldest";
  const way = `${svc("rollback <version>")} goes to any.`;
  throw new Failure("no_previous_version", `${why}: there is none to go back to. ${way}`);
}

export async function rollback(context: Context, given: Given): Promise<void> {
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
