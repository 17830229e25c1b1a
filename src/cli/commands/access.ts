/** `svc access`: whether visitors of a site need a password (BEYOND 8). The password is never a flag: other users of a machine see the
 *  words that a program is started with. */
import { pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import type { CallWords, Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { ask } from "../service/api.ts";
import { pipedLine, readTwice } from "../terminal/input.ts";
import { green, text } from "../terminal/text.ts";
import { ANY } from "../service/wire.ts";
import { chooseSite, openSite, type OpenedSite } from "./chosen-site.ts";

const SHORTEST = 8;
const LONGEST = 256;
const ACCESS = pick(sites.ACCESS, "mode", "set_at");

const call = ({ server, credential, site_id }: OpenedSite, method: "GET" | "PUT" | "DELETE", json?: unknown) =>
  [server, { method, path: `/sites/${site_id}/access`, credential, repeatable: true, ...(json !== undefined && { json }) }] as const; // prettier-ignore

const opened = (context: Context, given: CallWords): Promise<OpenedSite> =>
  openSite(context, chooseSite(context, given, undefined), 1);

const nothingChanged = (why: string): Failure => new Failure("no_password", `${why}: nothing was changed.`);

async function typedTwice({ terminal }: Context): Promise<string> {
  const question = "  Password for visitors, at least 8 characters (not shown): ";
  const { secret, same } = await readTwice(terminal, question);
  if (secret === "") throw nothingChanged("No password was given");
  if (!same) throw nothingChanged("The two passwords differ");
  return secret;
}

/** From a pipe, or from a person. Throws for one that the server would refuse, before it is asked. */
async function wanted(context: Context, given: CallWords): Promise<string> {
  if (!given.has("password-stdin") && !context.terminal.interactive) {
    throw nothingChanged(
      "No password was given. On a terminal it is asked for; else send it as a line with --password-stdin",
    );
  }
  const password = given.has("password-stdin") && !context.terminal.interactive ? await pipedLine() : await typedTwice(context); // prettier-ignore
  const { length } = [...password.normalize()];
  if (length < SHORTEST || length > LONGEST) {
    throw nothingChanged(`The password must have ${SHORTEST} to ${LONGEST} characters, and has ${length}`);
  }
  return password;
}

async function setPassword(context: Context, given: CallWords): Promise<void> {
  const password = await wanted(context, given);
  const site = await opened(context, given);
  const { set_at } = await ask(...call(site, "PUT", { password }), ACCESS);
  const { site_id, record } = site;
  if (given.json) return context.terminal.json({ ok: true, site_id, mode: "password", set_at });
  context.terminal.say(text`\n  ${green("✓")} Visitors of ${record.url} need the password; all are asked anew`);
  context.terminal.result("password");
}

async function off(context: Context, given: CallWords): Promise<void> {
  const site = await opened(context, given);
  await ask(...call(site, "DELETE"), ANY);
  const { site_id, record } = site;
  if (given.json) return context.terminal.json({ ok: true, site_id, mode: "public", set_at: null });
  context.terminal.say(text`\n  ${green("✓")} Everybody may see ${record.url}`);
  context.terminal.result("public");
}

async function status(context: Context, given: CallWords): Promise<void> {
  const site = await opened(context, given);
  const access = await ask(...call(site, "GET"), ACCESS);
  if (given.json) return context.terminal.json({ ok: true, site_id: site.site_id, ...access });
  context.terminal.result(access.mode);
}

/** The commands about who may see a site. */
export const ACCESS_COMMANDS = { setPassword, off, status };
