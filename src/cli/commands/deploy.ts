/** `svc [path]`: a folder or a file becomes a new site, and this place is linked to it. It runs on the machine of
 *  the person who deploys; src/routes/deploy.ts answers it. */
import { resolve } from "node:path";
import { randomKey } from "../../random.ts";
import type { Context, Given } from "../command.ts";
import { findBuildFolder, readContent, requireExisting, zipContent, type Content } from "./content.ts";
import { deployJson } from "./deploy-json.ts";
import { isDryRun, tellDryRun, withQuery } from "./dry-run.ts";
import { commandFor, linkKey, shownFrom } from "./find-link.ts";
import { svc } from "../invocation.ts";
import { tellExpiry, tellReceipt } from "./receipt.ts";
import { thenWait } from "./wait.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { askWithProof } from "../service/proof.ts";
import { whileSpinning, type Spinner } from "../terminal/spinner.ts";
import { session } from "../saved/state.ts";
import { cyan, dim, green, text, yellow } from "../terminal/text.ts";
import { count, seconds, size } from "../terminal/units.ts";
import { zipBody } from "../service/upload.ts";
import type { DeployResult, DryRun } from "../service/wire.ts";

async function contentOf(context: Context, path: string | undefined): Promise<Content> {
  if (path !== undefined) {
    requireExisting(context, path);
    return readContent(context.server, resolve(context.cwd, path), path);
  }
  const folder = await findBuildFolder(context.cwd, svc());
  return readContent(context.server, folder, shownFrom(context.cwd, folder));
}

/** The key makes a repeated upload of an anonymous site find the first one; with a session the server ignores it. */
async function publish<Answer>(
  { server, env }: Context,
  path: string,
  content: Content,
  spinner: Spinner,
): Promise<Answer> {
  spinner.label(`Zipping ${count(content.files.size, "file")}`);
  const credential = session(env, server.origin);
  const call = {
    method: "POST" as const,
    path,
    credential,
    zip: zipBody(await zipContent(content), spinner),
    idempotency_key: randomKey(16),
    repeatable: credential === null,
  };
  return askWithProof<Answer>(server, call, spinner);
}

/** Where the link cannot be saved, the token is told now, or it would be lost. Returns what was linked before. */
function link(context: Context, path: string | undefined, result: DeployResult): Link | undefined {
  const { url, site_id, manage_token, claim_token = null, expires_at } = result;
  const place = { folder: linkKey(context.cwd, path), origin: context.server.origin };
  const before = context.links.read().live.find((other) => isSamePlace(place, other));
  const how = { looked_up: path === undefined, used_at: context.now() };
  try {
    context.links.save({ ...place, ...how, url, site_id, manage_token, claim_token, expires_at });
    return before;
  } catch (error) {
    context.terminal.say(
      text`  ${yellow("!")} This folder could not be linked to the site: ${(error as Error).message}`,
    );
    context.terminal.say(text`    Keep its manage_token to update it: ${manage_token}`);
    return undefined;
  }
}

/** What was sent, as `3 files, 12.4 KB from dist`, and what was not. */
export function tellContent({ terminal }: Context, { source, files, bytes, secrets }: Content): void {
  terminal.say(text`  ${count(files.size, "file")}, ${size(bytes)} from ${source}`);
  if (secrets.length > 0) terminal.say(dim(text`  Left out, as always: ${secrets.slice(0, 5).join(", ")}`));
}

interface Outcome {
  content: Content;
  result: DeployResult;
  elapsed_ms: number;
}

function tell(context: Context, given: Given, { content, result, elapsed_ms }: Outcome, more: object): void {
  const { terminal } = context;
  if (given.json) {
    terminal.json({ ...deployJson(result, content, elapsed_ms), ...more });
    return tellReceipt(terminal, result);
  }
  terminal.say(text`\n  ${green("✓")} Live in ${seconds(elapsed_ms)}`);
  terminal.url(result.url);
  if (given.quiet) return terminal.insist(text`${result.manage_token}`);
  tellContent(context, content);
  if (result.owner_account_id !== undefined) terminal.say(text`  Yours: it does not expire.`);
  tellExpiry(terminal, result, context.now());
  terminal.say();
  tellReceipt(terminal, result);
  const update = commandFor(svc("update"), given.argument);
  terminal.say(text`  ${cyan(update)} ${dim("publishes your next version here.")}\n`);
}

async function upload<Answer>(context: Context, given: Given, path: string) {
  return whileSpinning(context.terminal, async (spinner) => {
    const content = await contentOf(context, given.argument);
    return { content, result: await publish<Answer>(context, path, content, spinner) };
  });
}

async function rehearse(context: Context, given: Given): Promise<void> {
  const { content, result } = await upload<DryRun>(context, given, withQuery("/sites", "dry_run=1"));
  tellDryRun(context.terminal, given, result);
  if (!given.json) tellContent(context, content);
}

export async function deploy(context: Context, given: Given): Promise<void> {
  if (isDryRun(given)) return rehearse(context, given);
  const started = context.now();
  const { content, result } = await upload<DeployResult>(context, given, "/sites");
  const before = link(context, given.argument, result);
  const outcome = { content, result, elapsed_ms: context.now() - started };
  const { site_id, version_id, manage_token: token } = result;
  const deployed = { server: context.server, credential: { token, from: "this deploy" }, site_id, version_id };
  await thenWait(context, given, deployed, (more) => tell(context, given, outcome, more));
  if (before !== undefined && !given.json) {
    context.terminal.say(dim(text`  This is a new site. The one before stays at ${before.url}\n`));
  }
}
