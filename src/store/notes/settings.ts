/** The settings of a site's comments, and who acts for its owner: a browser by a code that works once, an agent by its token. */
import { Refusal } from "../../base/errors.ts";
import type { CommentsMode, Site } from "../../base/types.ts";
import { UNIT_MS } from "../../base/units.ts";
import { auditRepeated } from "../audit.ts";
import type {
  AgentScope,
  AgentToken,
  CommentSettings,
  Maker,
  OpenOwnerCode,
  SettingsChange,
  SpentOwnerCode,
  StandingAccess,
  Webhook,
} from "../notes.ts";
import { type Backend, change, note, type Op, read, statement, steps, write } from "../operation.ts";
import { permission, type WriteBy } from "../permission.ts";
import { deliveryRows } from "./deliveries.ts";

interface SettingsRow {
  last_mode: Exclude<CommentsMode, "off">;
  passcode_hash: string | null;
  passcode_epoch: number;
  webhook: string | null;
  webhook_by: Maker;
}

const readSettings = statement<SettingsRow>(
  "select last_mode, passcode_hash, passcode_epoch, webhook, webhook_by from comment_settings where site_id = ?",
);

const NEVER_ON = {
  last_mode: null,
  passcode_hash: null,
  passcode_epoch: 0,
  webhook: null,
  webhook_by: "account",
} as const;

function* settingsOf({ site_id, comments_mode }: Pick<Site, "site_id" | "comments_mode">): Op<CommentSettings> {
  const row = (yield* readSettings.get(site_id)) ?? NEVER_ON;
  return { ...row, mode: comments_mode, webhook: row.webhook === null ? null : (JSON.parse(row.webhook) as Webhook) };
}

const writeSettings = statement(
  `insert into comment_settings (site_id, last_mode, passcode_hash, passcode_epoch, webhook, webhook_by, webhook_encrypted)
   values (?1, ?2, ?3, ?4, ?5, ?6, 1) on conflict (site_id) do update
   set last_mode = ?2, passcode_hash = ?3, passcode_epoch = ?4, webhook = ?5, webhook_by = ?6, webhook_encrypted = 1`,
);
const setMode = statement<Site>(
  "update sites set comments_mode = ?2, comments_changes = comments_changes + 1 where site_id = ?1 returning *",
);

const passcodeMissing = (): Refusal =>
  new Refusal("invalid_input", "Mode passcode needs a passcode: send one of at least 8 characters.", {
    field: "passcode",
  });

const hostOf = (webhook: Webhook | null): string => (webhook === null ? "none" : new URL(webhook.url).host);

/** The changes that the audit log tells of. No secret: of a webhook only its host is told. */
function changesOf(before: CommentSettings, after: CommentSettings): string[] {
  const passcode = after.passcode_epoch === before.passcode_epoch ? [] : ["passcode"];
  const mode = after.mode === before.mode ? [] : [`mode ${after.mode}`];
  const host = hostOf(after.webhook);
  return [...mode, ...passcode, ...(host === hostOf(before.webhook) ? [] : [`webhook ${host}`])];
}

/** A mode that cannot be entered leaves all as it was. */
function* configure(
  site_id: string,
  by: WriteBy,
  wanted: SettingsChange,
  now: number,
): Op<{ site: Site; settings: CommentSettings }> {
  const before = yield* settingsOf(yield* permission.settableSite({ site_id, by }, now));
  const { mode = before.mode, passcode_hash = before.passcode_hash, webhook = before.webhook } = wanted;
  if (mode === "passcode" && passcode_hash === null) throw passcodeMissing();
  const last_mode = mode === "off" ? (before.last_mode ?? "anonymous") : mode;
  // Setting a passcode, even the same one, ends all grants.
  const passcode_epoch = before.passcode_epoch + (wanted.passcode_hash === undefined ? 0 : 1);
  const webhook_by = wanted.webhook === undefined ? before.webhook_by : yield* permission.makerOf(by);
  const hook = webhook && JSON.stringify(webhook);
  yield* writeSettings.do(site_id, last_mode, passcode_hash, passcode_epoch, hook, webhook_by);
  if (wanted.webhook) {
    yield* deliveryRows.setAnew(site_id, wanted.customer ?? null);
    if (wanted.webhook.url !== before.webhook?.url) yield* deliveryRows.forgetHistory.do(site_id);
  }
  const site = (yield* setMode.get(site_id, mode))!;
  const settings = { mode, last_mode, passcode_hash, passcode_epoch, webhook, webhook_by };
  const reason = changesOf(before, settings).join(", ");
  const at = new Date(now).toISOString();
  if (reason !== "") {
    yield* auditRepeated({ at, ...permission.actorOf(by), action: "set-comments", site_id, reason });
  }
  return { site, settings };
}

const MOST_TOKENS = 100;

const insertCode = statement("insert into owner_codes (hash, site_id, expires_at, made_by) values (?, ?, ?, ?)");
const dropOldCodes = statement("delete from owner_codes where expires_at <= ?");
const isCode = statement<{ 1: 1 }>("select 1 from owner_codes where hash = ? and site_id = ? and expires_at > ?");
const spendCode = statement<Pick<SpentOwnerCode, "made_by">>(
  "delete from owner_codes where hash = ? and site_id = ? and expires_at > ? returning made_by",
);
const epochOf = statement<Pick<SpentOwnerCode, "owner_epoch">>("select owner_epoch from sites where site_id = ?");
const openCodes = statement<OpenOwnerCode>(
  "select made_by, expires_at from owner_codes where site_id = ? and expires_at > ? order by expires_at desc",
);

function* addOwnerCode(site_id: string, by: WriteBy, hash: string, expires_at: number, now: number): Op<void> {
  yield* permission.settableSite({ site_id, by }, now);
  yield* dropOldCodes.do(now);
  yield* insertCode.do(hash, site_id, expires_at, yield* permission.makerOf(by));
}

/** The epoch is read with the code: a cookie for a code that was there before a revocation is void after it. */
function* spend(site_id: string, hash: string, now: number): Op<SpentOwnerCode | null> {
  const code = yield* spendCode.get(hash, site_id, now);
  const site = yield* epochOf.get(site_id);
  return code && site && { ...code, ...site };
}

type NewAgentToken = Omit<AgentToken, "last_used_at" | "created_at" | "made_by"> & { hash: string };
type TokenRow = Omit<AgentToken, "scopes"> & { scopes: string };

const COLUMNS = "token_id, site_id, name, scopes, created_at, last_used_at, expires_at, made_by";
const insert = statement<TokenRow>(
  `insert into agent_tokens (hash, token_id, site_id, name, scopes, created_at, expires_at, made_by)
   values (?, ?, ?, ?, ?, ?, ?, ?) returning ${COLUMNS}`,
);
const forgetEnded = statement("delete from agent_tokens where site_id = ? and expires_at <= ?");
const ofSite = statement<TokenRow>(
  `select ${COLUMNS} from agent_tokens where site_id = ? and expires_at > ? order by created_at desc, token_id`,
);
const remove = statement("delete from agent_tokens where site_id = ? and token_id = ?");
const find = statement<TokenRow>(
  `select ${COLUMNS} from agent_tokens where hash = ? and expires_at > ?
     and exists (select 1 from sites where sites.site_id = agent_tokens.site_id)`,
);
const use = statement("update agent_tokens set last_used_at = ? where hash = ?");

const tokenOf = (row: TokenRow): AgentToken => ({ ...row, scopes: JSON.parse(row.scopes) as AgentScope[] });

function* addToken(by: WriteBy, token: NewAgentToken, now: number): Op<AgentToken> {
  const { hash, token_id, site_id, name, scopes, expires_at } = token;
  yield* permission.settableSite({ site_id, by }, now);
  yield* forgetEnded.do(site_id, now);
  if ((yield* ofSite.all(site_id, now)).length >= MOST_TOKENS) {
    throw new Refusal("invalid_input", `A site has at most ${MOST_TOKENS} agent tokens: revoke one first.`);
  }
  const created_at = new Date(now).toISOString();
  const values = [hash, token_id, site_id, name, JSON.stringify(scopes), created_at, expires_at] as const;
  return tokenOf((yield* insert.get(...values, yield* permission.makerOf(by)))!);
}

function* tokensOf(site_id: string, now: number): Op<AgentToken[]> {
  return (yield* ofSite.all(site_id, now)).map(tokenOf);
}

function* removeToken(site_id: string, by: WriteBy, token_id: string, now: number): Op<boolean> {
  yield* permission.settableSite({ site_id, by }, now);
  return (yield* remove.run(site_id, token_id)).changes > 0;
}

function* agentOf(hash: string, now: number): Op<AgentToken | null> {
  const row = yield* find.get(hash, now);
  return row && tokenOf(row);
}

/** `all` of a site, or what manage_tokens of deploys without an account made. */
type Ends = "all" | "givers";

const standing = (made: string, hook: string) => ({
  counts: statement<Omit<StandingAccess, "webhook">>(
    `select (select count(*) from agent_tokens where site_id = ?1 and expires_at > ?2 and ${made}) as agent_tokens,
       (select count(*) from owner_codes where site_id = ?1 and expires_at > ?2 and ${made}) as owner_codes`,
  ),
  webhook: statement<{ webhook: string | null }>(`select webhook from comment_settings where site_id = ? and ${hook}`),
  ends: [
    statement(`delete from agent_tokens where site_id = ? and ${made}`),
    statement(`delete from owner_codes where site_id = ? and ${made}`),
    statement(`update comment_settings set webhook = null where site_id = ? and ${hook}`),
  ],
});
const STANDING = { all: standing("true", "true"), givers: standing("made_by = 'giver'", "webhook_by = 'giver'") };
const dropOutbox = statement("delete from webhook_outbox where site_id = ?");
const nextEpoch = statement("update sites set owner_epoch = owner_epoch + 1 where site_id = ?");

function* standingAccess(site_id: string, which: Ends, now: number): Op<StandingAccess> {
  const { counts, webhook } = STANDING[which];
  const row = yield* webhook.get(site_id);
  const hook = row === null || row.webhook === null ? null : (JSON.parse(row.webhook) as Webhook);
  return { ...(yield* counts.get(site_id, now))!, webhook: hook && new URL(hook.url).host };
}

/** Ends it, and with it all cookies of owners, whoever got them: they last for an hour. Serving must hear of it. */
function* endAccess(site_id: string, which: Ends, now: number): Op<StandingAccess> {
  const found = yield* standingAccess(site_id, which, now);
  for (const end of STANDING[which].ends) yield* end.do(site_id);
  if (found.webhook !== null) yield* dropOutbox.do(site_id);
  yield* nextEpoch.do(site_id);
  return found;
}

/** Steps of a revocation, in its transaction (RELIABILITY A25). */
export const accessRows = { standing: standingAccess, end: endAccess };

/** Networks that a site's passcode was given from, the newest ones; and how long each is remembered. */
const NETWORKS_KEPT = 1000;
const NETWORK_KEPT_MS = 180 * UNIT_MS.d;
const seeNetwork = statement(
  `insert into passcode_networks (site_id, network_hash, seen_at) values (?, ?, ?)
   on conflict (site_id, network_hash) do update set seen_at = excluded.seen_at`,
);
const knownNetwork = statement(
  "select 1 from passcode_networks where site_id = ? and network_hash = ? and seen_at > ?",
);
const trimNetworks = statement(
  `delete from passcode_networks where site_id = ?1 and (seen_at <= ?2 or network_hash not in (
     select network_hash from passcode_networks where site_id = ?1 order by seen_at desc limit ${NETWORKS_KEPT}))`,
);

function* noteNetwork(site_id: string, network_hash: string, now: number): Op<void> {
  yield* seeNetwork.do(site_id, network_hash, now);
  yield* trimNetworks.do(site_id, now - NETWORK_KEPT_MS);
}

function* knowsNetwork(site_id: string, network_hash: string, now: number): Op<boolean> {
  return (yield* knownNetwork.get(site_id, network_hash, now - NETWORK_KEPT_MS)) !== null;
}

const noteAgentUse = (hash: string, at: string): Op<void> => use.do(at, hash);

export const SETTINGS = {
  settings: read((_, site: Pick<Site, "site_id" | "comments_mode">) => settingsOf(site)),
  /** Throws as any write of a site does. Serving hears of it. Answers the site and its settings as they are then. */
  configure: change(
    ({ now }, site_id: string, by: WriteBy, wanted: SettingsChange) => configure(site_id, by, wanted, now()),
    ({ site }) => [site.slug],
  ),
  addOwnerCode: write(({ now }, site_id: string, by: WriteBy, hash: string, expires_at: number) =>
    addOwnerCode(site_id, by, hash, expires_at, now()),
  ),
  /** Once for each code, in its time; else null. A wrong code takes no write lock: guessing keeps nobody from writing. */
  spendOwnerCode: steps(
    "write",
    async ({ db, now }: Backend, site_id: string, hash: string): Promise<SpentOwnerCode | null> =>
      (await db.read(() => isCode.get(hash, site_id, now()))) && (await db.write(() => spend(site_id, hash, now()))),
  ),
  /** Codes that nobody has used yet, the newest first. */
  ownerCodes: read(({ now }, site_id: string) => openCodes.all(site_id, now())),
  addToken: write(({ now }, by: WriteBy, token: NewAgentToken) => addToken(by, token, now())),
  /** Newest first. */
  tokens: read(({ now }, site_id: string) => tokensOf(site_id, now())),
  /** False if the site has none of this id. */
  removeToken: write(({ now }, site_id: string, by: WriteBy, token_id: string) =>
    removeToken(site_id, by, token_id, now()),
  ),
  /** Whether the site's passcode was given from there (RELIABILITY A26). */
  knowsNetwork: read(({ now }, site_id: string, network_hash: string) => knowsNetwork(site_id, network_hash, now())),
  noteNetwork: note(({ now }, site_id: string, network_hash: string) => noteNetwork(site_id, network_hash, now())),
  /** Null if it never was a token, has ended, or its site is gone. */
  agent: read(({ now }, hash: string) => agentOf(hash, now())),
  noteTokenUse: note(({ now }, hash: string) => noteAgentUse(hash, new Date(now()).toISOString())),
};
