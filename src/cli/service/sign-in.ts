/** The end of every way to sign in: saves the session, and makes the anonymous sites that this machine remembers the
 *  account's. */
import type { Context } from "../command.ts";
import { asFailure, Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";
import { sessionFile } from "../saved/shared-file.ts";
import { type Credential, saveSession } from "../saved/state.ts";
import { green, text, yellow } from "../terminal/text.ts";
import { count } from "../terminal/units.ts";
import { ask } from "./api.ts";
import { endOf } from "./end-of-site.ts";
import { ATTACHED } from "./wire.ts";
import type { Infer } from "../../api/shapes/builder.ts";

export interface Session {
  session_token: string;
  account_id: string;
  /** Left out if it is not known. */
  email?: string;
}

function save({ env }: Context, { origin, base }: Server, { session_token, account_id }: Session): void {
  try {
    // For most servers the origin says it all.
    saveSession(env, { origin, ...(base !== origin && { server: base }), session_token, account_id });
  } catch (error) {
    const why = (error as Error).message;
    throw new Failure("not_saved", `The session could not be saved in ${sessionFile(env)}: ${why}`);
  }
}

/** Only the newest are named: a program that deployed a folder again and again has left many. */
const MOST_TOLD = 5;

/** Names the sites that a later deploy of their folder replaced, and that still end. The person may not want them, so they
 *  are not attached. */
async function tellReplaced({ links, terminal }: Context, server: Server): Promise<void> {
  const replaced = links.read().replaced.filter(({ origin }) => origin === server.origin);
  const newest = replaced.slice(0, MOST_TOLD);
  const ends = await Promise.all(newest.map((link) => endOf(server, link)));
  for (const [i, { url, site_id }] of newest.entries()) {
    if (typeof ends[i] !== "number") continue;
    terminal.say(text`  ${yellow("!")} ${url} ends by itself: ${svc(`claim ${site_id}`)} keeps it`);
  }
}

/** Attaches the sites. If that fails the person is signed in all the same, and reads which command tries again. */
async function attach(context: Context, server: Server, token: string) {
  const before = context.links.read().live;
  try {
    const attachment = await attachRemembered(context, server, { token, from: "the new session" });
    tellAttached(context, before, attachment);
    await tellReplaced(context, server);
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

const MOST_AT_ONCE = 100;

const REASONS: Readonly<Record<string, string>> = {
  not_found: "is gone",
  already_owned: "belongs to another account",
  invalid_token: "does not take the manage_token that is saved here",
  invalid_input: "is not a site the server can read",
};

const isAnonymousOf = (origin: string) => (link: Link) =>
  link.origin === origin && link.expires_at !== null && link.manage_token !== null;

/** Links of the same site in several folders count once. */
function rememberedSites({ links }: Context, origin: string): Pick<Link, "site_id" | "manage_token">[] {
  const sites = new Map(
    links
      .read()
      .live.filter(isAnonymousOf(origin))
      .map(({ site_id, manage_token }) => [site_id, { site_id, manage_token }]),
  );
  return [...sites.values()];
}

/** Updates the links: a site with an owner does not expire, one that is gone is forgotten. */
function updateLinks({ links }: Context, origin: string, { attached, skipped }: Attached): void {
  const gone = new Set(skipped.filter(({ reason }) => reason === "not_found").map(({ site_id }) => site_id));
  const yours = skipped.filter(({ reason }) => reason === "already_yours").map(({ site_id }) => site_id);
  const owned = new Set([...attached, ...yours]);
  links.edit((link) => {
    if (link.origin !== origin) return link;
    if (gone.has(link.site_id)) return null;
    return owned.has(link.site_id) ? { ...link, expires_at: null, claim_token: null } : link;
  });
}

/** Attaches as many sites at once as the server takes. If a request fails, what earlier ones attached stays attached. */
async function attachRemembered(context: Context, server: Server, credential: Credential): Promise<Attached> {
  const sites = rememberedSites(context, server.origin);
  const done: Attached = { attached: [], skipped: [] };
  try {
    for (let at = 0; at < sites.length; at += MOST_AT_ONCE) {
      const slice = sites.slice(at, at + MOST_AT_ONCE);
      const path = "/account/bulk-attach";
      const call = { method: "POST", path, credential, json: { sites: slice }, repeatable: true } as const;
      const { attached, skipped } = await ask(server, call, ATTACHED);
      done.attached.push(...attached);
      done.skipped.push(...skipped);
    }
  } finally {
    if (done.attached.length + done.skipped.length > 0) updateLinks(context, server.origin, done);
  }
  return done;
}

function tellAttached({ terminal }: Context, before: readonly Link[], { attached, skipped }: Attached): void {
  const nameOf = (site_id: string) => before.find((link) => link.site_id === site_id)?.url ?? site_id;
  if (attached.length > 0) {
    terminal.say(text`  ${green("✓")} ${count(attached.length, "site")} deployed here before: yours now, for good`);
    for (const site_id of attached) terminal.say(text`    ${nameOf(site_id)}`);
  }
  for (const { site_id, reason } of skipped) {
    if (reason === "already_yours") {
      terminal.say(text`  ${green("✓")} ${nameOf(site_id)} is yours already`);
      continue;
    }
    terminal.say(text`  ${yellow("!")} ${nameOf(site_id)} was skipped: it ${REASONS[reason] ?? reason}`);
  }
}

type Attached = Infer<typeof ATTACHED>;
