/** `svc logout`: the saved session is deleted. Nothing is asked of the server, so it works without one. */
import { rmSync, existsSync } from "node:fs";
import type { Context, Given } from "../../command.ts";
import { sessionFile } from "../../saved/config-dir.ts";
import { text } from "../../terminal/text.ts";

export async function logout({ env, terminal }: Context, given: Given): Promise<void> {
  const file = sessionFile(env);
  const was = existsSync(file);
  rmSync(file, { force: true });
  if (given.json) return terminal.json({ ok: true });
  terminal.say(was ? text`Signed out: the saved session is deleted.` : text`There was no saved session.`);
  const variable = ["SVC_TOKEN", "SVC_API_KEY"].find((name) => env[name]);
  if (variable !== undefined) terminal.say(text`${variable} is set and still counts.`);
}
