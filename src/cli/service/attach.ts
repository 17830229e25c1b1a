/** The anonymous sites that this machine remembers become the account's. */
import { ask } from "./api.ts";
import type { Context } from "../command.ts";
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { green, text, yellow } from "../terminal/text.ts";
import { count } from "../terminal/units.ts";
import { ATTACHED, type Attached } from "./wire-account.ts";

const MOST_AT_ONCE = 100;

const REASONS: Readonly<Record<string, string>> = {
  not_found: "is gone",
  already_owned: "belongs to another account",
  already_yours: "was yours already",
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

/** What has an owner does not expire; what is gone is forgotten. */
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

/** Attaches as many at once as the server takes. Where one request fails, what the earlier ones attached stays so. */
export async function attachRemembered(context: Context, server: Server, credential: Credential): Promise<Attached> {
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

export function tellAttached({ terminal }: Context, before: readonly Link[], { attached, skipped }: Attached): void {
  const nameOf = (site_id: string) => before.find((link) => link.site_id === site_id)?.url ?? site_id;
  if (attached.length > 0) {
    terminal.say(text`  ${green("✓")} ${count(attached.length, "site")} deployed here before: yours now, for good`);
    for (const site_id of attached) terminal.say(text`    ${nameOf(site_id)}`);
  }
  for (const { site_id, reason } of skipped) {
    terminal.say(text`  ${yellow("!")} ${nameOf(site_id)} was skipped: it ${REASONS[reason] ?? reason}`);
  }
}
