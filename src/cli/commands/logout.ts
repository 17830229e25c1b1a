/** `svc logout`: the saved session is deleted. Nothing is asked of the server, so it works without one. */
import { rmSync, existsSync } from "node:fs";
import { JSON_FLAG, QUIET_FLAG, type Command, type Context, type Given } from "../command.ts";
import { sessionFile } from "../saved/config-dir.ts";
import { text } from "../terminal/text.ts";

async function run({ env, terminal }: Context, given: Given): Promise<void> {
  const file = sessionFile(env);
  const was = existsSync(file);
  rmSync(file, { force: true });
  if (given.json) return terminal.json({ ok: true });
  terminal.say(was ? text`Signed out: the saved session is deleted.` : text`There was no saved session.`);
  const variable = ["SVC_TOKEN", "SVC_API_KEY"].find((name) => env[name]);
  if (variable !== undefined) terminal.say(text`${variable} is set and still counts.`);
}

export const logout: Command = {
  name: "logout",
  argument: null,
  summary: "Delete the saved session",
  details: ["Sites and links stay as they are. On the server the session ends 90 days after its last use."],
  flags: [JSON_FLAG, QUIET_FLAG],
  run,
};
