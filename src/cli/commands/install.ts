/** `svc install skill`: what svc is and how it is used, written where coding agents read it. */
import { homedir } from "node:os";
import type { Context, Given } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { pick } from "../terminal/picker.ts";
import { boundaryOf, plan, type Change, type Place } from "../skill/plan.ts";
import { findSign, TARGETS, type SkillTarget } from "../skill/targets.ts";
import { writeChange } from "../skill/write.ts";
import { text } from "../terminal/text.ts";

const flagged = (given: Given): SkillTarget[] =>
  given.has("all") ? [...TARGETS] : TARGETS.filter(({ name }) => given.has(name));

/** The targets of the flags. Without flags on a terminal those that a person ticks, else those always written and
 *  those detected. */
async function chosen({ cwd, terminal }: Context, given: Given): Promise<SkillTarget[]> {
  const exact = flagged(given);
  if (exact.length > 0) return exact;
  const found = TARGETS.map((target) => findSign(target, cwd));
  const asks = terminal.interactive && !isDry(given);
  if (!asks) return TARGETS.filter((_, i) => found[i] !== "not detected");
  const choices = TARGETS.map(({ name, file }, i) => ({
    label: name.padEnd(9) + file.padEnd(32),
    note: found[i] === "detected" ? "detected" : "",
    ticked: found[i] !== "not detected",
  }));
  return (await pick(terminal, "Write the svc skill for which agents?", choices)).map((i) => TARGETS[i]!);
}

const isDry = (given: Given): boolean => given.has("dry-run") || given.has("print");

/** Changes below the home folder. Targets that have no place there are named to the person. */
function globalChanges({ terminal }: Context, given: Given): Change[] {
  const exact = flagged(given);
  const wanted = exact.length > 0 ? exact : TARGETS;
  const [placed, rest] = [
    wanted.filter(({ global }) => global !== null),
    wanted.filter(({ global }) => global === null),
  ];
  const names = rest.map(({ name }) => name).join(", ");
  if (placed.length === 0)
    throw new Failure("no_global_place", `Below the home folder there is no place for ${names}.`);
  if (names !== "") terminal.say(text`  No place below the home folder: ${names}. Run it in a project for these.`);
  return plan(placed, { root: homedir(), boundary: null }, ({ global }) => global!);
}

async function localChanges(context: Context, given: Given): Promise<Change[]> {
  const place: Place = { root: context.cwd, boundary: boundaryOf(context.cwd) };
  return plan(await chosen(context, given), place, ({ file }) => file);
}

const WOULD = { written: "would be written", updated: "would be updated", unchanged: "unchanged" } as const;

const line = (name: string, file: string, status: string): string => `${name.padEnd(9)} ${file.padEnd(32)} ${status}`;

function list({ cwd, terminal }: Context, given: Given): void {
  const rows = TARGETS.map((target) => ({ target: target.name, file: target.file, found: findSign(target, cwd) }));
  if (given.json) return terminal.json({ ok: true, targets: rows });
  for (const { target, file, found } of rows) terminal.result(line(target, file, found));
}

export async function install(context: Context, given: Given): Promise<void> {
  if (given.argument !== "skill") throw usage(`What can be installed is the skill: ${svc("install skill")}`);
  if (given.has("list")) return list(context, given);
  const isGlobal = given.has("global");
  const changes = isGlobal ? globalChanges(context, given) : await localChanges(context, given);
  if (!isDry(given)) changes.forEach(writeChange);
  if (given.json) {
    const targets = changes.map(({ target, file, status }) => ({ target: target.name, file, status }));
    return context.terminal.json({ ok: true, dry_run: isDry(given), targets });
  }
  for (const { target, file, status } of changes) {
    const shown = isGlobal ? `~/${file}` : file;
    context.terminal.result(line(target.name, shown, isDry(given) ? WOULD[status] : status));
  }
  if (changes.length === 0) context.terminal.say(text`Nothing was ticked, and nothing written.`);
}
