/** `svc comments status`, `enable`, `mode` and `off`: whether visitors may comment, and who reads it. */
import type { Context, Given } from "../../command.ts";
import { usage } from "../../failure.ts";
import { svc } from "../../invocation.ts";
import { MODES, SETTINGS, type CommentSettings, type Mode } from "../../service/wire-comments.ts";
import { green, text, yellow } from "../../terminal/text.ts";
import { sayWithMark } from "../../terminal/with-mark.ts";
import type { OpenedSite } from "../chosen-site.ts";
import { askComments, known, openComments } from "./opened.ts";
import { askedPasscode, givenPasscode } from "./passcode.ts";

const MEANING: Readonly<Record<CommentSettings["mode"], string>> = {
  off: "Comments are off: threads are kept, and nobody sees them",
  anonymous: "Comments are on: anyone reads and writes them, and what is written shows at once",
  passcode: "Comments are on: whoever knows the passcode reads and writes them",
  approved: "Comments are on: anyone reads and writes them, and what is written shows once you approve it",
};

interface Change {
  mode?: CommentSettings["mode"];
  passcode?: string;
}

const readSettings = (opened: OpenedSite): Promise<CommentSettings> => askComments(opened, "settings", SETTINGS);
const changeSettings = (opened: OpenedSite, change: Change): Promise<CommentSettings> =>
  askComments(opened, "settings", SETTINGS, { method: "PATCH", json: change });

/** Such as that browsers keep visitors' cookies on https alone (COMMENTS, ruling 9). */
function warn({ terminal }: Context, { warnings = [] }: CommentSettings): void {
  for (const { message, fix_recipe } of warnings) sayWithMark(terminal, yellow("!"), `${message} ${fix_recipe}`);
}

/** `anonymous http://…` on stdout; the rest is for a person. */
function show({ terminal }: Context, given: Given, { record }: OpenedSite, settings: CommentSettings): void {
  const { mode, passcode_set, webhook } = settings;
  if (given.json) return terminal.json({ ok: true, ...settings });
  terminal.result(`${mode} ${record.url}`);
  terminal.say(text`\n  ${MEANING[mode]}.`);
  if (passcode_set) terminal.say(text`  A passcode is set.`);
  if (webhook !== null) terminal.say(text`  Events go to ${webhook.url}: ${webhook.events.join(", ")}`);
  terminal.say();
}

export async function status(context: Context, given: Given): Promise<void> {
  const opened = await openComments(context, given);
  show(context, given, opened, await readSettings(opened));
}

function changed(context: Context, given: Given, opened: OpenedSite, settings: CommentSettings): void {
  const { terminal } = context;
  warn(context, settings);
  if (given.json) return terminal.json({ ok: true, ...settings });
  terminal.say(text`\n  ${green("✓")} ${MEANING[settings.mode]}\n`);
  terminal.result(`${settings.mode} ${opened.record.url}`);
}

/** Undefined: the mode that it last had. */
async function turnOn(context: Context, given: Given, wanted: Mode | undefined): Promise<void> {
  const passcode = await givenPasscode(context, given);
  const opened = await openComments(context, given);
  const before = await readSettings(opened);
  const mode = wanted ?? before.last_mode ?? "anonymous";
  const needed = mode === "passcode" && passcode === undefined && !before.passcode_set;
  const sent = needed ? await askedPasscode(context) : passcode;
  const settings = await changeSettings(opened, { mode, ...(sent !== undefined && { passcode: sent }) });
  changed(context, given, opened, settings);
}

const modeOf = (written: string): Mode => known(written, MODES, "mode of comments");

/** In a mode, else in the one that the site last had, else in `anonymous`. */
export async function enable(context: Context, given: Given): Promise<void> {
  const written = given.value("mode");
  if (written === "off") throw usage(`${svc("comments off")} turns comments off.`);
  await turnOn(context, given, written === undefined ? undefined : modeOf(written));
}

export async function mode(context: Context, given: Given): Promise<void> {
  const { argument } = given;
  if (argument === undefined) {
    throw usage(`${svc("comments mode")} wants a mode: ${svc(`comments mode <${MODES.join("|")}>`)}`);
  }
  if (argument === "off") return off(context, given);
  await turnOn(context, given, modeOf(argument));
}

export async function off(context: Context, given: Given): Promise<void> {
  const opened = await openComments(context, given);
  changed(context, given, opened, await changeSettings(opened, { mode: "off" }));
}
