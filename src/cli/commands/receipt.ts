/** What a person is told after a deploy: that it is live and for how long, what was fixed, what is still wrong. */
import type { Context } from "../command.ts";
import { svc } from "../invocation.ts";
import type { Terminal } from "../terminal/index.ts";
import { bold, cyan, dim, green, text, yellow } from "../terminal/text.ts";
import { count, duration, moment } from "../terminal/units.ts";
import { sayWithMark } from "../terminal/with-mark.ts";
import type { DeployResult, Receipt } from "../service/wire.ts";

type Warning = DeployResult["warnings"][number];
type Healed = DeployResult["healed"][number];

/** On a terminal more groups than these would move the URL off the screen. */
const MOST_SHOWN = 6;

const withPath = ({ message, path }: { message: string; path?: string }): string =>
  path === undefined || message.includes(path) ? message : `${path}: ${message}`;

/** Groups the warnings by the change that would fix them. */
function byRecipe(warnings: readonly Warning[]): [recipe: string, messages: string[]][] {
  const groups = new Map<string, string[]>();
  for (const warning of warnings) {
    const messages = groups.get(warning.fix_recipe) ?? [];
    groups.set(warning.fix_recipe, [...messages, withPath(warning)]);
  }
  return [...groups];
}

/** A recipe stands below all that it mends, and says how many that are. */
function forAll(recipe: string, warnings: number): string {
  if (warnings === 1) return recipe;
  return warnings === 2 ? `For both: ${recipe}` : `For all ${warnings}: ${recipe}`;
}

/** They come with each deploy, and with a dry run, which stores nothing. */
function more(terminal: Terminal, hidden: number): void {
  if (hidden === 0) return;
  terminal.insist(dim(text`    … and ${hidden} more; all of them by the same command with --dry-run 2> warnings.txt`));
}

function tellHealed(terminal: Terminal, healed: readonly Healed[]): void {
  if (healed.length === 0) return;
  terminal.insist(bold("  Fixed for you"));
  for (const entry of healed) sayWithMark(terminal, green("✓"), withPath(entry));
  terminal.insist(text``);
}

/** What became of what was deployed. */
type Became = keyof typeof VERDICTS;
const VERDICTS = {
  live: "live, but not all right yet",
  preview: "not live, and not all right yet",
  nothing: "it could go live, but is not all right yet",
};

function tellWarnings(terminal: Terminal, warnings: readonly Warning[], became: Became): void {
  if (warnings.length === 0) return;
  terminal.insist(text`  ${bold(yellow(count(warnings.length, "warning")))}: ${VERDICTS[became]}`);
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

/** Told with `--json` too: a deploy that was answered 200 can still serve a broken site. */
export function tellReceipt(terminal: Terminal, result: Receipt, became: Became = "live"): void {
  tellHealed(terminal, result.healed);
  tellWarnings(terminal, result.warnings, became);
}

/** How long the site stays, in words, and what makes it stay. Whoever has the claim link takes the site, so it is shown
 *  to a person at a terminal alone: the log of a build may be public (CONTRACT 8). */
export function tellExpiry({ terminal, env, now }: Context, result: Pick<DeployResult, "expires_at" | "claim_url">) {
  const { expires_at, claim_url } = result;
  if (expires_at === null) return;
  const until = text`  Here until ${bold(moment(expires_at, now()))}, ${duration(expires_at - now())} from now`;
  if (claim_url === undefined) return terminal.say(text`${until}.`);
  if (terminal.columns === null || env["CI"]) return terminal.say(text`${until}. To keep it: ${svc("login")}`);
  terminal.say(text`${until}. To keep it, ${svc("login")}, or open this in a browser:`);
  terminal.say(text`  ${dim(claim_url)}`);
}
