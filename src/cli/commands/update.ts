/** `svc update`: the next version of a site that was deployed before. */
import { resolve } from "node:path";
import { uploadIdentity } from "../../client/upload-identity.ts";
import { ApiFailure, ask } from "../service/api.ts";
import type { Context, Given } from "../command.ts";
import { findBuildFolder, readContent, requireExisting, zipContent, type Content } from "./content.ts";
import { tellContent } from "./deploy.ts";
import { deployJson } from "./deploy-json.ts";
import { isDryRun, tellDryRun, withQuery } from "./dry-run.ts";
import { usage } from "../failure.ts";
import { liesAt, shownFrom } from "./find-link.ts";
import { svc } from "../invocation.ts";
import { tellExpiry, tellReceipt } from "./receipt.ts";
import { thenWait } from "./wait.ts";
import { whileSpinning, type Spinner } from "../terminal/spinner.ts";
import {
  chooseSite,
  openSite,
  rollbackCommand,
  siteGone,
  touchLink,
  type OpenedSite,
  type ChosenSite,
} from "./chosen-site.ts";
import { dim, green, text } from "../terminal/text.ts";
import { count, seconds } from "../terminal/units.ts";
import { zipBody } from "../service/upload.ts";
import type { DeployResult, DryRun } from "../service/wire.ts";

/** What to deploy: the path given, else what the link of this place remembers. A build folder that was looked up
 *  then is looked up again. */
async function contentOf(
  context: Context,
  { server, link, site_id }: ChosenSite,
  path: string | undefined,
): Promise<Content> {
  const { cwd } = context;
  const here = link !== null && liesAt(link, cwd, path) ? link : null;
  if (here?.looked_up || (here === null && path === undefined)) {
    const folder = await findBuildFolder(here?.folder ?? cwd, svc(`update --site ${site_id}`));
    return readContent(server, folder, shownFrom(cwd, folder));
  }
  if (path === undefined) return readContent(server, here!.folder, shownFrom(cwd, here!.folder));
  requireExisting(context, path);
  return readContent(server, resolve(cwd, path), path);
}

function spaQuery(given: Given): string | null {
  if (given.has("spa") && given.has("no-spa")) throw usage("--spa and --no-spa contradict each other.");
  return given.has("spa") ? "spa=on" : given.has("no-spa") ? "spa=off" : null;
}

async function publish<Answer>(
  context: Context,
  opened: OpenedSite,
  content: Content,
  given: Given,
  spinner: Spinner,
): Promise<Answer> {
  spinner.label(`Zipping ${count(content.files.size, "file")}`);
  try {
    return await ask<Answer>(opened.server, {
      method: "POST",
      path: withQuery(`/sites/${opened.site_id}/deploys`, spaQuery(given), isDryRun(given) ? "dry_run=1" : null),
      credential: opened.credential,
      zip: zipBody(await zipContent(content), spinner),
      // Equal content is one version, also where it arrives twice.
      repeatable: true,
    });
  } catch (error) {
    throw error instanceof ApiFailure && error.code === "unknown_site" ? siteGone(context, opened) : error;
  }
}

/** In place of the server's answer, where nothing had to be sent. */
function unchanged({ record, credential, link }: OpenedSite) {
  const manages = credential.from === "--token" || credential.token === link?.manage_token;
  return {
    url: record.url,
    site_id: record.site_id,
    version_id: record.live_version_id,
    expires_at: record.expires_at,
    manage_token: manages ? credential.token : null,
    owner_account_id: record.owner_account_id,
    healed: [],
    warnings: [],
  };
}

interface Outcome {
  result: ReturnType<typeof unchanged> | DeployResult;
  changed: boolean;
  elapsed_ms: number;
  /** Of `--json`. */
  more: object;
}

function tell(context: Context, given: Given, opened: OpenedSite, content: Content, outcome: Outcome): void {
  const { terminal } = context;
  const { result, changed, elapsed_ms, more } = outcome;
  const claim_token = result.owner_account_id === undefined ? opened.link?.claim_token : null;
  if (!changed) terminal.say(text`  ${green("✓")} No changes (already live)`);
  if (given.has("spa")) terminal.say(text`  ${green("✓")} Unknown paths are answered with index.html`);
  if (given.has("no-spa")) terminal.say(text`  ${green("✓")} Unknown paths are answered with 404`);
  if (given.json) {
    terminal.json({ ...deployJson({ ...result, claim_token }, content, elapsed_ms), changed, ...more });
    return tellReceipt(terminal, result);
  }
  if (changed) terminal.say(text`\n  ${green("✓")} Updated in ${seconds(elapsed_ms)}`);
  terminal.url(result.url);
  if (given.quiet) return result.manage_token ? terminal.insist(text`${result.manage_token}`) : undefined;
  if (!changed) return tellReceipt(terminal, result);
  tellContent(context, content);
  tellExpiry(terminal, { expires_at: result.expires_at }, context.now());
  terminal.say();
  tellReceipt(terminal, result);
  terminal.say(dim(text`  Version ${result.version_id}. The one before: ${rollbackCommand(context, opened)}\n`));
}

/** Nothing is sent where the content is live already and no setting is asked for. */
async function send(context: Context, opened: OpenedSite, given: Given, spinner: Spinner) {
  const content = await contentOf(context, opened, given.argument);
  const isLive = uploadIdentity(content.files) === opened.record.live_version_id;
  const idle = isLive && spaQuery(given) === null;
  if (idle) return { content, result: unchanged(opened) };
  return { content, result: await publish<DeployResult>(context, opened, content, given, spinner) };
}

async function rehearse(context: Context, site: ChosenSite, given: Given): Promise<void> {
  const { content, result } = await whileSpinning(context.terminal, async (spinner) => {
    const opened = await openSite(context, site, 1);
    const content = await contentOf(context, opened, given.argument);
    return { content, result: await publish<DryRun>(context, opened, content, given, spinner) };
  });
  tellDryRun(context.terminal, given, result);
  if (!given.json) tellContent(context, content);
}

export async function update(context: Context, given: Given): Promise<void> {
  const started = context.now();
  spaQuery(given);
  const site = chooseSite(context, given, given.argument);
  if (isDryRun(given)) return rehearse(context, site, given);
  const { opened, content, result } = await whileSpinning(context.terminal, async (spinner) => {
    const opened = await openSite(context, site, 1);
    return { opened, ...(await send(context, opened, given, spinner)) };
  });
  touchLink(context, opened, result);
  const changed = result.version_id !== opened.record.live_version_id;
  const elapsed_ms = context.now() - started;
  const deployed = { ...opened, version_id: result.version_id };
  await thenWait(context, given, deployed, (more) =>
    tell(context, given, opened, content, { result, changed, elapsed_ms, more }),
  );
}
