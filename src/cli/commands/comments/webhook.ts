/** `svc comments webhook`: where a server that delivers webhooks sends what happens in the comments. */
import type { Context, Given } from "../../command.ts";
import { usage } from "../../failure.ts";
import { randomBlock } from "../../../base/random.ts";
import { svc } from "../../invocation.ts";
import { SETTINGS, type CommentSettings } from "../../service/wire-comments.ts";
import { dim, green, text } from "../../terminal/text.ts";
import type { OpenedSite } from "../chosen-site.ts";
import { askComments, known, openComments } from "./opened.ts";

const EVENTS = ["thread.created", "reply.created", "thread.resolved", "thread.reopened", "comment.reported"] as const;

const changeWebhook = (opened: OpenedSite, webhook: object | null): Promise<CommentSettings> =>
  askComments(opened, "settings", SETTINGS, { method: "PATCH", json: { webhook } });

const eventsOf = (given: Given): readonly string[] =>
  given
    .value("events")
    ?.split(",")
    .map((event) => known(event.trim(), EVENTS, "event")) ?? EVENTS;

async function end(context: Context, given: Given): Promise<void> {
  const settings = await changeWebhook(await openComments(context, given), null);
  if (given.json) return context.terminal.json({ ok: true, ...settings });
  context.terminal.say(text`\n  ${green("✓")} Nothing is sent any more\n`);
}

/** In the form that the libraries of Standard Webhooks take. */
const newSecret = (): string => `whsec_${Buffer.from(randomBlock(32)).toString("base64")}`;

export async function webhook(context: Context, given: Given): Promise<void> {
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
  context.terminal.say(text`\n  ${green("✓")} ${argument} is sent: ${events.join(", ")}`);
  context.terminal.say(dim(text`  Each is signed with this secret. It is shown this once:\n`));
  context.terminal.result(secret);
}
