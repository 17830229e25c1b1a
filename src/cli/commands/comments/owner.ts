/** `svc comments owner`: the address that makes a browser the owner on the site itself, once. */
import type { Context, Given } from "../../command.ts";
import { OWNER_CODE } from "../../service/wire-comments.ts";
import { dim, text } from "../../terminal/text.ts";
import { askComments, openComments } from "./opened.ts";

export async function owner(context: Context, given: Given): Promise<void> {
  const opened = await openComments(context, given);
  const made = await askComments(opened, "owner-code", OWNER_CODE, { method: "POST", json: {}, repeatable: false });
  if (given.json) return context.terminal.json({ ok: true, ...made });
  context.terminal.say(text`\n  Open this in your browser to answer and moderate on the site itself:`);
  context.terminal.url(made.url);
  context.terminal.say(dim(text`  It works once, within five minutes, for whoever opens it: keep it to yourself.\n`));
}
