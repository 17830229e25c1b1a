/** Domains of sites and the certificates for them (BEYOND 10). A name waits for as many sites as add it; the first one that proves it has it. What proves it is looked up
 *  by src/domains; here stands what was found. */
import { Refusal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import { auditRepeated } from "./audit.ts";
import { type Bound, change, type Op, read, statement, write } from "./operation.ts";
import type { SignedIn } from "./people/sessions.ts";
import { permission } from "./permission.ts";
import { refusals } from "./refusals.ts";
import { siteRows } from "./sites.ts";

export interface Domain {
  /** A-labels, lower case. */
  domain: string;
  site_id: string;
  state: "pending" | "active" | "lapsed";
  is_primary: 0 | 1;
  hsts: 0 | 1;
  added_at: string;
  verified_at: string | null;
  /** When a server last said whether its proof is there. */
  checked_at: string | null;
  missing_since: string | null;
  tls_state: "pending" | "active" | "failed" | null;
  tls_expires_at: string | null;
  tls_error: string | null;
}

interface AskedFor {
  site_id: string;
  domain: string;
  by: SignedIn;
}

export interface DomainChange {
  primary?: boolean;
  hsts?: boolean;
}

export interface AccountDomain extends Domain {
  slug: string;
  owner_account_id: string;
}

/** The site that serving must show on a domain's host. */
export interface DomainHost {
  slug: string;
  hsts: 0 | 1;
}

const MOST_OF_SITE = 10;
const MOST_LISTED = 1000;

const COLUMNS = `domains.*, certificates.state as tls_state, certificates.expires_at as tls_expires_at, certificates.error as tls_error
  from domains left join certificates on certificates.name = domains.domain`;

const hostOf = statement<DomainHost>(
  `select sites.slug, domains.hsts from domains join sites on sites.site_id = domains.site_id
   where domains.domain = ? and domains.state = 'active'`,
);
const activeOf = statement<Pick<Domain, "domain" | "is_primary">>(
  "select domain, is_primary from domains where site_id = ? and state = 'active'",
);
const ofSite = statement<Domain>(`select ${COLUMNS} where site_id = ? order by added_at, domain`);
const ofAccount = statement<AccountDomain>(
  `select ${COLUMNS.replace(" from ", ", sites.slug, sites.owner_account_id from ")} join sites on sites.site_id = domains.site_id where sites.owner_account_id = ?
   order by domains.domain, domains.site_id limit ?`,
);
const countOfAccount = statement<{ count: number }>(
  "select count(*) as count from domains join sites on sites.site_id = domains.site_id where owner_account_id = ?",
);
const one = statement<Domain>(`select ${COLUMNS} where domains.domain = ? and domains.site_id = ?`);
const holder = statement<Domain>(`select ${COLUMNS} where domains.domain = ? and domains.state = 'active'`);
/** By name, from the one after another on: one that no server answers for does not keep others from their turn. */
const due = statement<AccountDomain>(
  `select ${COLUMNS.replace(" from ", ", sites.slug, sites.owner_account_id from ")} join sites on sites.site_id = domains.site_id
   where domains.state = 'active' and domains.checked_at <= ? and domains.domain > ? order by domains.domain limit ?`,
);

const insert = statement("insert into domains (domain, site_id, state, added_at) values (?, ?, 'pending', ?)");
const activate = statement(
  "update domains set state = 'active', verified_at = ?3, checked_at = ?3, missing_since = null where domain = ?1 and site_id = ?2",
);
const lapse = statement(
  "update domains set state = 'lapsed', is_primary = 0, hsts = 0, checked_at = ?3 where domain = ?1 and site_id = ?2",
);
const noteFound = statement(
  "update domains set checked_at = ?3, missing_since = null where domain = ?1 and site_id = ?2",
);
const noteMissing = statement(
  "update domains set checked_at = ?3, missing_since = coalesce(missing_since, ?3) where domain = ?1 and site_id = ?2",
);
const leaveSecond = statement("update domains set is_primary = 0 where site_id = ?");
const set = statement("update domains set is_primary = ?3, hsts = ?4 where domain = ?1 and site_id = ?2");
const remove = statement("delete from domains where domain = ? and site_id = ?");

const unknownDomain = (domain: string): Refusal =>
  new Refusal("not_found", `This site has no domain ${domain}: add it first.`);

const full = (): Refusal =>
  new Refusal("quota_exceeded", `A site has at most ${MOST_OF_SITE} domains: remove one that you no longer need.`, {
    limit: MOST_OF_SITE,
    actual: MOST_OF_SITE + 1,
    unit: "domains",
  });

const unproved = (domain: string): Refusal =>
  new Refusal("domain_unproved", `${domain} is not proved yet: set one of its records, and verify it.`, { domain });

const uncertified = (domain: string): Refusal =>
  new Refusal(
    "domain_unproved",
    `${domain} has no certificate of this server yet: browsers that were told to insist on https could not open it. Turn this on once its certificate is active.`,
    { domain },
  );

/** Sites that serving must resolve anew, and the names that it found them by. */
interface Shown {
  slugs: string[];
}

function* its(domain: string, site_ids: readonly string[]): Op<string[]> {
  const slugs: string[] = [domain];
  for (const site_id of site_ids) {
    const site = yield* siteRows.byId.get(site_id);
    if (site !== null) slugs.push(site.slug);
  }
  return slugs;
}

function* told(site_id: string, reason: string, now: number, by?: SignedIn): Op<void> {
  const actor = by === undefined ? { actor: "server" } : permission.actorOf(by);
  yield* auditRepeated({ at: new Date(now).toISOString(), ...actor, action: "set-domain", site_id, reason });
}

function* mustHave(domain: string, site_id: string): Op<Domain> {
  const found = yield* one.get(domain, site_id);
  if (found === null) throw unknownDomain(domain);
  return found;
}

function* add({ site_id, domain, by }: AskedFor, now: number): Op<{ domain: Domain; added: boolean }> {
  yield* permission.writableSite({ site_id, by }, now);
  const there = yield* one.get(domain, site_id);
  if (there !== null) return { domain: there, added: false };
  if ((yield* ofSite.all(site_id)).length >= MOST_OF_SITE) throw full();
  yield* insert.do(domain, site_id, new Date(now).toISOString());
  yield* told(site_id, `added ${domain}`, now, by);
  return { domain: yield* mustHave(domain, site_id), added: true };
}

interface Proved extends AskedFor {
  /** The site whose proof was looked up, and is gone: it loses the domain. Null: nobody else had it. */
  from: string | null;
}

/** The proof was found. Throws `domain_taken` if another site has it meanwhile. */
function* prove({ site_id, domain, by, from }: Proved, now: number): Op<{ domain: Domain } & Shown> {
  yield* permission.writableSite({ site_id, by }, now);
  const { state } = yield* mustHave(domain, site_id);
  const held = yield* holder.get(domain);
  const other = held === null || held.site_id === site_id ? null : held.site_id;
  if (other !== null && other !== from) throw refusals.domainTaken(domain);
  const at = new Date(now).toISOString();
  if (other !== null) {
    yield* lapse.do(domain, other, at);
    yield* told(other, `${domain} lapsed: another site proved it`, now);
  }
  if (state === "active") yield* noteFound.do(domain, site_id, at);
  else {
    yield* activate.do(domain, site_id, at);
    yield* told(site_id, `${domain} is active`, now, by);
  }
  const slugs = yield* its(domain, other === null ? [site_id] : [site_id, other]);
  return { domain: yield* mustHave(domain, site_id), slugs };
}

interface ProofLook {
  domain: string;
  site_id: string;
  found: boolean;
  /** Milliseconds that a proof may be missing. */
  grace: number;
}

/** A look-up that a server answered. True if the domain lapsed by it. */
function* noteLook({ domain, site_id, found, grace }: ProofLook, now: number): Op<{ lapsed: boolean } & Shown> {
  const row = yield* one.get(domain, site_id);
  const nothing = { lapsed: false, slugs: [] };
  if (row === null) return nothing;
  const at = new Date(now).toISOString();
  if (row.state !== "active") {
    yield* noteFound.do(domain, site_id, at);
    return nothing;
  }
  if (found) {
    yield* noteFound.do(domain, site_id, at);
    return nothing;
  }
  if (now - Date.parse(row.missing_since ?? at) < grace) {
    yield* noteMissing.do(domain, site_id, at);
    return nothing;
  }
  yield* lapse.do(domain, site_id, at);
  yield* told(site_id, `${domain} lapsed: its proof is missing since ${row.missing_since}`, now);
  return { lapsed: true, slugs: yield* its(domain, [site_id]) };
}

function refuseUnfit({ state, tls_state }: Domain, domain: string, { primary, hsts }: DomainChange): void {
  if ((primary === true || hsts === true) && state !== "active") throw unproved(domain);
  if (hsts === true && tls_state !== "active") throw uncertified(domain);
}

function* set_(asked: AskedFor, wanted: DomainChange, now: number): Op<{ domain: Domain } & Shown> {
  const { site_id, domain, by } = asked;
  yield* permission.writableSite({ site_id, by }, now);
  const row = yield* mustHave(domain, site_id);
  refuseUnfit(row, domain, wanted);
  const { primary = row.is_primary === 1, hsts = row.hsts === 1 } = wanted;
  if (primary === (row.is_primary === 1) && hsts === (row.hsts === 1)) return { domain: row, slugs: [] };
  if (primary && row.is_primary === 0) yield* leaveSecond.do(site_id);
  yield* set.do(domain, site_id, primary ? 1 : 0, hsts ? 1 : 0);
  const words = `${domain}: primary ${primary ? "on" : "off"}, hsts ${hsts ? "on" : "off"}`;
  yield* told(site_id, words, now, by);
  return { domain: yield* mustHave(domain, site_id), slugs: yield* its(domain, [site_id]) };
}

function* removeOne({ site_id, domain, by }: AskedFor, now: number): Op<Shown> {
  yield* permission.writableSite({ site_id, by }, now);
  yield* mustHave(domain, site_id);
  yield* remove.do(domain, site_id);
  yield* told(site_id, `removed ${domain}`, now, by);
  return { slugs: yield* its(domain, [site_id]) };
}

function* holderOf(domain: string): Op<{ domain: Domain; site: Site } | null> {
  const held = yield* holder.get(domain);
  const site = held && (yield* siteRows.byId.get(held.site_id));
  return held && site && { domain: held, site };
}

function* domainOf(site_id: string, domain: string): Op<Domain> {
  if ((yield* siteRows.byId.get(site_id)) === null) throw refusals.unknownSite();
  return yield* mustHave(domain, site_id);
}

/** For transactions that rename sites. */
export const domainRows = { activeOf };

export const DOMAINS = {
  /** The site whose live host this name is; null for every other name. */
  at: read((_, domain: string) => hostOf.get(domain)),
  /** The names at which the site is shown, beside its slug's host. */
  activeOf: read((_, site_id: string) => activeOf.all(site_id)),
  /** In the order in which they were added. */
  list: read((_, site_id: string) => ofSite.all(site_id)),
  /** At most 1,001, by name: the last one says that there are more. */
  ofAccount: read((_, account_id: string) => ofAccount.all(account_id, MOST_LISTED + 1)),
  countOfAccount: read((_, account_id: string) => countOfAccount.get(account_id)),
  /** Throws 404 if the site has it not. */
  of: read((_, site_id: string, domain: string) => domainOf(site_id, domain)),
  /** The site that has it, with its domain; null while nobody does. */
  holder: read((_, domain: string) => holderOf(domain)),
  /** Active ones that were last looked up before, by name. */
  due: read((_, since: string, after: string, most: number) => due.all(since, after, most)),
  /** Throws `quota_exceeded`. */
  add: change(
    ({ now }, asked: AskedFor) => add(asked, now()),
    () => [],
  ),
  prove: change(
    ({ now }, asked: Proved) => prove(asked, now()),
    ({ slugs }) => slugs,
  ),
  noteLook: change(
    ({ now }, look: ProofLook) => noteLook(look, now()),
    ({ slugs }) => slugs,
  ),
  /** Throws `domain_unproved` for one that is not active, or has no certificate. */
  set: change(
    ({ now }, asked: AskedFor, wanted: DomainChange) => set_(asked, wanted, now()),
    ({ slugs }) => slugs,
  ),
  remove: change(
    ({ now }, asked: AskedFor) => removeOne(asked, now()),
    ({ slugs }) => slugs,
    { frees: true },
  ),
};
export type Domains = Bound<typeof DOMAINS>;

// Certificates that the server orders itself: for which names, when next, why one failed; and what the challenges of orders under way are answered
// with, by every process.

interface CertificateRow {
  /** A domain, the base URL's host, or `*.<sites domain>`. */
  name: string;
  state: "pending" | "active" | "failed";
  expires_at: string | null;
  error: string | null;
  failures: number;
  /** Epoch milliseconds. */
  next_at: number;
}

const certificate = statement<CertificateRow>("select * from certificates where name = ?");
/** New ones first, then the one that waits longest. */
const dueDomains = statement<{ name: string }>(
  `select domains.domain as name from domains left join certificates on certificates.name = domains.domain
   where domains.state = 'active' and (certificates.name is null or certificates.next_at <= ?)
   order by coalesce(certificates.next_at, 0), domains.domain limit ?`,
);
const beginOrder = statement(
  `insert into certificates (name, state, next_at) values (?1, 'pending', ?2)
   on conflict (name) do update set state = case certificates.state when 'failed' then 'pending' else certificates.state end, next_at = ?2`,
);
const issued = statement(
  `insert into certificates (name, state, expires_at, error, failures, next_at) values (?1, 'active', ?2, null, 0, ?3)
   on conflict (name) do update set state = 'active', expires_at = ?2, error = null, failures = 0, next_at = ?3`,
);
// One that still counts is served until its end, whatever the next order came to.
const failed = statement(
  `update certificates set error = ?2, failures = ?3, next_at = ?4,
     state = case when expires_at > ?5 then 'active' else 'failed' end where name = ?1`,
);
const hasten = statement(
  "update certificates set next_at = ?1, failures = 0 where next_at > ?1 and substr(error, 1, length(?2)) = ?2",
);
const orphans = statement<{ name: string }>(
  `select name from certificates where next_at <= ?
     and not exists (select 1 from domains where domain = name and state = 'active') limit 100`,
);
const forget = statement("delete from certificates where name = ?");
const putChallenge = statement(
  `insert into acme_challenges (token, answer, until) values (?1, ?2, ?3)
   on conflict (token) do update set answer = ?2, until = ?3`,
);
const dropChallenge = statement("delete from acme_challenges where token = ? or until < ?");
const challenge = statement<{ answer: string }>("select answer from acme_challenges where token = ? and until > ?");
const failing = statement<{ count: number }>("select count(*) as count from certificates where error is not null");

const HOUR_MS = 3_600_000;
const LONGEST_WAIT_MS = 24 * HOUR_MS;
/** An order has ended by then, one way or another. */
const CHALLENGE_MS = HOUR_MS;

interface Failed {
  name: string;
  /** A sentence. */
  error: string;
  /** The pause after the first failure. */
  first_ms: number;
  /** The authority wants so long a pause at least. */
  retry_ms: number;
}

/** The first pause, doubled with each failure to a day. */
function* noteFailed({ name, error, first_ms, retry_ms }: Failed, now: number): Op<void> {
  const failures = ((yield* certificate.get(name))?.failures ?? 0) + 1;
  const wait = Math.min(LONGEST_WAIT_MS, first_ms * 2 ** Math.min(failures - 1, 10));
  const next_at = now + Math.max(wait, Math.min(retry_ms, 7 * LONGEST_WAIT_MS));
  yield* failed.do(name, error, failures, next_at, new Date(now).toISOString());
}

function* dueSince(name: string, now: number): Op<number | null> {
  const next_at = (yield* certificate.get(name))?.next_at ?? 0;
  return next_at <= now ? next_at : null;
}

function* challengeFor(token: string, now: number): Op<string | null> {
  return (yield* challenge.get(token, now))?.answer ?? null;
}

const activeOnes = statement<{ name: string; expires_at: string; next_at: number }>(
  "select name, expires_at, next_at from certificates where state = 'active' and expires_at is not null",
);

export const CERTIFICATES = {
  active: read(() => activeOnes.all()),
  /** Active domains that have none, or whose next order is due. */
  due: read(({ now }, most: number) => dueDomains.all(now(), most)),
  /** The same for a name that is no domain of a site: since when it is due (epoch milliseconds), null while it is not. */
  dueSince: read(({ now }, name: string) => dueSince(name, now())),
  begin: write(({ now }, name: string) => beginOrder.do(name, now())),
  noteIssued: write((_, name: string, expires_at: string, next_at: number) => issued.do(name, expires_at, next_at)),
  noteFailed: write(({ now }, wanted: Failed) => noteFailed(wanted, now())),
  /** Those whose last order failed with a sentence that begins so are due now, as if nothing had failed. */
  hasten: write(({ now }, why: string) => hasten.do(now(), why)),
  /** Names that no site has any more, and whose certificate would be renewed by now. */
  orphans: read(({ now }) => orphans.all(now())),
  forget: write((_, name: string) => forget.do(name), { frees: true }),
  putChallenge: write(({ now }, token: string, answer: string) => putChallenge.do(token, answer, now() + CHALLENGE_MS)),
  dropChallenge: write(({ now }, token: string) => dropChallenge.do(token, now())),
  /** Null for a token of no order under way. */
  challenge: read(({ now }, token: string) => challengeFor(token, now())),
  failing: read(() => failing.get()),
};
