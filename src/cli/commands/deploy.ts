/** `svc [path]`: makes a new site of a folder or a file, and links this place to it. It runs on the machine of the person who
 *  deploys; src/routes/deploys/deploy.ts answers it. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { randomKey } from "../../base/random.ts";
import type { Context, CallWords } from "../command.ts";
import { svc } from "../invocation.ts";
import { isPageName } from "../../base/page-names.ts";
import { Failure } from "../failure.ts";
import { isSamePlace, type Link } from "../saved/links.ts";
import { session, withoutDeployToken } from "../saved/state.ts";
import { type Shape, pick } from "../../api/shapes/builder.ts";
import { STOPPED, zipBody } from "../service/upload.ts";
import { ANY, DEPLOY_RESULT, type DeployResult, DRY_RUN, type Receipt } from "../service/wire.ts";
import { type Spinner, whileSpinning } from "../terminal/index.ts";
import { readTyped } from "../terminal/input.ts";
import { cyan, dim, green, text, yellow } from "../terminal/text.ts";
import { count, duration, moment, seconds, size } from "../terminal/units.ts";
import { type Content, contentAt, contentOfProject, requireExisting, zipContent } from "./content.ts";
import {
  deployJson,
  isDryRun,
  localReceipt,
  stoppedLate,
  tellDryRun,
  tellExpiry,
  tellFigures,
  tellReceipt,
  withQuery,
} from "./receipt.ts";
import { chooseById, type ChosenSite } from "./chosen-site.ts";
import { commandFor, isBuiltAt, linkKey, shownFrom } from "./find-link.ts";
import { nameToBe, namedResult, tellUnnamed } from "./rename.ts";
import { thenWait } from "./wait.ts";
import { MOST_PROOFS } from "../../client/challenge.ts";
import { solve } from "../../client/challenge.ts";
import type { Server } from "../saved/server.ts";
import type { ApiCall } from "../service/api.ts";
import { ask, soon } from "../service/api.ts";
import { endOf } from "../service/end-of-site.ts";
import { ApiFailure } from "../service/refusal.ts";
import { notTheGiven } from "../service/which-server.ts";
import { unexpected } from "../service/refusal.ts";
import * as account from "../../api/shapes/account.ts";

const CHALLENGE = pick(account.CHALLENGE, "challenge", "bits");

async function contentOf(context: Context, path: string | undefined): Promise<Content> {
  const { server, cwd } = context;
  if (path === undefined) return contentOfProject(context, server, cwd, svc());
  requireExisting(context, path);
  return contentAt(context, server, resolve(cwd, path), path);
}

interface NewSiteUpload<Answer> {
  /** Below the server's base, query included. */
  path: string;
  shape: Shape<Answer>;
  /** The sentence for a person who stops it after the whole upload was handed over. */
  late: string;
}

/** The key makes a repeated upload of an anonymous site find the first one; with a session the server ignores it. */
async function publish<Answer>(
  { server, env, terminal }: Context,
  { path, shape, late }: NewSiteUpload<Answer>,
  content: Content,
  spinner: Spinner,
): Promise<Answer> {
  spinner.label(`Zipping ${count(content.files.size, "file")}`);
  const credential = session(env, server.origin);
  const call = {
    method: "POST" as const,
    path,
    credential,
    zip: zipBody(await zipContent(content), spinner, () => terminal.ifStopped(late)),
    idempotency_key: randomKey(16),
    repeatable: credential === null,
  };
  return askWithProof(server, call, shape, { spinner, refused: () => terminal.ifStopped(STOPPED.early) });
}

/** Tells what was sent, as `3 files, 12.4 KB from dist`, and what was left out. */
export function tellContent({ terminal, server }: Context, { source, files, bytes, secrets }: Content): void {
  terminal.say(text`  ${count(files.size, "file")}, ${size(bytes)} from ${source}`);
  const other = notTheGiven(server);
  if (other !== null) terminal.say(dim(text`  ${other}`));
  tellLeftOut(terminal, secrets);
}

/** On a terminal more names than these would move the URL off the screen. */
const MOST_LEFT_OUT = 20;

/** Printed with `--json` too: whoever looks for a file that was not sent must learn why. */
export function tellLeftOut(terminal: Context["terminal"], secrets: readonly string[]): void {
  if (secrets.length === 0) return;
  const shown = terminal.columns === null ? secrets : secrets.slice(0, MOST_LEFT_OUT);
  const more = secrets.length > shown.length ? ` and ${secrets.length - shown.length} more` : "";
  terminal.say(dim(text`  Left out, as always: ${shown.join(", ")}${more}`));
}

interface DeployOutcome {
  content: Content;
  result: DeployResult;
  /** Its recipes are in the words of this machine. */
  receipt: Receipt;
  elapsed_ms: number;
}

function tell(
  context: Context,
  given: CallWords,
  { content, result, receipt, elapsed_ms }: DeployOutcome,
  more: object,
): void {
  const { terminal } = context;
  terminal.ifStopped(null);
  if (given.json) {
    terminal.json({ ...deployJson(result, content, elapsed_ms), ...more });
    tellLeftOut(terminal, content.secrets);
    return tellReceipt(terminal, receipt);
  }
  terminal.say(text`\n  ${green("✓")} Live in ${seconds(elapsed_ms)}`);
  terminal.url(result.url);
  if (given.has("quiet"))
    return result.manage_token === null ? undefined : terminal.insist(text`${result.manage_token}`);
  tellContent(context, content);
  tellFigures(terminal, receipt);
  if (result.owner_account_id !== undefined) terminal.say(text`  Yours: it does not expire.`);
  tellExpiry(context, result);
  terminal.say();
  tellReceipt(terminal, receipt);
  const update = commandFor(svc("update"), given.argument);
  terminal.say(text`  ${cyan(update)} ${dim("publishes your next version here.")}\n`);
}

/** A folder without any page would become a list of its files that everybody can read: a person is asked first (CONTRACT 8). */
async function askForList(
  { terminal }: Context,
  given: CallWords,
  { source, location, files, zip }: Content,
): Promise<void> {
  if (!terminal.interactive || given.has("yes") || isDryRun(given)) return;
  const is_single = zip === undefined && statSync(location).isFile();
  if ([...files.keys()].some(isPageName) || is_single || files.size === 0) return;
  terminal.say(text`  There is no web page in ${source}: it would be a list of ${count(files.size, "file")}.`);
  const typed = await readTyped(terminal, "  Publish the list, for anyone with the link to open? y or n: ", "shown");
  if (!/^y(?:es)?$/i.test(typed.trim())) throw new Failure("not_confirmed", "Nothing was published.");
}

async function upload<Answer>(context: Context, given: CallWords, call: Omit<NewSiteUpload<Answer>, "late">) {
  const { terminal } = context;
  terminal.ifStopped(STOPPED.early);
  const began = context.now();
  const content = await whileSpinning(terminal, () => contentOf(context, given.argument));
  const read = context.now();
  await askForList(context, given, content);
  const answered = context.now();
  const late = stoppedLate(given);
  const result = await whileSpinning(terminal, (spinner) => publish(context, { ...call, late }, content, spinner));
  return { content, result, started: began + answered - read };
}

async function rehearse(context: Context, given: CallWords): Promise<void> {
  const path = withQuery("/sites", "dry_run=1");
  const { content, result } = await upload(context, given, { path, shape: DRY_RUN });
  const receipt = await localReceipt(context, result, content, (built) => svc(built));
  tellDryRun(context.terminal, given, result, receipt);
  if (given.json) tellLeftOut(context.terminal, content.secrets);
  else tellContent(context, content);
}

/** Whether nothing that is saved here opens the site any more: a claim may have ended its token. */
async function isShut({ server, credentials, site_id }: ChosenSite): Promise<boolean> {
  const [credential, other] = credentials;
  if (credential === undefined || other !== undefined) return credential === undefined;
  const asked = ask(server, { method: "GET", path: `/sites/${site_id}?limit=1`, credential, repeatable: true }, ANY);
  const refused = asked.then(
    () => false,
    (error: unknown) => error instanceof ApiFailure && error.status === 401,
  );
  return soon(refused, false);
}

/** Says first what this place is linked to: other programs of the kind publish there again. */
async function tellLinked(context: Context, given: CallWords): Promise<void> {
  const { terminal } = context;
  const linked = terminal.interactive ? linkBefore(context, given.argument) : undefined;
  if (linked === undefined) return;
  const update = commandFor(svc("update"), given.argument);
  const first = (await isShut(chooseById(context, given, linked.site_id)))
    ? ` once you are signed in: ${svc("login")}`
    : ".";
  terminal.say(text`  ${given.argument ?? "This folder"} is ${linked.url}: ${cyan(update)} publishes there${first}`);
}

/** Tells a person who meant to update what became of the site that this place had, and how to keep it. */
async function tellBefore(context: Context, before: Link): Promise<void> {
  const { terminal, cwd, now } = context;
  const { url, built, folder, site_id } = before;
  const path = shownFrom(cwd, built ?? folder);
  const expires_at = await endOf(context.server, before);
  const became = expires_at === "gone" ? `The one before, ${url}, is gone.` : `The one before stays at ${url}`;
  const from = expires_at === "gone" ? "" : ` (it was deployed from ${path}).`;
  terminal.say(dim(text`  This is a new site. ${became}${from}`));
  if (typeof expires_at === "number") {
    const update = `${commandFor(svc("update"), path)} --site ${site_id}`;
    terminal.say(dim(text`  It ends on ${moment(expires_at, now())}, ${duration(expires_at - now())} from now.`));
    terminal.say(dim(text`  Keep it: ${svc("login")}, then ${svc(`claim ${site_id}`)}. Update it: ${update}.`));
  }
  terminal.say();
}

export async function deploy(context: Context, given: CallWords): Promise<void> {
  const naming = nameToBe(context, given);
  if (isDryRun(given)) return rehearse(context, given);
  await tellLinked(context, given);
  const { content, result: answer, started } = await upload(context, given, { path: "/sites", shape: DEPLOY_RESULT });
  const { result, unnamed } = await namedResult(naming, withoutDeployToken(answer));
  const before = linkTo(context, given.argument, content, result);
  const receipt = await localReceipt(context, result, content, (built) => svc(built));
  const outcome = { content, result, receipt, elapsed_ms: context.now() - started };
  const { site_id, version_id, manage_token: token } = answer;
  const deployed = { server: context.server, credential: { token: token!, from: "this deploy" }, site_id, version_id };
  await thenWait(context, given, deployed, (more) => tell(context, given, outcome, more));
  if (before !== undefined && !given.has("quiet")) await tellBefore(context, before);
  if (unnamed !== null) tellUnnamed(context, result, unnamed);
}

/** The link that this place had: its own, else that of the project whose build folder it is. */
function linkBefore({ links, cwd, server }: Context, path: string | undefined): Link | undefined {
  const place = { folder: linkKey(cwd, path), origin: server.origin };
  const live = links.read().live.filter(({ origin }) => origin === server.origin);
  return live.find((other) => isSamePlace(place, other)) ?? live.find((other) => isBuiltAt(other, cwd, path));
}

/** Links this place to its new site. If the link cannot be saved, the token is shown now, or it would be lost. Returns the
 *  link that was there before. */
function linkTo(
  context: Context,
  path: string | undefined,
  { location }: Content,
  result: DeployResult,
): Link | undefined {
  const { url, site_id, manage_token, claim_token = null, expires_at } = result;
  const before = linkBefore(context, path);
  const looked_up = path === undefined;
  const place = { folder: linkKey(context.cwd, path), origin: context.server.origin };
  const how = { looked_up, built: looked_up ? location : null, used_at: context.now() };
  try {
    context.links.save({ ...place, ...how, url, site_id, manage_token, claim_token, expires_at });
    return before;
  } catch (error) {
    const { terminal } = context;
    terminal.say(text`  ${yellow("!")} This folder could not be linked to the site: ${(error as Error).message}`);
    if (manage_token !== null) terminal.say(text`    Keep its manage_token to update it: ${manage_token}`);
    return undefined;
  }
}

const isAsked = (error: unknown): boolean => error instanceof ApiFailure && error.code === "challenge_failed";

/** The progress in per cent: how likely it is that this many tries are enough. */
const done = (tries: number, expected: number): number => Math.floor(100 * (1 - Math.exp(-tries / expected)));

/** Asks, and makes a proof of work if the service demands one. `refused` is called then: what came without a proof was not
 *  stored. */
async function askWithProof<Answer>(
  server: Server,
  call: ApiCall,
  shape: Shape<Answer>,
  { spinner, refused }: { spinner: Spinner; refused(): void },
): Promise<Answer> {
  let proof: string | undefined;
  for (let left = MOST_PROOFS; ; left--) {
    try {
      return await ask(server, { ...call, ...(proof !== undefined && { proof }) }, shape);
    } catch (error) {
      if (left === 0 || !isAsked(error)) throw error;
    }
    if (proof === undefined) refused();
    const path = "/challenge";
    const challenge = await ask(server, { method: "POST", path, credential: null, repeatable: true }, CHALLENGE);
    const tell = (tries: number, expected: number) =>
      spinner.label(`Proving that this is no robot: ${done(tries, expected)} %`);
    proof = await solve(challenge, tell).catch((error: Error) => {
      throw unexpected(server, 200, `${server.origin} asks for what svc does not do: ${error.message}.`);
    });
  }
}
