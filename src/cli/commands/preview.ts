/** `svc preview`: shows content at an address of its own, while what is live stays. src/routes/deploys/preview.ts answers it. */
import { visibleLine } from "../../base/visible.ts";
import type { Context, CallWords } from "../command.ts";
import { usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { STOPPED } from "../service/upload.ts";
import { PREVIEW_RESULT, type Receipt } from "../service/wire.ts";
import { whileSpinning } from "../terminal/spinner.ts";
import { bold, dim, green, text } from "../terminal/text.ts";
import { count, duration, moment, seconds } from "../terminal/units.ts";
import { chooseSite, type ChosenSite, type OpenedSite, openSite, touchLink } from "./chosen-site.ts";
import type { Content } from "./content.ts";
import { tellContent } from "./deploy.ts";
import { linkKey } from "./find-link.ts";
import { endOf, forSite, nameOf, slugIn, textFrom } from "./previews.ts";
import { localReceipt, tellReceipt, withQuery } from "./receipt.ts";
import { sendContent } from "./send-content.ts";
import { contentOf } from "./update.ts";
import type { Infer } from "../../api/shapes/builder.ts";

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
  terminal.say();
  tellReceipt(terminal, receipt, changed ? "preview" : "live");
  if (changed) terminal.say(dim(text`  Make it live: ${promoteCommand(context, site, result)}\n`));
}

export async function preview(context: Context, given: CallWords): Promise<void> {
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
