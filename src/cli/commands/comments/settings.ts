/** `svc comments status`, `enable`, `mode`, `off` and `webhook …`: whether visitors may comment, who reads it, and where
 *  events are sent. */
import { randomBlock } from "../../../base/random.ts";
import type { Context, CallWords } from "../../command.ts";
import { Failure, usage } from "../../failure.ts";
import { svc } from "../../invocation.ts";
import { pipedLine, readTwice } from "../../terminal/input.ts";
import { dim, green, text, yellow, sayWithMark } from "../../terminal/text.ts";
import { moment } from "../../terminal/units.ts";
import type { OpenedSite } from "../chosen-site.ts";
import { askComments, known, openComments } from "./opened.ts";
import { type Infer, array, extend, object, pick } from "../../../api/shapes/builder.ts";
import * as comments from "../../../api/shapes/comments.ts";
import { ON_MODES } from "../../../api/shapes/common.ts";

const COMMENT_SETTINGS = extend(
  pick(comments.COMMENT_SETTINGS, "mode", "passcode_set", "webhook"),
  {},
  {
    ...pick(comments.COMMENT_SETTINGS, "last_mode").required,
    // Settings that are on now and will not work yet.
    warnings: array(pick(comments.NO_COOKIES, "message", "fix_recipe")),
  },
);
const MODES = ON_MODES;

const MEANING: Readonly<Record<CommentSettings["mode"], string>> = {
  off: "Comments are off: threads are kept, and nobody sees them",
  anonymous: "Comments are on: anyone reads and writes them, and what is written shows at once",
  passcode: "Comments are on: everyone who knows the passcode reads and writes them",
  approved: "Comments are on: anyone reads and writes them, and what is written shows once you approve it",
};

interface Change {
  mode?: CommentSettings["mode"];
  passcode?: string;
}

const readSettings = (opened: OpenedSite): Promise<CommentSettings> =>
  askComments(opened, "settings", COMMENT_SETTINGS);
const changeSettings = (opened: OpenedSite, change: Change): Promise<CommentSettings> =>
  askComments(opened, "settings", COMMENT_SETTINGS, { method: "PATCH", json: change });

/** Prints warnings, such as that browsers keep visitors' cookies on https alone (COMMENTS, ruling 9). */
function warn({ terminal }: Context, { warnings = [] }: CommentSettings): void {
  for (const { message, fix_recipe } of warnings) sayWithMark(terminal, yellow("!"), `${message} ${fix_recipe}`);
}

/** How it goes with the webhook, where it does not go well. */
function webhookTrouble(webhook: NonNullable<CommentSettings["webhook"]>, now: number): string | null {
  const { failing_since, last_error, waiting, lost, ended_at } = webhook;
  if (ended_at !== undefined) {
    return `Its receiver said ${moment(Date.parse(ended_at), now)} that it is gone for good (410): nothing is sent until you set it anew.`;
  }
  const counted = (n: number, one: string, more: string) => n > 0 && `${n} ${n === 1 ? one : more}`;
  const counts = [counted(waiting, "letter waits", "letters wait"), counted(lost, "is lost", "are lost")]
    .filter(Boolean)
    .join(", ");
  const letters = counts === "" ? "" : `${counts}.`;
  if (failing_since === null) return lost > 0 ? letters : null;
  const failing = `Its receiver has taken no letter since ${moment(Date.parse(failing_since), now)}: ${last_error}.`;
  return `${failing} ${letters}`.trimEnd();
}

/** Prints `anonymous http://…` on stdout; the rest is for a person. */
function show({ terminal, now }: Context, given: CallWords, { record }: OpenedSite, settings: CommentSettings): void {
  const { mode, passcode_set, webhook } = settings;
  if (given.json) return terminal.json({ ok: true, ...settings });
  terminal.result(`${mode} ${record.url}`);
  terminal.say(text`\n  ${MEANING[mode]}.`);
  if (passcode_set) terminal.say(text`  A passcode is set.`);
  if (webhook !== null) terminal.say(text`  Events go to ${webhook.url}: ${webhook.events.join(", ")}`);
  const trouble = webhook && webhookTrouble(webhook, now());
  if (trouble !== null) sayWithMark(terminal, yellow("!"), trouble);
  terminal.say();
}

async function status(context: Context, given: CallWords): Promise<void> {
  const opened = await openComments(context, given);
  show(context, given, opened, await readSettings(opened));
}

function changed(context: Context, given: CallWords, opened: OpenedSite, settings: CommentSettings): void {
  const { terminal } = context;
  warn(context, settings);
  if (given.json) return terminal.json({ ok: true, ...settings });
  terminal.say(text`\n  ${green("✓")} ${MEANING[settings.mode]}\n`);
  terminal.result(`${settings.mode} ${opened.record.url}`);
}

/** Turns comments on. `wanted` is undefined for the mode that they last had. */
async function turnOn(context: Context, given: CallWords, wanted: Mode | undefined): Promise<void> {
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

/** Turns comments on in the mode that is given, else in the last one, else in `anonymous`. */
async function enable(context: Context, given: CallWords): Promise<void> {
  const written = given.value("mode");
  if (written === "off") throw usage(`${svc("comments off")} turns comments off.`);
  await turnOn(context, given, written === undefined ? undefined : modeOf(written));
}

async function mode(context: Context, given: CallWords): Promise<void> {
  const { argument } = given;
  if (argument === undefined) {
    throw usage(`${svc("comments mode")} wants a mode: ${svc(`comments mode <${MODES.join("|")}>`)}`);
  }
  if (argument === "off") return off(context, given);
  await turnOn(context, given, modeOf(argument));
}

async function off(context: Context, given: CallWords): Promise<void> {
  const opened = await openComments(context, given);
  changed(context, given, opened, await changeSettings(opened, { mode: "off" }));
}

// Other users of the machine see the words that a program is started with, so the flag is named last.
const WAYS =
  "Give it as a line on stdin with --passcode-stdin, or by --passcode <passcode>, which other users of this machine may see.";

async function typedTwice({ terminal }: Context): Promise<string> {
  const question = "  Passcode for comments, at least 8 characters (not shown): ";
  const { secret, same } = await readTwice(terminal, question);
  if (secret === "") throw new Failure("no_passcode", "No passcode was given: nothing was changed.");
  if (!same) throw new Failure("no_passcode", "The two passcodes differ: nothing was changed.");
  return secret;
}

async function lineOfStdin(): Promise<string> {
  const line = await pipedLine();
  if (line === "") throw new Failure("no_passcode", "stdin had no passcode: nothing was changed.");
  return line;
}

/** The passcode of the call, if it has one: from a flag, a pipe or a person. */
async function givenPasscode(context: Context, given: CallWords): Promise<string | undefined> {
  const flag = given.value("passcode");
  const by_stdin = given.has("passcode-stdin");
  if (flag !== undefined && by_stdin) throw usage("--passcode and --passcode-stdin both give a passcode: give one.");
  if (!by_stdin) return flag;
  return context.terminal.interactive ? typedTwice(context) : lineOfStdin();
}

/** Asks for a passcode, for comments that need one and have none. */
function askedPasscode(context: Context): Promise<string> {
  if (context.terminal.interactive) return typedTwice(context);
  return Promise.reject(new Failure("no_passcode", `The comments of this site have no passcode yet. ${WAYS}`));
}

const EVENTS = ["thread.created", "reply.created", "thread.resolved", "thread.reopened", "comment.reported"] as const;

const changeWebhook = (opened: OpenedSite, webhook: object | null): Promise<CommentSettings> =>
  askComments(opened, "settings", COMMENT_SETTINGS, { method: "PATCH", json: { webhook } });

const eventsOf = (given: CallWords): readonly string[] =>
  given
    .value("events")
    ?.split(",")
    .map((event) => known(event.trim(), EVENTS, "event")) ?? EVENTS;

async function end(context: Context, given: CallWords): Promise<void> {
  const settings = await changeWebhook(await openComments(context, given), null);
  if (given.json) return context.terminal.json({ ok: true, ...settings });
  context.terminal.say(text`\n  ${green("✓")} Nothing is sent any more\n`);
}

/** A secret in the form that the libraries of Standard Webhooks take. */
const newSecret = (): string => `whsec_${Buffer.from(randomBlock(32)).toString("base64")}`;

/** `svc comments webhook`: sets the address that a server with webhooks sends events of the comments to. */
async function webhook(context: Context, given: CallWords): Promise<void> {
  const { argument } = given;
  const call = svc("comments webhook");
  if (argument === undefined) throw usage(`${call} wants an address or off: ${call} <url>|off`);
  if (argument === "off") return end(context, given);
  if (!/^https?:\/\//.test(argument) || !URL.canParse(argument)) {
    throw usage(`${call} wants an address such as https://example.org/hook, or off, not ${argument}.`);
  }
  const [events, secret] = [eventsOf(given), newSecret()];
  const settings = await changeWebhook(await openComments(context, given), { url: argument, events, secret });
  if (given.json) return context.terminal.json({ ok: true, ...settings, secret });
  context.terminal.say(text`\n  ${green("✓")} These events go to ${argument}: ${events.join(", ")}`);
  context.terminal.say(dim(text`  Each is signed with this secret. It is shown this once:\n`));
  context.terminal.result(secret);
}

const LETTER = pick(comments.WEBHOOK_DELIVERY, "id", "type", "at", "outcome", "status", "tries");
const LETTERS = object({ deliveries: array(LETTER) });

/** A row: `msg_…  thread.created  2026-11-22T09:14:00.000Z  failed  500  2 tries`. */
const letterRow = ({ id, type, at, outcome, status, tries }: Infer<typeof LETTER>): string =>
  [id, type, at, outcome, status ?? "-", `${tries} ${tries === 1 ? "try" : "tries"}`].join("  ");

/** `svc comments webhook deliveries`: the last letters and what became of each. */
async function deliveries(context: Context, given: CallWords): Promise<void> {
  const opened = await openComments(context, given);
  const { deliveries } = await askComments(opened, "webhook/deliveries", LETTERS);
  if (given.json) return context.terminal.json({ ok: true, deliveries });
  if (deliveries.length === 0) context.terminal.say(text`No letters yet.`);
  for (const letter of deliveries) context.terminal.result(letterRow(letter));
}

/** `svc comments webhook resend`: one of them once more, under the same id. */
async function resend(context: Context, given: CallWords): Promise<void> {
  const { argument } = given;
  const call = svc("comments webhook resend");
  if (argument === undefined) throw usage(`${call} wants the letter's id: ${call} <msg_…>`);
  if (!/^msg_\w+$/.test(argument)) {
    throw usage(`${call} wants an id that ${svc("comments webhook deliveries")} shows, not ${argument}.`);
  }
  const opened = await openComments(context, given);
  const path = `webhook/deliveries/${argument}/again`;
  const letter = await askComments(opened, path, LETTER, { method: "POST", json: {} });
  if (given.json) return context.terminal.json({ ok: true, ...letter });
  context.terminal.say(
    text`\n  ${green("✓")} ${argument} is sent again now: ${svc("comments webhook deliveries")} shows what becomes of it\n`,
  );
}

type CommentSettings = Infer<typeof COMMENT_SETTINGS>;

type Mode = (typeof MODES)[number];

/** The commands that show and change how comments are set. */
export const COMMENT_COMMANDS = { status, enable, mode, off, webhook, deliveries, resend };
