/** `svc update`: the next version of a site that was deployed before. */
import { resolve } from "node:path";
import { uploadIdentity } from "../../client/collect.ts";
import { ApiFailure } from "../service/refusal.ts";
import type { Context, CallWords } from "../command.ts";
import { contentAt, contentOfProject, requireExisting, type Content } from "./content.ts";
import { tellContent, tellLeftOut } from "./deploy.ts";
import {
  deployJson,
  isDryRun,
  localReceipt,
  stoppedLate,
  tellDryRun,
  tellExpiry,
  tellFigures,
  tellQuarantine,
  tellReceipt,
  withQuery,
} from "./receipt.ts";
import { usage } from "../failure.ts";
import { isBuiltAt, isAt } from "./find-link.ts";
import { svc } from "../invocation.ts";
import { sendContent } from "./send-content.ts";
import { NOTHING_WITHHELD, type Withheld, withheldSoon } from "./versions.ts";
import { thenWait } from "./wait.ts";
import { type Spinner, whileSpinning } from "../terminal/index.ts";
import {
  chooseSite,
  openSite,
  rollbackCommand,
  siteGone,
  touchLink,
  type OpenedSite,
  type ChosenSite,
} from "./chosen-site.ts";
import { withoutDeployToken } from "../saved/state.ts";
import { dim, green, sayWithMark, text, yellow } from "../terminal/text.ts";
import { seconds } from "../terminal/units.ts";
import { pick, type Shape } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { ask, soon } from "../service/api.ts";
import { STOPPED } from "../service/upload.ts";
import { DEPLOY_RESULT, DRY_RUN, type DeployResult, type Receipt } from "../service/wire.ts";

/** The folder or file to deploy: the path given, else what the link of this place remembers. A build folder that was looked up
 *  then is looked up again, but from inside it. */
export async function contentOf(
  context: Context,
  { server, link, site_id }: ChosenSite,
  path: string | undefined,
  command = "update",
) {
  const { cwd } = context;
  const isPlace = link !== null && isAt(link, cwd, path);
  if (isPlace && !link.looked_up && path === undefined) return contentAt(context, server, link.folder);
  if (path === undefined && link !== null && isBuiltAt(link, cwd, path)) return contentAt(context, server, cwd);
  if ((isPlace && link.looked_up) || path === undefined) {
    return contentOfProject(context, server, isPlace ? link.folder : cwd, svc(`${command} --site ${site_id}`));
  }
  requireExisting(context, path);
  return contentAt(context, server, resolve(cwd, path), path);
}

function settingsQuery(given: CallWords): string | null {
  if (given.has("spa") && given.has("no-spa")) throw usage("--spa and --no-spa contradict each other.");
  return given.has("spa") ? "spa=on" : given.has("no-spa") ? "spa=off" : null;
}

interface Sending<Answer> {
  content: Content;
  shape: Shape<Answer>;
  spinner: Spinner;
}

async function publish<Answer>(
  context: Context,
  opened: OpenedSite,
  given: CallWords,
  { content, shape, spinner }: Sending<Answer>,
): Promise<Answer> {
  const path = withQuery(
    `/sites/${opened.site_id}/deploys`,
    settingsQuery(given),
    isDryRun(given) ? "dry_run=1" : null,
  );
  const sending = { path, shape, spinner, late: stoppedLate(given) };
  return sendContent(context, opened, content, sending).catch((error: unknown) => {
    const isGone = error instanceof ApiFailure && error.code === "unknown_site";
    throw isGone ? siteGone(context, opened) : error;
  });
}

/** Takes the place of the server's answer if nothing had to be sent. */
function unchanged({ record, credential, link }: OpenedSite) {
  const manages = credential.from === "--token" || credential.token === link?.manage_token;
  return withoutDeployToken({
    url: record.url,
    site_id: record.site_id,
    version_id: record.live_version_id,
    expires_at: record.expires_at,
    manage_token: manages ? credential.token : null,
    owner_account_id: record.owner_account_id,
    healed: [],
    warnings: [],
  });
}

interface Outcome {
  result: ReturnType<typeof unchanged> | DeployResult;
  /** Its recipes are in the words of this machine. */
  receipt: Receipt;
  changed: boolean;
  elapsed_ms: number;
  /** Members that only `--json` prints. */
  more: object;
  /** Nothing changed, and pages that svc made of the files are of an older svc. */
  older_pages: boolean;
  /** Nothing, where nobody asked. */
  withheld: Withheld;
}

const OLDER_PAGES =
  "Its pages were made by an older svc and keep their look. Change anything in the files, a new line at an end is enough, to have them made anew.";

/** Says which folder went to which site, for a person who has several. */
function tellWhat({ terminal }: Context, given: CallWords, content: Content, { result, changed, elapsed_ms }: Outcome) {
  const { source } = content;
  const what = changed
    ? `Updated in ${seconds(elapsed_ms)}: ${source} is live at ${result.url}`
    : `No changes (already live): ${source} is what is live at ${result.url}`;
  if (changed) terminal.say();
  terminal.say(text`  ${green("✓")} ${what}`);
  if (given.has("spa")) terminal.say(text`  ${green("✓")} Unknown paths are answered with index.html`);
  if (given.has("no-spa")) terminal.say(text`  ${green("✓")} Unknown paths are answered with 404`);
}

/** The way back; of a version in which a secret was seen, the way to be rid of it. */
function tellBefore(context: Context, opened: OpenedSite, { result, withheld }: Outcome): void {
  const { terminal } = context;
  const before = opened.record.live_version_id;
  if (!withheld.versions.has(before)) {
    return terminal.say(
      dim(text`  Version ${result.version_id}. The one before: ${rollbackCommand(context, opened)}\n`),
    );
  }
  const held = `A secret was seen in the version before. Revoke it where it was issued, and remove that version from the server: ${svc("login")}, then ${svc(`versions delete ${before} --site ${opened.site_id}`)}`;
  sayWithMark(terminal, yellow("!"), held);
  terminal.say();
}

function tell(context: Context, given: CallWords, opened: OpenedSite, content: Content, outcome: Outcome): void {
  const { terminal } = context;
  const { result, receipt, changed, elapsed_ms, more, withheld } = outcome;
  terminal.ifStopped(null);
  const claim_token = result.owner_account_id === undefined ? opened.link?.claim_token : null;
  tellWhat(context, given, content, outcome);
  if (given.json) {
    terminal.json({ ...deployJson({ ...result, claim_token }, content, elapsed_ms), changed, ...more });
    tellLeftOut(terminal, content.secrets);
    tellQuarantine(terminal, withheld.quarantine);
    return tellReceipt(terminal, receipt);
  }
  terminal.url(result.url);
  if (given.has("quiet")) return result.manage_token ? terminal.insist(text`${result.manage_token}`) : undefined;
  tellQuarantine(terminal, withheld.quarantine);
  if (!changed) {
    if (outcome.older_pages) terminal.say(dim(text`  ${OLDER_PAGES}`));
    return tellReceipt(terminal, receipt);
  }
  tellContent(context, content);
  tellFigures(terminal, receipt);
  tellExpiry(context, { expires_at: result.expires_at });
  terminal.say();
  tellReceipt(terminal, receipt);
  tellBefore(context, opened, outcome);
}

/** Publishes the next version. Nothing is sent if the content is live already and no setting is changed. */
async function send(context: Context, opened: OpenedSite, given: CallWords, spinner: Spinner) {
  const content = await contentOf(context, opened, given.argument);
  const isLive = content.zip === undefined && uploadIdentity(content.files) === opened.record.live_version_id;
  const idle = isLive && settingsQuery(given) === null;
  if (idle) return { content, result: unchanged(opened) };
  const result = await publish(context, opened, given, { content, shape: DEPLOY_RESULT, spinner });
  return { content, result: withoutDeployToken(result) };
}

const receiptOf = (context: Context, { site_id }: OpenedSite, receipt: Receipt, content: Content): Promise<Receipt> =>
  localReceipt(context, receipt, content, (built) => svc(`update ${built} --site ${site_id}`));

const MADE_BY = pick(sites.RECEIPT, "pages_made_by");

/** Whether the pages of what is live are of an older svc. A server that does not say so soon is not waited for. */
async function hasOlderPages({ server }: Context, { site_id, record, credential }: OpenedSite): Promise<boolean> {
  const path = `/sites/${site_id}/versions/${record.live_version_id}/receipt`;
  const asked = ask(server, { method: "GET", path, credential, repeatable: false }, MADE_BY);
  return soon(
    asked.then(({ pages_made_by }) => pages_made_by === "an older svc").catch(() => false),
    false,
  );
}

async function rehearse(context: Context, site: ChosenSite, given: CallWords): Promise<void> {
  const { opened, content, result } = await whileSpinning(context.terminal, async (spinner) => {
    const opened = await openSite(context, site, 1);
    const content = await contentOf(context, opened, given.argument);
    return { opened, content, result: await publish(context, opened, given, { content, shape: DRY_RUN, spinner }) };
  });
  tellDryRun(context.terminal, given, result, await receiptOf(context, opened, result, content));
  if (given.json) tellLeftOut(context.terminal, content.secrets);
  else tellContent(context, content);
}

export async function update(context: Context, given: CallWords): Promise<void> {
  const started = context.now();
  settingsQuery(given);
  const site = chooseSite(context, given, given.argument);
  context.terminal.ifStopped(STOPPED.early);
  if (isDryRun(given)) return rehearse(context, site, given);
  const { opened, content, result } = await whileSpinning(context.terminal, async (spinner) => {
    const opened = await openSite(context, site, 1);
    return { opened, ...(await send(context, opened, given, spinner)) };
  });
  const isOfLink = content.looked_up && site.link !== null && isAt(site.link, context.cwd, given.argument);
  touchLink(context, opened, isOfLink ? { ...result, built: content.location } : result);
  const changed = result.version_id !== opened.record.live_version_id;
  const elapsed_ms = context.now() - started;
  const receipt = await receiptOf(context, opened, result, content);
  const deployed = { ...opened, version_id: result.version_id };
  // With an index of its own a site is what was uploaded.
  const asks = !changed && !given.json && !given.has("quiet") && !content.files.has("index.html");
  const withheld = changed && !given.has("quiet") ? await withheldSoon(opened) : NOTHING_WITHHELD;
  const older_pages = asks && (await hasOlderPages(context, opened));
  const outcome = { result, receipt, changed, elapsed_ms, older_pages, withheld };
  await thenWait(context, given, deployed, (more) => tell(context, given, opened, content, { ...outcome, more }));
}
