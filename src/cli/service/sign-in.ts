/** The end of every way to sign in: the session is saved, and the sites deployed before become the account's. */
import { attachRemembered, tellAttached } from "./attach.ts";
import { sessionFile } from "../saved/config-dir.ts";
import type { Context } from "../command.ts";
import { asFailure, Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import { saveSession } from "../saved/state.ts";
import { green, text, yellow } from "../terminal/text.ts";

export interface Session {
  session_token: string;
  account_id: string;
  /** Where it is known. */
  email?: string;
}

function save({ env }: Context, { origin, base }: Server, { session_token, account_id }: Session): void {
  try {
    // Of most servers the origin is all there is to say.
    saveSession(env, { origin, ...(base !== origin && { server: base }), session_token, account_id });
  } catch (error) {
    const why = (error as Error).message;
    throw new Failure("not_saved", `The session could not be saved in ${sessionFile(env)}: ${why}`);
  }
}

/** Of many the newest: a program that deployed a folder again and again has left them. */
const MOST_TOLD = 5;

/** Whoever deployed a folder anew may not want the site that it had before: it is not attached unasked. */
function tellReplaced({ links, terminal }: Context, { origin }: Server): void {
  const replaced = links.read().replaced.filter((link) => link.origin === origin);
  for (const { url, site_id } of replaced.slice(0, MOST_TOLD)) {
    terminal.say(text`  ${yellow("!")} ${url} ends by itself: ${svc(`claim ${site_id}`)} keeps it`);
  }
}

/** The person is signed in even where attaching fails: the failure is told, with the command that tries again. */
async function attach(context: Context, server: Server, token: string) {
  const before = context.links.read().live;
  try {
    const attachment = await attachRemembered(context, server, { token, from: "the new session" });
    tellAttached(context, before, attachment);
    tellReplaced(context, server);
    return attachment;
  } catch (error) {
    const why = asFailure(error).message;
    context.terminal.insist(text`  ${yellow("!")} The sites deployed here before were not attached: ${why}`);
    context.terminal.insist(text`    Run ${svc("login")} again, or ${svc("claim <site_id>")} for one of them.`);
    return { attached: [], skipped: [] };
  }
}

export async function signIn(context: Context, server: Server, session: Session) {
  const { terminal, env } = context;
  save(context, server, session);
  terminal.say(
    text`  ${green("✓")} Signed in${session.email === undefined ? "" : ` as ${session.email}`} to ${server.origin}`,
  );
  const attachment = await attach(context, server, session.session_token);
  if (env["SVC_TOKEN"]) terminal.insist(text`  ${yellow("!")} SVC_TOKEN is set and goes before this session.`);
  terminal.say();
  return attachment;
}
