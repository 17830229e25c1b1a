/** The receipt of a deploy, of a preview or of a dry run: for a person, what was fixed, what is still wrong and how long the
 *  site stays; for a program, the object of `--json`. */
import { join } from "node:path";
import { BUILD_DIR_CANDIDATES } from "../../client/build-dir-candidates.ts";
import { quoted } from "../../client/build-dir.ts";
import { packageManagerOf, runScript } from "../../client/package-manager.ts";
import type { Context, CallWords } from "../command.ts";
import { svc } from "../invocation.ts";
import { STOPPED } from "../service/upload.ts";
import { healedParts } from "../../base/healed.ts";
import { brokenWords, changeWords, checkedSentence } from "../../base/receipt-figures.ts";
import { type DeployResult, type Receipt, DRY_RUN, FIGURES } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { bold, cyan, dim, green, text, yellow, sayWithMark } from "../terminal/text.ts";
import { count, duration, moment } from "../terminal/units.ts";
import type { Content } from "./content.ts";
import { shownFrom } from "./find-link.ts";
import type { Infer } from "../../api/shapes/builder.ts";

type ReceiptWarning = DeployResult["warnings"][number];
type Healed = DeployResult["healed"][number];

/** On a terminal more groups than these would move the URL off the screen. */
const MOST_SHOWN = 6;

const withPath = ({ message, path }: { message: string; path?: string }): string =>
  path === undefined || message.includes(path) ? message : `${path}: ${message}`;

/** Groups the warnings by the change that would fix them. */
function byRecipe(warnings: readonly ReceiptWarning[]): [recipe: string, messages: string[]][] {
  const groups = new Map<string, string[]>();
  for (const warning of warnings) {
    const messages = groups.get(warning.fix_recipe) ?? [];
    groups.set(warning.fix_recipe, [...messages, withPath(warning)]);
  }
  return [...groups];
}

/** A recipe comes below all the warnings that it mends, and says how many they are. */
function forAll(recipe: string, warnings: number): string {
  if (warnings === 1) return recipe;
  return warnings === 2 ? `For both: ${recipe}` : `For all ${warnings}: ${recipe}`;
}

/** Says how to see the warnings that are not shown: a dry run has them too, and stores nothing. */
function more(terminal: Terminal, hidden: number): void {
  if (hidden === 0) return;
  terminal.insist(dim(text`    … and ${hidden} more; all of them by the same command with --dry-run 2> warnings.txt`));
}

function tellHealed(terminal: Terminal, healed: readonly Healed[]): void {
  for (const { heading, entries } of healedParts(healed)) {
    terminal.insist(bold(`  ${heading}`));
    for (const entry of entries) sayWithMark(terminal, green("✓"), withPath(entry));
    terminal.insist(text``);
  }
}

/** The outcome of what was sent. */
type Became = keyof typeof VERDICTS;
const VERDICTS = {
  live: "It is live, but",
  preview: "It is not live, and",
  nothing: "It could go live, but",
};

function tellWarnings(terminal: Terminal, warnings: readonly ReceiptWarning[], became: Became): void {
  if (warnings.length === 0) return;
  terminal.insist(text`  ${VERDICTS[became]} ${bold(yellow(brokenWords(warnings.length)))}`);
  const groups = byRecipe(warnings);
  const shown = terminal.columns === null ? groups : groups.slice(0, MOST_SHOWN);
  for (const [recipe, messages] of shown) {
    for (const message of messages) sayWithMark(terminal, yellow("!"), message);
    sayWithMark(terminal, cyan("→"), forAll(recipe, messages.length), dim, "    ");
  }
  const told = shown.reduce((sum, [, messages]) => sum + messages.length, 0);
  more(terminal, warnings.length - told);
  terminal.insist(text``);
}

/** How much was checked: said even if all is well. */
export function tellChecked(terminal: Terminal, { [FIGURES]: figures, warnings }: Receipt): void {
  const sentence = figures === undefined ? null : checkedSentence(figures.checked, warnings.length);
  if (sentence !== null) terminal.say(text`  ${sentence}`);
}

/** The same, after what changed against the version that was live before. */
export function tellFigures(terminal: Terminal, receipt: Receipt): void {
  const changes = receipt[FIGURES]?.changes;
  if (changes) terminal.say(text`  ${changeWords(changes)}`);
  tellChecked(terminal, receipt);
}

/** Printed with `--json` too: a deploy that was answered 200 can still serve a broken site. */
export function tellReceipt(terminal: Terminal, result: Receipt, became: Became = "live"): void {
  tellHealed(terminal, result.healed);
  tellWarnings(terminal, result.warnings, became);
}

/** Tells that the site is in quarantine, and why: a deploy that starts one has a warning that says it too. */
export function tellQuarantine(terminal: Terminal, signs: readonly string[]): void {
  if (signs.length === 0) return;
  const held = "The site is in quarantine: its pages load and send nothing elsewhere until the operator ends it.";
  sayWithMark(terminal, yellow("!"), `${held} ${signs.join(" ")}`);
}

/** Tells how long the site stays, and how to keep it. The claim link gives the site away, so only a person at a terminal
 *  sees it: the log of a build may be public (CONTRACT 8). */
export function tellExpiry({ terminal, env, now }: Context, result: Pick<DeployResult, "expires_at" | "claim_url">) {
  const { expires_at, claim_url } = result;
  if (expires_at === null) return;
  const until = text`  Here until ${bold(moment(expires_at, now()))}, ${duration(expires_at - now())} from now`;
  if (claim_url === undefined) return terminal.say(text`${until}. To keep it: ${svc("login")}`);
  if (terminal.columns === null || env["CI"]) return terminal.say(text`${until}. To keep it: ${svc("login")}`);
  terminal.say(text`${until}. To keep it, ${svc("login")}, or open this in a browser:`);
  terminal.say(text`  ${dim(claim_url)}`);
}

/** The command as the server writes it: it cannot know better. */
const NPM_BUILD = /\bnpm run build\b/g;

/** Commands of recipes, which the server writes as they are typed where `svc` is installed. */
const OWN_COMMAND = /\bsvc (?=(?:login|versions|update)\b)/g;
const typedHere = (warning: ReceiptWarning): ReceiptWarning => ({
  ...warning,
  fix_recipe: warning.fix_recipe.replace(OWN_COMMAND, () => `${svc()} `),
});

/** If sources were sent together with their build, the recipe ends with the command for the build. */
function withBuild({ cwd }: Context, { files, location }: Content, command: (path: string) => string) {
  const built = BUILD_DIR_CANDIDATES.find((folder) => files.has(`${folder}/index.html`));
  return (warning: DeployResult["warnings"][number]): DeployResult["warnings"][number] => {
    if (built === undefined || warning.code !== "unbuilt_source") return warning;
    const path = shownFrom(cwd, join(location, built));
    return { ...warning, fix_recipe: `${warning.fix_recipe} A build is there already: ${command(quoted(path))}` };
  };
}

/** The receipt with recipes for this machine: the server knows neither its package manager nor its shell. `command` is the one
 *  that sends a path to where this content went. */
export async function localReceipt(
  context: Context,
  receipt: Receipt,
  content: Content,
  command: (path: string) => string,
): Promise<Receipt> {
  const warnings = receipt.warnings.map(typedHere).map(withBuild(context, content, command));
  if (!warnings.some(({ fix_recipe }) => fix_recipe.search(NPM_BUILD) >= 0)) return { ...receipt, warnings };
  const build = runScript(await packageManagerOf(content.location), "build");
  return {
    ...receipt,
    warnings: warnings.map((warning) => ({ ...warning, fix_recipe: warning.fix_recipe.replace(NPM_BUILD, build) })),
  };
}

export const isDryRun = (given: CallWords): boolean => given.has("dry-run");

/** The sentence for a person who stops it after the whole upload was handed over. */
export const stoppedLate = (given: CallWords): string => (isDryRun(given) ? STOPPED.early : STOPPED.late);

/** `path` with a query of the parameters that are not null. */
export function withQuery(path: string, ...parameters: readonly (string | null)[]): string {
  const query = parameters.filter((parameter) => parameter !== null).join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** Tells what a deploy would change. The paths go to stdout, marked as `diff` marks them; everything else goes to stderr. */
export function tellDryRun(terminal: Terminal, given: CallWords, result: DryRun, receipt: Receipt): void {
  if (given.json) {
    terminal.json({ ok: true, ...result });
    return tellReceipt(terminal, receipt, "nothing");
  }
  const { added, changed, removed } = result.files;
  for (const [mark, paths] of [
    ["+", added],
    ["~", changed],
    ["-", removed],
  ] as const) {
    for (const path of paths) terminal.result(`${mark} ${path}`);
  }
  const none = added.length + changed.length + removed.length === 0;
  const sum = `${count(added.length, "file")} added, ${changed.length} changed, ${removed.length} removed`;
  terminal.say(text`\n  ${green("✓")} ${none ? "No changes" : sum} ${dim("(dry run: nothing was stored)")}`);
  terminal.say(text`  Unknown paths are answered with ${result.spa.enabled ? "the app (single-page app)" : "404"}`);
  tellChecked(terminal, receipt);
  terminal.say();
  tellReceipt(terminal, receipt, "nothing");
}

interface Published extends Receipt {
  url: string;
  site_id: string;
  version_id: string;
  /** Epoch milliseconds, as in the API. */
  expires_at: number | null;
  manage_token?: string | null;
  claim_token?: string | null;
  owner_account_id?: string;
}

export const isoTime = (epoch_ms: number | null): string | null =>
  epoch_ms === null ? null : new Date(epoch_ms).toISOString();

/** The host that serves this version for good (CONTRACT 2). */
export function versionUrl(url: string, version_id: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${version_id}--${host}`;
}

/** The object that `--json` prints after a deploy (SPEC). */
export const deployJson = (published: Published, { source, files, bytes }: Content, elapsed_ms: number) => ({
  ok: true,
  url: published.url,
  site_id: published.site_id,
  version_id: published.version_id,
  expires_at: isoTime(published.expires_at),
  manage_token: published.manage_token ?? null,
  claim_token: published.claim_token ?? null,
  owner_account_id: published.owner_account_id ?? null,
  source,
  files: files.size,
  bytes,
  elapsed_ms,
  healed: published.healed,
  warnings: published.warnings,
  version_url: versionUrl(published.url, published.version_id),
});

type DryRun = Infer<typeof DRY_RUN>;
