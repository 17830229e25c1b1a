/** Domains of sites (BEYOND 10): their proof in the DNS, looked up when somebody asks and by the clock. The proof that a domain is an
 *  account's is a TXT record with a token that no other account has, or a CNAME to the site. */
import { createHmac } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { Refusal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import { UNIT_MS } from "../base/units.ts";
import { createGate } from "../run/gate.ts";
import type { SignedIn } from "../store/people/sessions.ts";
import type { AccountDomain, Domain } from "../store/domains.ts";
import type { Store } from "../store/index.ts";
import { refusals } from "../store/refusals.ts";

interface ProofRecord {
  type: "TXT" | "CNAME";
  name: string;
  value: string;
}

/** The records that were there; none: an empty list, and null. */
interface Records {
  txt: string[];
  cname: string | null;
}

interface ProofOf {
  domain: string;
  slug: string;
  account_id: string;
  secret: string;
  sites_domain: string;
}

const LOOK_MS = 5000;
const MOST_STRINGS = 100;
const LONGEST_STRING = 255;

/** Either of them proves it. */
function recordsOf({ domain, slug, account_id, secret, sites_domain }: ProofOf): ProofRecord[] {
  const token = createHmac("sha256", secret).update(`domain\0${account_id}\0${domain}`).digest("base64url");
  return [
    { type: "TXT", name: `_svc.${domain}`, value: `svc-verify=${token}` },
    { type: "CNAME", name: domain, value: `${slug}.${sites_domain.replace(/:\d+$/, "")}` },
  ];
}

const isProof = ({ txt, cname }: Records, records: readonly ProofRecord[]): boolean =>
  records.some(({ type, value }) => (type === "TXT" ? txt.some((one) => one === value) : cname === value));

/** The server said that there is no such name, or none of this type. */
const NOTHING_THERE: readonly string[] = ["ENOTFOUND", "ENODATA", "NXDOMAIN", "NODATA"];

/** Null: no server answered so that anything is known. */
async function asked<T>(ask: () => Promise<T[]>): Promise<T[] | null> {
  try {
    return await ask();
  } catch (error) {
    return NOTHING_THERE.includes((error as { code?: string }).code ?? "") ? [] : null;
  }
}

interface LookedUp {
  found: Records;
  /** False if one of the two was not answered: what is not there may be there. */
  whole: boolean;
}

/** Asks for both records at once. A new resolver each time: nothing of an earlier answer is kept. */
async function lookUp(domain: string, servers: readonly string[] | null): Promise<LookedUp> {
  const resolver = new Resolver({ timeout: LOOK_MS / 2, tries: 1 });
  if (servers !== null) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), LOOK_MS);
  try {
    const [texts, names] = await Promise.all([
      asked(() => resolver.resolveTxt(`_svc.${domain}`)),
      asked(() => resolver.resolveCname(domain)),
    ]);
    const strings = (texts ?? []).flat().slice(0, MOST_STRINGS);
    const txt = strings.map((text) => text.slice(0, LONGEST_STRING));
    const cname = names?.[0]?.toLowerCase().replace(/\.$/, "").slice(0, LONGEST_STRING) ?? null;
    return { found: { txt, cname }, whole: texts !== null && names !== null };
  } finally {
    clearTimeout(timer);
  }
}

interface DomainParts {
  config: { dns: readonly string[] | null; sites_domain: string };
  store: Pick<Store, "domains" | "names">;
  /** The key of the tokens. */
  secret: string;
}

/** The site, and the account that owns it. */
type SiteOfDomain = Pick<Site, "site_id" | "slug" | "owner_account_id">;

interface Proof {
  /** Null: no server answered, and nothing is known. */
  found: Records | null;
  proven: boolean;
}

export type DomainService = ReturnType<typeof createDomains>;

/** Look-ups at once: one that no server answers takes five seconds. */
const WIDTH = 16;
/** Domains of one turn of the clock. */
const A_TURN = 200;
const MOST_LATER = 20_000;
const ASK_AGAIN_MS = 10 * UNIT_MS.m;

const unproved = (domain: string, { found }: Proof): Refusal =>
  new Refusal(
    "domain_unproved",
    found === null
      ? `No DNS server told whether ${domain} is yours: try again in a minute.`
      : `Neither record of ${domain} is in the DNS yet: set one of them as it stands under "records", and verify again; a new record can take some minutes until it is seen.`,
    { domain, found: found ?? { txt: null, cname: null } },
  );

const busy = (): Refusal =>
  new Refusal(
    "unavailable",
    "Too many domains are being looked up: try again in a few seconds.",
    {},
    { "retry-after": "5" },
  );

/** Looks for the proof of a domain, whatever state it is in. */
function createLook({ config, store, secret }: DomainParts) {
  const gate = createGate({ width: WIDTH, ms: 20_000, most: [200, 20], late: busy });
  const recordsFor = (domain: string, { slug, owner_account_id }: SiteOfDomain): ProofRecord[] =>
    recordsOf({ domain, slug, account_id: owner_account_id ?? "", secret, sites_domain: config.sites_domain });

  /** A record for a former name of the site proves it too: those lead to no other one, ever. */
  async function look(domain: string, site: SiteOfDomain): Promise<Proof> {
    const from = [site.owner_account_id ?? site.site_id];
    const { found, whole } = await gate.run(() => lookUp(domain, config.dns), from);
    const slugs = [site.slug, ...(await store.names.former(site.site_id))];
    const proven = slugs.some((slug) => isProof(found, recordsFor(domain, { ...site, slug })));
    return { found: proven || whole ? found : null, proven };
  }
  return { recordsFor, look };
}

type LookFor = ReturnType<typeof createLook>["look"];

/** Looks again, by the clock. */
export function createRecheck(parts: DomainParts) {
  const { domains } = parts.store;
  const { look } = createLook(parts);
  let after = "";
  /** When one that no server answered for is asked about again. */
  const later = new Map<string, number>();

  /** Nothing is done if no server answered. True if the domain lapsed. */
  async function lookAgain(row: AccountDomain, now: number, grace: number): Promise<boolean> {
    const { domain, site_id } = row;
    if ((later.get(domain) ?? 0) > now) return false;
    later.delete(domain);
    const { found, proven } = await look(domain, row);
    if (found !== null) return (await domains.noteLook({ domain, site_id, found: proven, grace })).lapsed;
    if (later.size >= MOST_LATER) later.clear(); // those that were removed are among them
    later.set(domain, now + ASK_AGAIN_MS);
    return false;
  }

  /** Looks up some of those that nobody looked up for so long. Answers those that lapsed. */
  return async (now: number, { every, grace }: { every: number; grace: number }): Promise<AccountDomain[]> => {
    const due = await domains.due(new Date(now - every).toISOString(), after, A_TURN);
    after = due.length < A_TURN ? "" : due.at(-1)!.domain;
    const lapsed: AccountDomain[] = [];
    for (let at = 0; at < due.length; at += WIDTH) {
      const some = due.slice(at, at + WIDTH);
      const ends = await Promise.all(some.map((row) => lookAgain(row, now, grace)));
      lapsed.push(...some.filter((_, i) => ends[i]));
    }
    return lapsed;
  };
}

/** The site that has the name and whose proof is gone; null: nobody has it. Throws `domain_taken`. */
async function given(
  domain: string,
  site_id: string,
  domains: Store["domains"],
  look: LookFor,
): Promise<string | null> {
  const held = await domains.holder(domain);
  if (held === null || held.site.site_id === site_id) return null;
  const { found, proven } = await look(domain, held.site);
  if (proven || found === null) throw refusals.domainTaken(domain);
  return held.site.site_id;
}

export function createDomains(parts: DomainParts) {
  const { domains } = parts.store;
  const { recordsFor, look } = createLook(parts);

  /** Throws `domain_unproved`, or `domain_taken` while another site's proof stands. */
  async function verify(domain: string, site: SiteOfDomain, by: SignedIn): Promise<Domain> {
    const { site_id } = site;
    await domains.of(site_id, domain);
    const looked = await look(domain, site);
    if (!looked.proven) {
      if (looked.found !== null) await domains.noteLook({ domain, site_id, found: false, grace: Infinity });
      throw unproved(domain, looked);
    }
    const from = await given(domain, site_id, domains, look);
    return (await domains.prove({ site_id, domain, by, from })).domain;
  }

  return {
    recordsFor,
    verify,
    /** Active at once where its proof is there already. Throws `quota_exceeded`. */
    async add(domain: string, site: SiteOfDomain, by: SignedIn): Promise<{ domain: Domain; added: boolean }> {
      const made = await domains.add({ site_id: site.site_id, domain, by });
      if (made.domain.state === "active") return made;
      try {
        return { domain: await verify(domain, site, by), added: made.added };
      } catch (error) {
        if (!(error instanceof Refusal && WAITS.includes(error.code))) throw error;
        return { domain: await domains.of(site.site_id, domain), added: made.added };
      }
    },
  };
}

/** Refusals of a verification after which the domain waits. */
const WAITS: readonly string[] = ["domain_unproved", "domain_taken", "unavailable"];
