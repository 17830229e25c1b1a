/** The settings of a site's comments, on the API's host (COMMENTS 2 and ruling 17). */
import { isIP } from "node:net";
import { Refusal } from "../base/errors.ts";
import { hostKind } from "../html/host-kind.ts";
import { isTrustworthy, siteUrl } from "../http/hosts.ts";
import { isSigningKey } from "../base/tokens.ts";
import { callable } from "../http/public-address.ts";
import { hashPasscode } from "../http/passwords.ts";
import type { CommentSettings, SettingsChange, Webhook, WebhookEvent } from "../store/notes.ts";
import type { CommentsMode } from "../base/types.ts";
import { readMembers } from "./annotation.ts";
import type { OwnerCtx, OwnerHandler } from "./context.ts";
import { customerKey } from "./keys.ts";
import type { SettingsView } from "./types.ts";

const MODES: readonly CommentsMode[] = ["off", "anonymous", "passcode", "approved"];
const EVENTS: readonly WebhookEvent[] = [
  "thread.created",
  "reply.created",
  "thread.resolved",
  "thread.reopened",
  "comment.reported",
];
const LONGEST = { url: 2000, secret: 200 };
const SHORTEST_SECRET = 16;

const invalid = (field: string, why: string): Refusal => new Refusal("invalid_input", why, { field });

type Members = Readonly<Record<string, unknown>>;

function modeIn({ mode }: Members): CommentsMode {
  const found = MODES.find((one) => one === mode);
  if (found === undefined) throw invalid("mode", `The mode is one of ${MODES.join(", ")}.`);
  return found;
}

/** True if the host is an address on the internet or may be the name of one: each delivery checks the addresses of a name
 *  again. `allowed`: the operator's own networks, whose names only the operator knows. */
function mayCall(hostname: string, allowed: readonly string[] | null): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) === 0 ? allowed !== null || hostKind(hostname) === "public" : callable(allowed)(address);
}

function webhookUrl(sent: unknown, allowed: readonly string[] | null): string {
  const url = typeof sent === "string" && sent.length <= LONGEST.url ? URL.parse(sent) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw invalid("webhook", "The webhook's url must be an http or https address without a user.");
  }
  if (!mayCall(url.hostname, allowed)) {
    throw invalid("webhook", "The webhook's url must be an address on the internet, not of a private network.");
  }
  return url.href;
}

function webhookIn({ webhook }: Members, allowed: readonly string[] | null): Webhook | null {
  if (webhook === null) return null;
  if (typeof webhook !== "object" || Array.isArray(webhook))
    throw invalid("webhook", "The webhook must be an object, or null.");
  const { url, events, secret } = webhook as Members;
  const known = Array.isArray(events) && events.length > 0 && events.every((event) => EVENTS.includes(event));
  if (!known) throw invalid("webhook", `The webhook's events are some of ${EVENTS.join(", ")}.`);
  if (typeof secret !== "string" || secret.length < SHORTEST_SECRET || secret.length > LONGEST.secret) {
    throw invalid("webhook", `The webhook's secret has ${SHORTEST_SECRET} to ${LONGEST.secret} characters.`);
  }
  if (!isSigningKey(secret)) {
    throw invalid("webhook", "What follows whsec_ in the webhook's secret must be the Base64 of at least 12 bytes.");
  }
  return { url: webhookUrl(url, allowed), events: [...new Set(events as WebhookEvent[])], secret };
}

type SiteOf = Pick<OwnerCtx, "parts" | "site">;
type Setter = Pick<OwnerCtx, "parts" | "site" | "by" | "customer">;

async function changeIn({ parts, site, customer }: Setter, members: Members): Promise<SettingsChange> {
  const has = (name: string) => Object.hasOwn(members, name) && members[name] !== undefined;
  if (!["mode", "passcode", "webhook"].some(has)) {
    throw new Refusal("invalid_input", 'Send at least one of "mode", "passcode" and "webhook".');
  }
  const change: SettingsChange = {};
  if (has("mode")) change.mode = modeIn(members);
  if (has("webhook")) {
    const webhook = webhookIn(members, parts.config.webhooks_allow);
    change.webhook = webhook && { ...webhook, secret: parts.encrypted(webhook.secret, site.site_id) };
    change.customer = customerKey(parts.keys, customer);
  }
  if (!has("passcode")) return change;
  if (typeof members.passcode !== "string") throw invalid("passcode", 'The member "passcode" must be a string.');
  return { ...change, passcode_hash: await hashPasscode(members.passcode, site.site_id) };
}

/** The webhook without its secret, and how it goes with it. */
async function webhookView({ parts, site }: SiteOf, { url, events }: Webhook): Promise<SettingsView["webhook"]> {
  const { ended_at, ...state } = await parts.store.notes.webhookState(site.site_id);
  return { url, events, ...state, ...(ended_at !== null && { ended_at }) };
}

async function settingsJson(
  ctx: SiteOf,
  { mode, last_mode, passcode_hash, webhook }: CommentSettings,
): Promise<SettingsView> {
  const passcode_set = passcode_hash !== null;
  return { mode, last_mode, passcode_set, webhook: webhook && (await webhookView(ctx, webhook)) };
}

async function readSettings(ctx: OwnerCtx): Promise<SettingsView> {
  return settingsJson(ctx, await ctx.parts.store.notes.settings(ctx.site));
}

/** Browsers keep the visitors' cookies on https, and under http on localhost alone (ruling 9). */
const noCookies = {
  code: "no_visitor_cookies",
  message: "Comments are on, but visitors cannot post: browsers keep their identity only over https.",
  fix_recipe: "Serve the sites over https: give the server a certificate, or put it behind a proxy that has one.",
};

/** Changes all that `members`, the body of `PATCH settings`, asks for, or nothing. */
export async function applySettings(ctx: Setter, members: Members) {
  const { parts, site, by } = ctx;
  const change = await changeIn(ctx, members);
  const { settings } = await parts.store.notes.configure(site.site_id, by, change);
  const is_kept = settings.mode === "off" || isTrustworthy(siteUrl(parts.config, site.slug));
  return { ...(await settingsJson(ctx, settings)), ...(!is_kept && { warnings: [noCookies] }) };
}

async function listDeliveries({ parts, site }: OwnerCtx) {
  return { deliveries: await parts.store.notes.deliveries(site.site_id) };
}

/** Sends a letter again, for the page of a site's comments too. */
export const resendDelivery = ({ parts, site, by }: SiteOf & Pick<OwnerCtx, "by">, id: string) =>
  parts.store.notes.sendAgain({ site_id: site.site_id, by, id });

async function resend(ctx: OwnerCtx) {
  await readMembers(ctx.request);
  return resendDelivery(ctx, ctx.params.delivery!);
}

const changeSettings = async (ctx: OwnerCtx) => applySettings(ctx, await readMembers(ctx.request));

/** The rows of the API that this file answers for owners. */
export const OWNER_SETTINGS = {
  "GET /sites/:id/comments/settings": readSettings,
  "PATCH /sites/:id/comments/settings": changeSettings,
  "GET /sites/:id/comments/webhook/deliveries": listDeliveries,
  "POST /sites/:id/comments/webhook/deliveries/:delivery/again": resend,
} satisfies Readonly<Record<string, OwnerHandler>>;
