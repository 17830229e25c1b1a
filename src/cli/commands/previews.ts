/** `svc preview` shows content at an address of its own, while what is live stays; `svc previews` lists such content, newest
 *  first; `svc promote` makes one of them live. */
import { createHash } from "node:crypto";
import type { CallWords, Context } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { PREVIEW_RESULT, type Receipt, ROLLED_BACK } from "../service/wire.ts";
import { type Env, whileSpinning } from "../terminal/index.ts";
import { bold, columns, dim, green, text } from "../terminal/text.ts";
import { age, count, duration, moment, seconds } from "../terminal/units.ts";
import {
  chooseSite,
  type ChosenSite,
  type OpenedSite,
  openSite,
  rollbackCommand,
  siteGone,
  touchLink,
} from "./chosen-site.ts";
import { array, type Infer, object, pick } from "../../api/shapes/builder.ts";
import * as deploys from "../../api/shapes/deploys.ts";
import { visibleLine } from "../../base/visible.ts";
import { STOPPED } from "../service/upload.ts";
import type { Content } from "./content.ts";
import { tellContent } from "./deploy.ts";
import { linkKey } from "./find-link.ts";
import { localReceipt, tellChecked, tellReceipt, withQuery } from "./receipt.ts";
import { sendContent } from "./send-content.ts";
import { contentOf } from "./update.ts";

const PREVIEW_ROW = pick(
  deploys.PREVIEWS.required.previews.items,
  ...(["name", "url", "version_id", "title", "created_at", "expires_at"] as const),
);
type PreviewRow = Infer<typeof PREVIEW_ROW>;
const PREVIEWS = object({ previews: array(PREVIEW_ROW) });

/** The rows of the list: a person reads how long ago and how long still, a program reads times. */
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

async function previews(context: Context, given: CallWords): Promise<void> {
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

/** `svc promote`: makes a preview live, byte for byte. */
async function promote(context: Context, given: CallWords): Promise<void> {
  if (given.argument === undefined) throw usage(`Which preview? ${svc("previews")} lists them.`);
  const opened = await openSite(context, chooseSite(context, given, undefined), 1);
  const { record, server, credential, site_id } = opened;
  const name = namedPreview(given.argument, slugIn(record.url));
  const call = { method: "POST", path: `/sites/${site_id}/previews/${name}/promote`, credential } as const;
  const body = await ask(server, { ...call, repeatable: false }, ROLLED_BACK).catch((error: unknown) => {
    const isUnknown = error instanceof ApiFailure && error.code === "unknown_version";
    if (!isUnknown) return forSite(context, opened)(error);
    throw new Failure("unknown_version", `The site has no preview ${name}. ${svc("previews")} lists them.`);
  });
  touchLink(context, opened, record);
  if (given.json) return context.terminal.json(body);
  const changed = body.version_id !== body.previous_version_id;
  context.terminal.say(
    text`\n  ${green("✓")} ${changed ? `Version ${body.version_id} is live` : "No changes (already live)"}`,
  );
  context.terminal.url(body.url);
  if (!changed) return;
  context.terminal.say(dim(text`  Back again: ${rollbackCommand(context, opened, body.previous_version_id)}\n`));
}

/** When a preview ends: no later than its site. */
const endOf = (expires_at: number, { record }: Pick<OpenedSite, "record">): number =>
  Math.min(expires_at, record.expires_at ?? Infinity);

/** Explains a refusal that is about the site or the server, not about the call. */
const forSite =
  (context: Context, site: OpenedSite) =>
  (error: unknown): never => {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.code === "unknown_site") throw siteGone(context, site);
    if (error.code !== "not_found" && error.code !== "method_not_allowed") throw error;
    const { origin } = site.server;
    throw new Failure(
      "not_found",
      `The server ${origin} knows no previews: it is older than this svc. Upgrade it first.`,
    );
  };

/** The longest label of a host name: the preview's name, two hyphens and the slug. */
const LONGEST_LABEL = 63;
const longestFor = (slug: string): number => LONGEST_LABEL - "--".length - slug.length;

const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);
/** Names that no preview may have: a version's id, and `xn`, which marks another writing system in host names. */
const isTaken = (name: string): boolean => isVersionId(name) || name === "xn";

const withoutEnds = (text: string): string => text.replace(/^-+|-+$/g, "");

/** The name of a preview, made of any text, such as a branch (BEYOND 7). `slug` is the site's. */
function nameOf(text: string, slug: string): string {
  const name = withoutEnds(text.toLowerCase().replace(/[^a-z0-9]+/g, "-"));
  const longest = longestFor(slug);
  if (name !== "" && name.length <= longest && !isTaken(name)) return name;
  const mark = createHash("sha256").update(text).digest("hex").slice(0, 4);
  // Nothing is left of a text without a letter that a host name may have.
  return `${withoutEnds(name.slice(0, longest - mark.length - 1)) || "preview"}-${mark}`;
}

/** The preview that a command names: by its text, or by a version_id. */
const namedPreview = (text: string, slug: string): string =>
  isVersionId(text.toLowerCase()) ? text.toLowerCase() : nameOf(text, slug);

/** The name of the change that the build runs for: the pull request that GitHub or Forgejo names, else GitLab's branch; null if neither is
 *  known. */
function textFrom(env: Env): string | null {
  const pull = /^refs\/pull\/(\d+)\//.exec(env["GITHUB_REF"] ?? "")?.[1];
  return pull === undefined ? env["CI_COMMIT_REF_SLUG"] || null : `pr-${pull}`;
}

/** The slug in a site's address. */
const slugIn = (url: string): string => new URL(url).hostname.split(".")[0]!;

// `svc preview`: src/routes/deploys/preview.ts answers it.

/** The name of the preview; null if only the version's own address is wanted. */
function nameFor({ env }: Context, given: CallWords, site_url: string): string | null {
  const words = given.value("name") ?? textFrom(env);
  return words === null ? null : nameOf(words, slugIn(site_url));
}

interface PreviewOutcome {
  content: Content;
  result: PreviewResult;
  receipt: Receipt;
  elapsed_ms: number;
}

/** The command as it is typed from here. */
function promoteCommand({ cwd }: Context, { link, site_id }: ChosenSite, { name, version_id }: PreviewResult): string {
  const site = link?.folder === linkKey(cwd) ? "" : ` --site ${site_id}`;
  return svc(`promote ${name ?? version_id}${site}`);
}

function tell(
  context: Context,
  given: CallWords,
  site: OpenedSite,
  { content, result, receipt, elapsed_ms }: PreviewOutcome,
): void {
  const { terminal, now } = context;
  const { url, changed, files } = result;
  const ends = endOf(result.expires_at, site);
  terminal.ifStopped(null);
  terminal.say(text`\n  ${green("✓")} Preview in ${seconds(elapsed_ms)}: ${content.source} is shown at ${url}`);
  if (given.json) terminal.json({ ok: true, ...result });
  else if (given.has("markdown"))
    for (const line of markdownOf(site.site_id, { ...result, expires_at: ends }, receipt).split("\n"))
      terminal.result(line);
  else terminal.url(url);
  const counts = `${count(files.added.length, "file")} added, ${files.changed.length} changed, ${files.removed.length} removed`;
  terminal.say(text`  Until ${bold(moment(ends, now()))}, ${duration(ends - now())} from now.`);
  terminal.say(text`  ${changed ? `Against what is live: ${counts}.` : "It is what is live already."}`);
  tellContent(context, content);
  tellChecked(terminal, receipt);
  terminal.say();
  tellReceipt(terminal, receipt, changed ? "preview" : "live");
  if (changed) terminal.say(dim(text`  Make it live: ${promoteCommand(context, site, result)}\n`));
}

async function preview(context: Context, given: CallWords): Promise<void> {
  const started = context.now();
  if (given.json && given.has("markdown")) throw usage("--json and --markdown contradict each other.");
  const site = chooseSite(context, given, given.argument);
  context.terminal.ifStopped(STOPPED.early);
  const { opened, content, result } = await whileSpinning(context.terminal, async (spinner) => {
    const opened = await openSite(context, site, 1);
    const content = await contentOf(context, opened, given.argument, "preview");
    const name = nameFor(context, given, opened.record.url);
    const path = withQuery(`/sites/${site.site_id}/previews`, name === null ? null : `name=${name}`);
    const sending = { path, shape: PREVIEW_RESULT, spinner, late: STOPPED.late };
    const sent = sendContent(context, opened, content, sending);
    return { opened, content, result: await sent.catch(forSite(context, opened)) };
  });
  touchLink(context, opened, opened.record);
  const elapsed_ms = context.now() - started;
  const command = (built: string) => svc(`preview ${built} --site ${site.site_id}`);
  const receipt = await localReceipt(context, result, content, command);
  tell(context, given, opened, { content, result, receipt, elapsed_ms });
}

/** GitHub takes 65,536 characters in a comment; this leaves room for what is around the warnings. */
const MOST_CHARACTERS = 60_000;
/** One sentence has room for a file's name, which has at most 512 bytes. */
const MOST_OF_A_SENTENCE = 1_000;

/** Words in a code span, with more ticks around them than they have in a row. A tick at an end needs a space next to it. */
export function inert(words: string): string {
  const line = visibleLine(words).trim().slice(0, MOST_OF_A_SENTENCE).toWellFormed() || "-";
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return ticks + space + line + space + ticks;
}

/** A link in brackets; the URL is written without spaces and brackets. */
const link = (url: string): string => `<${new URL(url).href.replace(/[<>\s]/g, encodeURIComponent)}>`;

const idOf = (text: string): string => text.replace(/[^\w-]/g, "").replaceAll("--", "-");

const minute = (epoch_ms: number): string => `${new Date(epoch_ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

type ReceiptWarning = Receipt["warnings"][number];

const warned = ({ message, path, fix_recipe }: ReceiptWarning): string => {
  const what = path === undefined || message.includes(path) ? message : `${path}: ${message}`;
  return `- ${inert(what)}\n  → ${inert(fix_recipe)}`;
};

/** As many warnings as the comment has room for. */
function listed(warnings: readonly ReceiptWarning[], room: number): string[] {
  const lines: string[] = [];
  let left = room;
  for (const warning of warnings) {
    const line = warned(warning);
    if ((left -= line.length + 1) < 0) {
      const more = count(warnings.length - lines.length, "more warning");
      return [...lines, `- … and ${more}: they are in the log of the build.`];
    }
    lines.push(line);
  }
  return lines;
}

/** A comment for a pull request. Its author chose the names of the files, and what is said of them names them again, so each
 *  is in a code span: no host of code makes a link, a picture, a mention or HTML of that. */
export function markdownOf(site_id: string, preview: PreviewResult, { warnings }: Receipt): string {
  const { url, version_url, live_url, version_id, expires_at, changed, files } = preview;
  const { added, removed } = files;
  const counts = `${count(added.length, "file")} added, ${files.changed.length} changed, ${removed.length} removed`;
  const lines = [
    `<!-- svc-preview ${idOf(site_id)} -->`,
    `**Preview:** ${link(url)}`,
    "",
    `Version ${inert(version_id)}${url === version_url ? "" : ` at ${link(version_url)}`}, until ${minute(expires_at)}.`,
    changed ? `Against ${link(live_url)}: ${counts}.` : `It is what is live at ${link(live_url)}.`,
  ];
  if (warnings.length > 0) {
    lines.push("", `**${count(warnings.length, "warning")}**`, "");
    lines.push(...listed(warnings, MOST_CHARACTERS - lines.join("\n").length));
  }
  return lines.join("\n");
}

type PreviewResult = Infer<typeof PREVIEW_RESULT>;

/** The commands about what is shown next to the live version. */
export const PREVIEW_COMMANDS = { preview, previews, promote };
