/** `svc preview`: content beside what is live, at an address of its own. src/routes/deploys/preview.ts answers it. */
import type { Context, Given } from "../../command.ts";
import { usage } from "../../failure.ts";
import { svc } from "../../invocation.ts";
import { STOPPED } from "../../service/upload.ts";
import { PREVIEW_RESULT, type PreviewResult, type Receipt } from "../../service/wire-preview.ts";
import { whileSpinning } from "../../terminal/spinner.ts";
import { bold, dim, green, text } from "../../terminal/text.ts";
import { count, duration, moment, seconds } from "../../terminal/units.ts";
import { type ChosenSite, chooseSite, type OpenedSite, openSite, touchLink } from "../chosen-site.ts";
import type { Content } from "../content.ts";
import { tellContent } from "../deploy.ts";
import { withQuery } from "../dry-run.ts";
import { linkKey } from "../find-link.ts";
import { tellReceipt } from "../receipt.ts";
import { localReceipt } from "../recipes.ts";
import { sendContent } from "../send-content.ts";
import { contentOf } from "../update.ts";
import { endOf, forSite } from "./asking.ts";
import { markdownOf } from "./markdown.ts";
import { nameOf, slugIn, textFrom } from "./name.ts";

/** Null: the version's own address alone. */
function nameFor({ env }: Context, given: Given, site_url: string): string | null {
  const words = given.value("name") ?? textFrom(env);
  return words === null ? null : nameOf(words, slugIn(site_url));
}

interface Shown {
  content: Content;
  result: PreviewResult;
  receipt: Receipt;
  elapsed_ms: number;
}

/** As it is typed from here. */
function promoteCommand({ cwd }: Context, { link, site_id }: ChosenSite, { name, version_id }: PreviewResult): string {
  const site = link?.folder === linkKey(cwd) ? "" : ` --site ${site_id}`;
  return svc(`promote ${name ?? version_id}${site}`);
}

function tell(context: Context, given: Given, site: OpenedSite, { content, result, receipt, elapsed_ms }: Shown): void {
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

export async function preview(context: Context, given: Given): Promise<void> {
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
