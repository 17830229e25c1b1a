/** `svc versions` lists what can be rolled back to, newest first; `svc rollback` makes one of them live again; `svc versions
 *  delete` and `prune` delete some for good. */
import * as deploys from "../../api/shapes/deploys.ts";
import * as sites from "../../api/shapes/sites.ts";
import { array, type Infer, object, pick } from "../../api/shapes/builder.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask, soon } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { requireSession } from "../service/which-server.ts";
import { ROLLED_BACK, VERSION_IDS, type VersionRow, VERSIONS_PAGE } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { readTyped } from "../terminal/input.ts";
import { columns, cut, cyan, dim, green, text, yellow, sayWithMark } from "../terminal/text.ts";
import { age, count, size } from "../terminal/units.ts";
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

/** The versions that their rows mark. */
interface Marks {
  live: string;
  withheld: ReadonlySet<string>;
}

/** For a route that an older server does not have. */
function orElse<Answer>(none: Answer): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof ApiFailure && error.code === "not_found") return none;
    throw error;
  };
}

const WITHHELD = object({}, { ...sites.WITHHELD.required, ...sites.WITHHELD.optional });

/** The things of a site that visitors do not get. */
export interface Withheld {
  /** In these a secret was seen, so their own addresses do not show them. */
  versions: ReadonlySet<string>;
  /** The reasons why its pages load and send nothing elsewhere; empty where they do. */
  quarantine: readonly string[];
}
export const NOTHING_WITHHELD: Withheld = { versions: new Set(), quarantine: [] };

async function withheldOf({ server, site_id, credential }: OpenedSite): Promise<Withheld> {
  const call = { method: "GET", path: `/sites/${site_id}/withheld`, credential, repeatable: true } as const;
  const { withheld = [], quarantine = [] } = await ask(server, call, WITHHELD).catch(
    orElse<Infer<typeof WITHHELD>>({}),
  );
  return { versions: new Set(withheld), quarantine };
}

/** The same beside other work: nothing, if the server does not say so soon. */
export const withheldSoon = (opened: OpenedSite): Promise<Withheld> =>
  soon(
    withheldOf(opened).catch(() => NOTHING_WITHHELD),
    NOTHING_WITHHELD,
  );

/** The rows of the list: a person reads a title and an age, a program the row of SPEC. */
function rowsFor({ terminal, now }: Context, page: readonly VersionRow[], { live, withheld }: Marks): string[] {
  const mark = (version_id: string) => (version_id === live ? "[live]" : withheld.has(version_id) ? "[withheld]" : "");
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
  const { versions: withheld } = await withheldOf(opened);
  if (given.json) {
    const rows = (await allVersions(opened)).map(({ version_id, created_at, title, render }) => ({
      version_id,
      created_at,
      title,
      version_url: versionUrl(url, version_id),
      ...(withheld.has(version_id) && { withheld: true }),
      ...(render && { render }),
    }));
    return context.terminal.json({ ok: true, site_id, live_version_id, versions: rows });
  }
  for await (const page of versionPages(opened)) {
    const rows = rowsFor(context, page, { live: live_version_id, withheld });
    for (const [i, row] of page.entries()) {
      context.terminal.result(rows[i]!);
      if (!given.has("quiet")) tellSeen(context.terminal, row);
    }
  }
}

export function named(versions: readonly Pick<VersionRow, "version_id">[], written: string): string {
  const ids = [...new Set(versions.map(({ version_id }) => version_id))];
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

/** A rollback would show to everybody again what was taken offline. */
async function refuseWithheld(opened: OpenedSite, version_id: string, given: CallWords): Promise<void> {
  const { live_version_id } = opened.record;
  if (given.has("yes") || version_id === live_version_id || !(await withheldOf(opened)).versions.has(version_id))
    return;
  const which = `${version_id} --site ${opened.site_id}`;
  const [remove, show] = [svc(`versions delete ${which}`), svc(`rollback ${which} --yes`)];
  throw new Failure(
    "version_withheld",
    `A secret was seen in version ${version_id}: live again, everybody could read it. Signed in as the site's owner you remove it by ${remove}; to show it all the same: ${show}`,
  );
}

/** `svc rollback`: makes an earlier version live again. Nothing is deleted, so the way forward stays open. */
async function rollback(context: Context, given: CallWords): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, undefined), undefined, VERSION_IDS);
  const { record, server, credential } = opened;
  const versions = await allVersions(opened);
  const version_id =
    given.argument === undefined ? previous(versions, record.live_version_id) : named(versions, given.argument);
  await refuseWithheld(opened, version_id, given);
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

export async function allVersions(opened: OpenedSite): Promise<VersionRow[]> {
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

// Deletions. The server takes the account's session alone, so that nobody who may only deploy takes anything away.

/** Opens the site with the account's session. `call` is what a program would type. */
async function openOwn(context: Context, given: CallWords, command: string, call: string): Promise<OpenedSite> {
  if (!given.has("yes") && !context.terminal.interactive) {
    throw usage(`${svc(command)} asks on a terminal. A program says --yes: ${svc(`${call} --yes`)}`);
  }
  const site = chooseSite(context, given, undefined);
  const credential = requireSession(context.env, site.server, command);
  return openSite(context, { ...site, credentials: [credential] });
}

type DeletableVersion = Pick<VersionRow, "version_id" | "title" | "created_at">;

const DELETED = pick(sites.VERSION_DELETED, "freed_bytes");
const PREVIEWED = object({
  previews: array(pick(deploys.PREVIEWS.required.previews.items, "version_id", "title", "created_at")),
});

/** The versions that previews show, some of which are in no list. */
async function previewed({ server, site_id, credential }: OpenedSite): Promise<DeletableVersion[]> {
  const call = { method: "GET", path: `/sites/${site_id}/previews`, credential, repeatable: true } as const;
  return (await ask(server, call, PREVIEWED).catch(orElse({ previews: [] }))).previews;
}

/** Has a person type a word before anything is deleted. */
async function confirm(
  { terminal, now }: Context,
  { record }: OpenedSite,
  rows: readonly DeletableVersion[],
): Promise<void> {
  terminal.insist(text`\n  These go for good from ${record.url}:`);
  const lines = rows.map(({ version_id, title, created_at }) => [
    version_id,
    cut(title ?? "-", TITLE_WIDTH),
    age(now() - Date.parse(created_at)),
  ]);
  for (const line of columns(lines)) terminal.insist(text`  ${line}`);
  const question = `  Type delete to delete ${count(rows.length, "version")}: `;
  const typed = await readTyped(terminal, question, "shown");
  if (typed.trim() !== "delete") throw new Failure("not_confirmed", "That is not delete: nothing was deleted.");
}

async function deleteOne({ server, site_id, credential }: OpenedSite, version_id: string): Promise<number> {
  const path = `/sites/${site_id}/versions/${version_id}`;
  const call = { method: "DELETE", path, credential, repeatable: true } as const;
  try {
    return (await ask(server, call, DELETED)).freed_bytes;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // It went since it was listed, or with the first of two tries.
    if (error.code === "unknown_version") return 0;
    if (error.code !== "not_found" && error.code !== "method_not_allowed") throw error;
    const sentence = `The server ${server.origin} deletes no single versions: it is older than this svc. Upgrade it first.`;
    throw new Failure("not_found", sentence);
  }
}

/** Deletes them in their order, and prints each once it is gone. */
async function deleteAll(
  context: Context,
  given: CallWords,
  opened: OpenedSite,
  rows: readonly DeletableVersion[],
): Promise<void> {
  const { terminal } = context;
  if (rows.length > 0 && !given.has("yes")) await confirm(context, opened, rows);
  let freed_bytes = 0;
  for (const { version_id } of rows) {
    freed_bytes += await deleteOne(opened, version_id);
    if (!given.json) terminal.result(version_id);
  }
  touchLink(context, opened, opened.record);
  const deleted = rows.map(({ version_id }) => version_id);
  if (given.json) return terminal.json({ ok: true, deleted, freed_bytes });
  const freed = `${size(freed_bytes)} of files that no other version has`;
  terminal.say(text`  ${green("✓")} Deleted ${count(rows.length, "version")} (${freed})`);
}

/** `svc versions delete <version>…`. */
async function remove(context: Context, given: CallWords): Promise<void> {
  const call = "versions delete <version>";
  if (given.all.length === 0) throw usage(`Which versions? ${svc("versions")} lists them: ${svc(call)}`);
  const opened = await openOwn(context, given, "versions delete", call);
  const known: DeletableVersion[] = [...(await allVersions(opened)), ...(await previewed(opened))];
  const ids = new Set(given.all.map((written) => named(known, written)));
  const { live_version_id } = opened.record;
  if (ids.has(live_version_id)) {
    const way = `publish another one, or ${svc("rollback")} to one, and then delete it`;
    throw new Failure("version_live", `Version ${live_version_id} is live, so nothing was deleted: ${way}.`);
  }
  const rows = [...ids].map((id) => known.find(({ version_id }) => version_id === id)!);
  await deleteAll(context, given, opened, rows);
}

/** `svc versions prune --keep <n>`: the oldest go, but never the live one, until so many are left. */
async function prune(context: Context, given: CallWords): Promise<void> {
  const keep = given.value("keep");
  if (keep === undefined) throw usage(`How many stay? ${svc("versions prune --keep <n>")}`);
  if (!/^[1-9]\d{0,8}$/.test(keep)) throw usage(`--keep wants a number from 1, not ${keep}.`);
  const opened = await openOwn(context, given, "versions prune", `versions prune --keep ${keep}`);
  const versions = await allVersions(opened);
  const { live_version_id } = opened.record;
  const former = versions.filter(({ version_id }) => version_id !== live_version_id).reverse();
  const beyond = former.slice(0, Math.max(0, versions.length - Number(keep)));
  await deleteAll(context, given, opened, beyond);
}

/** The commands about the versions of a site. */
export const VERSION_COMMANDS = { versions, rollback, remove, prune };
